//! The names of this language for names of other languages.

/// Functions and values of CUDA C++, CuTe, Triton and Rust, with the syntax of this language for them.
#[rustfmt::skip]
const ELSEWHERE: &[(&[&str], &str)] = &[
    (&["thread_idx", "thread_id", "tid"], "`thread()`"),
    (&["lane_id", "laneid", "lane_idx", "canonical_lane_idx"], "`lane()`"),
    (&["warp_id", "warpid", "warp_idx", "canonical_warp_idx", "canonical_warp_idx_sync"], "`warp()`"),
    (&["warp_group_idx", "canonical_warp_group_idx"], "`warpgroup()`"),
    (&["program_id"], "`block_idx()` is a tuple: `block_idx().0` is `program_id(0)`"),
    (&["num_programs"], "`grid_dim()` is a tuple: `grid_dim().0` is `num_programs(0)`"),
    (&["threadIdx"], "`thread()` is the number of the thread in its CTA, over x, y and z"),
    (&["blockIdx"], "`block_idx()` is a tuple: `block_idx().0` is x"),
    (&["gridDim"], "`grid_dim()` is a tuple: `grid_dim().0` is x"),
    (&["blockDim", "block_dim", "num_threads"], "the threads of a CTA are the constant in `#[kernel(threads = …)]`"),
    (&["warpSize"], "a warp has 32 threads"),
    (&["__syncthreads", "syncthreads", "barrier_sync"], "`sync_threads()`"),
    (&["__syncwarp", "syncwarp"], "`sync_warp()`"),
    (&["block_rank_in_cluster", "cluster_rank"], "`cluster_ctarank()`"),
    (&["elect_one_sync", "elect_sync", "elect_one"], "`elect()`"),
    (&["warpgroup_arrive"], "`wgmma_fence()`"),
    (&["warpgroup_commit_batch"], "`wgmma_commit()`"),
    (&["warpgroup_wait"], "`wgmma_wait(0)`"),
    (&["warpgroup_reg_alloc"], "`setmaxnreg_inc(240)`"),
    (&["warpgroup_reg_dealloc"], "`setmaxnreg_dec(40)`"),
    (&["cp_async_fence"], "`cp_async_commit()`"),
    (&["tma_store_arrive"], "`tma_commit()`"),
    (&["tma_store_fence", "tma_store_arrive_fence"], "`fence_proxy_async()`"),
    (&["tma_store_wait"], "`tma_wait_read(0)`"),
    (&["ClusterBarrier", "ClusterTransactionBarrier", "mbarrier_init", "mbarrier"], "`mbarriers(stages, arrivals)` are barriers that are initialised"),
    (&["map_shared_rank", "mapa", "map_dsmem_ptr", "set_block_rank"], "`peer(x, cta)` is the tensor x of another CTA of the cluster"),
    (&["cluster_sync", "cluster_arrive", "cluster_wait"], "`sync_cluster()`"),
    (&["__threadfence", "__threadfence_block", "__threadfence_system"], "`ptx!(\"fence.acq_rel.gpu\")`"),
    (&["__shfl_sync", "__shfl", "shfl", "shfl_sync"], "`shfl_idx(x, lane)`"),
    (&["__shfl_xor_sync", "__shfl_xor", "shfl_xor", "shfl_xor_sync"], "`shfl_bfly(x, mask)`"),
    (&["__shfl_up_sync", "shfl_up_sync"], "`shfl_up(x, delta)`"),
    (&["__shfl_down_sync", "shfl_down_sync"], "`shfl_down(x, delta)`"),
    (&["__ballot_sync", "ballot_sync", "ballot"], "`vote_ballot(condition)`"),
    (&["__any_sync", "any_sync"], "`vote_any(condition)`"),
    (&["__all_sync", "all_sync"], "`vote_all(condition)`"),
    (&["__popc", "__popcll"], "`popc(x)`"),
    (&["__clz", "__clzll"], "`clz(x)`"),
    (&["__brev", "__brevll"], "`brev(x)`"),
    (&["__umulhi", "__mulhi", "mulhi"], "`mul_hi(x, y)`"),
    (&["atomicAdd"], "`atomic_add(x, coordinate, value)`"),
    (&["atomicMin"], "`atomic_min(x, coordinate, value)`"),
    (&["atomicMax"], "`atomic_max(x, coordinate, value)`"),
    (&["atomicCAS"], "`atomic_cas(x, coordinate, expected, value)`"),
    (&["atomicExch"], "`atomic_exch(x, coordinate, value)`"),
    (&["expf", "__expf", "logf", "sinf", "cosf", "sqrtf", "rsqrtf", "tanhf", "fmaxf", "fminf", "fabsf"], "functions have no `f` behind their names: `exp`, `max`, `abs`; `exp_fast` is as CUDA's `__expf`"),
    (&["__ldg"], "`copy(source, fragment)` reads tensors, with a cache hint as third argument"),
    (&["make_tensor", "make_tensor_like", "make_fragment_like"], "`fragment::<T>(layout)` makes registers, `smem::<T>(layout)` shared memory, and parameters are tensors already"),
    (&["make_layout", "Layout"], "layouts are written in `layout!((4,8):(8,1))`, with shape and strides"),
    (&["make_shape", "make_stride", "make_coord"], "tuples are written `(4, 8)`"),
    (&["Layout_K_SW128_Atom", "Layout_MN_SW128_Atom", "K_SW128", "make_smem_layout_atom"], "`smem_atom::<bf16>(K, SW128)` is the atom"),
    (&["Layout_K_SW64_Atom", "Layout_MN_SW64_Atom", "K_SW64"], "`smem_atom::<bf16>(K, SW64)` is the atom"),
    (&["Layout_K_SW32_Atom", "Layout_MN_SW32_Atom", "K_SW32"], "`smem_atom::<bf16>(K, SW32)` is the atom"),
    (&["Layout_K_INTER_Atom", "Layout_MN_INTER_Atom", "K_INTER"], "`smem_atom::<bf16>(K, INTER)` is the atom"),
    (&["clear"], "`fill(fragment, 0.0)`"),
    (&["zeros", "zeros_like"], "`fragment::<f32>(layout!((64,64)))` makes registers, and `fill(fragment, 0.0)` fills them"),
    (&["load"], "`x[(i, j)]` is an element, in place of a mask `if i < extent(x, 0) { x[i] } else { 0.0 }`, and `copy_or(tile, fragment, 0.0)` reads a tile"),
    (&["store"], "`x[(i, j)] = value` writes an element, under `if` in place of a mask, and `copy_inside(fragment, tile)` a tile"),
    (&["arange"], "`thread()` counts the threads, and `for i in 0..n` the elements of each"),
    (&["dot"], "`wgmma(acc, a, b, accumulate)` and `mma` multiply, and `TiledMma` of `cute_kernels::lib` has `gemm`"),
    (&["cdiv", "div_ceil"], "`ceil_div(a, b)`"),
    (&["static_cast", "reinterpret_cast"], "numbers are converted by `x as f32`, and fragments by `convert::<bf16>(fragment)`"),
    (&["where", "where_"], "`select(condition, x, y)`"),
    (&["powr"], "`pow(x, y)`"),
    (&["isnan", "isinf", "isfinite"], "`is_nan(x)`, `is_infinite(x)` and `is_finite(x)`"),
    (&["__float_as_uint", "__float_as_int", "__half_as_ushort"], "`to_bits(x)`"),
    (&["__uint_as_float", "__int_as_float", "__ushort_as_half"], "`f32::from_bits(x)`"),
    (&["ln"], "`log(x)`"),
    (&["print_tensor"], "`println!(\"{}\", x[(i, j)])`"),
    (&["shape"], "`extent(x, 0)` is that of a mode"),
    (&["gemm"], "`TiledMma` of `cute_kernels::lib` has `gemm`, and `wgmma(acc, a, b, accumulate)` is one instruction"),
    (&["partition_S", "partition_D", "partition_fragment_S"], "`TiledCopy` of `cute_kernels::lib` partitions tensors"),
    (&["range", "range_constexpr", "static_range"], "`0..4` is the range from 0 to 3"),
    (&["enumerate", "zip", "chain", "fold", "collect", "filter", "chunks", "windows", "for_each"], "there are no chains of iterators: `for i in 0..n` with a `let mut` variable computes the same"),
    (&["reshape", "view"], "`with_shape(x, (8, 4))` has the same elements in another shape, and `composition(x, layout)` in another order"),
    (&["trans", "permute"], "`transpose(x)` exchanges two modes, and `select(x, 2, 0, 1)` orders more"),
    (&["arrive_and_expect_tx", "mbarrier_arrive_expect_tx", "mbarrier_expect_tx"], "`expect_tx(barrier, bytes)` arrives, too"),
    (&["mbarrier_wait", "try_wait"], "`wait(barrier, parity)`"),
    (&["mbarrier_arrive", "arrive_barrier"], "`arrive(barrier)`"),
    (&["partition_A", "partition_B", "partition_C"], "`TiledMma` of `cute_kernels::lib` has `partition_a`, `partition_b` and `partition_c`"),
    (&["this_grid", "grid_group"], "no barrier waits for the whole grid: launch two kernels, one after the other, or use `sync_cluster()`"),
    (&["copy_if"], "`copy_or(tile, fragment, 0.0)` loads what is inside of the tensor, and `copy_inside(fragment, tile)` stores it"),
    (&["swap"], "`let old = a; a = b; b = old;` exchanges two numbers"),
    (&["const_expr", "constexpr"], "a condition that is known at expansion chooses then, without a mark: `if FACTOR != 1 { … }`"),
    (&["size_of", "sizeof", "size_of_val"], "`bits::<T>() / 8` is the number of bytes of an element"),
    (&["rev"], "`for i in 0..n` counts up, and `n - 1 - i` down"),
    (&["argmax"], "the index of the largest element is `reduce(select(x == m, map(x, |_, (_, j)| j), u32::MAX), 1, min)` with `m = reduce(x, 1, max)`"),
    (&["argmin"], "the index of the smallest element is `reduce(select(x == m, map(x, |_, (_, j)| j), u32::MAX), 1, min)` with `m = reduce(x, 1, min)`"),
    (&["step_by"], "`for i in 0..ceil_div(n, 4)` and `4 * i` go by 4"),
    (&["iter", "iter_mut", "into_iter"], "`for x in array` runs over an array, and `for x in &mut array` over references to its elements"),
    (&["len", "numel"], "`size(x)` is the number of elements, and `extent(x, 0)` that of a mode"),
    (&["unwrap", "expect", "unwrap_or", "unwrap_or_else", "unwrap_or_default"], "`let Some(x) = … else { … };`"),
    (&["is_some", "is_none"], "`match x { Some(_) => true, None => false }`"),
    (&["printf"], "`println!(\"{}\", x)`"),
    (&["Int", "C"], "integers are written as digits: `8`"),
    (&["im2col"], "tensor maps are tiled here, and `tma_load` from a coordinate below 0 gives the zeros around a tensor that a convolution needs"),
];

/// Functions whose names are also common names of variables.
#[rustfmt::skip]
const FUNCTIONS: &[(&[&str], &str)] = &[
    (&["zero", "one", "zeroed", "default"], "a number is written as it is, `0.0` or `1`, and is of the type that its uses tell"),
    (&["astype", "to"], "numbers are converted by `x as f32`, and fragments by `convert::<f32>(fragment)`"),
    (&["T"], "`transpose(x)` exchanges two modes"),
];

/// Types of CUDA C++, CuTe, Triton and PyTorch, and their names here.
#[rustfmt::skip]
const TYPES: &[(&[&str], &str)] = &[
    (&["half", "half_t", "float16", "fp16", "__half", "Float16", "Half"], "f16"),
    (&["bfloat16", "bfloat16_t", "nv_bfloat16", "__nv_bfloat16", "BFloat16"], "bf16"),
    (&["float", "float32", "fp32", "Float32"], "f32"),
    (&["double", "float64", "fp64", "Float64"], "f64"),
    (&["tfloat32_t", "TFloat32"], "tf32"),
    (&["float8_e4m3", "float_e4m3_t", "float8e4nv", "Float8E4M3FN", "__nv_fp8_e4m3"], "e4m3"),
    (&["float8_e5m2", "float_e5m2_t", "float8e5", "Float8E5M2", "__nv_fp8_e5m2"], "e5m2"),
    (&["float_e2m1_t", "Float4E2M1FN", "__nv_fp4_e2m1"], "e2m1"),
    (&["int4_t", "int4b_t", "Int4"], "i4"),
    (&["uint4_t", "uint4b_t"], "u4"),
    (&["int", "int32", "int32_t", "Int32"], "i32"),
    (&["uint", "uint32", "uint32_t", "unsigned", "Uint32"], "u32"),
    (&["int64", "int64_t", "long", "Int64"], "i64"),
    (&["uint64", "uint64_t", "Uint64"], "u64"),
    (&["int16", "int16_t", "short", "Int16"], "i16"),
    (&["uint16", "uint16_t", "Uint16"], "u16"),
    (&["int8", "int8_t", "Int8"], "i8"),
    (&["uint8", "uint8_t", "uchar", "Uint8"], "u8"),
];

/// Rust types that this language does not have, with their replacements.
#[rustfmt::skip]
const ABSENT: &[(&[&str], &str)] = &[
    (&["Arc", "BTreeMap", "Box", "HashMap", "HashSet", "Rc", "String", "Vec", "VecDeque"], "kernels have no heap. An array, a fragment or a tensor in shared memory has a known size"),
    (&["Result"], "an error is an `Option`, or ends the kernel by `assert!`"),
    (&["str"], "texts are known when a kernel is expanded, and `print!` shows them"),
    (&["char"], "a character is a number, `u8` or `u32`"),
    (&["float2", "float4", "half2", "int4", "uint4", "double2"], "elements are numbers, `Global<f32, 1>`, and copies of fragments move vectors of up to 16 bytes"),
    (&["u128", "i128"], "the widest integers have 64 bits, and `mul_hi` is the upper half of a product"),
];

/// The syntax of this language for a function of CUDA C++, CuTe, Triton or Rust.
pub(crate) fn function_elsewhere(name: &str) -> Option<String> {
    elsewhere(name).or_else(|| found(FUNCTIONS, name))
}

/// The syntax of this language for a name of CUDA C++, CuTe, Triton or Rust.
pub(crate) fn elsewhere(name: &str) -> Option<String> {
    if let Some(here) = type_elsewhere(name) {
        return Some(format!(
            ": the type is `{here}`; numbers are converted by `x as {here}`, and fragments by `convert::<{here}>(fragment)`"
        ));
    }
    found(ELSEWHERE, name)
}

fn found(rows: &[(&[&str], &str)], name: &str) -> Option<String> {
    let is_named = |names: &&str| *names == name || *names == "im2col" && name.contains(names);
    let (_, here) = rows.iter().find(|(names, _)| names.iter().any(is_named))?;
    let is_code = here.starts_with('`') && here.matches('`').count() == 2 && here.ends_with('`');
    Some(match is_code {
        true => format!(": write {here}"),
        false => format!(": {here}"),
    })
}

/// The name here of a type of CUDA C++, CuTe, Triton or PyTorch.
pub(crate) fn type_elsewhere(name: &str) -> Option<&'static str> {
    let row = TYPES.iter().find(|(names, _)| names.contains(&name));
    row.map(|(_, here)| *here)
}

/// The replacement of a type of another language, or of a Rust type that this language does not have.
pub(crate) fn type_hint(name: &str) -> Option<String> {
    if let Some(here) = type_elsewhere(name) {
        return Some(format!(": write `{here}`"));
    }
    let (_, here) = ABSENT.iter().find(|(names, _)| names.contains(&name))?;
    Some(format!(": {here}"))
}
