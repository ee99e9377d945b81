//! Suggestions of names close to one that does not exist.

/// `": did you mean …?"`, or nothing.
pub(crate) fn hint<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> String {
    // Up to a third of the letters may be wrong: enough for a mistyped name, too few for another word.
    let limit = name.chars().count().div_ceil(3);
    let mut found: Vec<(usize, &str)> = candidates
        .map(|other| (distance(name, other), other))
        .filter(|(distance, _)| *distance <= limit)
        .collect();
    found.sort_unstable();
    found.dedup();
    let names: Vec<String> = found
        .iter()
        .take(3)
        .map(|(_, name)| format!("`{name}`"))
        .collect();
    if names.is_empty() {
        String::new()
    } else {
        format!(": did you mean {}?", names.join(" or "))
    }
}

/// Names of CUDA C++, CuTe and Triton, and what is written here instead.
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
    (&["blockDim"], "the threads of a CTA are the constant in `#[kernel(threads = …)]`"),
    (&["warpSize"], "a warp has 32 threads"),
    (&["__syncthreads", "syncthreads", "barrier_sync"], "`sync_threads()`"),
    (&["__syncwarp", "syncwarp"], "`ptx!(\"bar.warp.sync\", 0xffffffff)`"),
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
    (&["make_layout"], "layouts are written in `layout!((4,8):(8,1))`"),
    (&["make_shape", "make_stride", "make_coord"], "tuples are written `(4, 8)`"),
    (&["clear"], "`fill(fragment, 0.0)`"),
    (&["unwrap", "expect", "unwrap_or", "unwrap_or_else", "unwrap_or_default"], "`let Some(x) = … else { … };`"),
    (&["is_some", "is_none"], "`match x { Some(_) => true, None => false }`"),
    (&["iter", "iter_mut", "into_iter"], "`for x in array` runs over an array, and `for x in &mut array` over references to its elements"),
    (&["enumerate", "zip", "chain", "filter", "fold", "collect"], "a `for` loop over a range or an array computes its indices itself"),
    (&["zeros", "zeros_like"], "`fragment::<f32>(layout!((64,64)))` makes registers, and `fill(fragment, 0.0)` fills them"),
    (&["load"], "`copy(source, fragment)` reads a tensor, and `x[(i, j)]` is one element"),
    (&["store"], "`copy(fragment, target)` writes a tensor, and `x[(i, j)] = value` one element"),
    (&["arange"], "`thread()` counts the threads, and `for i in 0..n` the elements of each"),
    (&["dot"], "`wgmma(acc, a, b, accumulate)` and `mma` multiply, and `TiledMma` of `cute_kernels::lib` has `gemm`"),
    (&["cdiv", "div_ceil"], "`ceil_div(a, b)`"),
    (&["float", "half", "bfloat16", "static_cast"], "numbers are converted by `x as f32`, and fragments by `convert::<bf16>(fragment)`"),
    (&["select", "where"], "`if condition { a } else { b }` is a value"),
    (&["print_tensor"], "`println!(\"{}\", x[(i, j)])`"),
    (&["shape"], "`extent(x, 0)` is that of a mode"),
    (&["gemm"], "`TiledMma` of `cute_kernels::lib` has `gemm`, and `wgmma(acc, a, b, accumulate)` is one instruction"),
    (&["partition_S", "partition_D", "partition_fragment_S"], "`TiledCopy` of `cute_kernels::lib` partitions tensors"),
    (&["rev"], "`for i in 0..n` counts up, and `n - 1 - i` down"),
    (&["step_by"], "`for i in 0..ceil_div(n, 4)` and `4 * i` go by 4"),
    (&["iter", "into_iter", "enumerate", "zip"], "`for x in array` takes the elements of an array, and `for i in 0..n` counts"),
    (&["len"], "`size(x)` is the number of elements, and `extent(x, 0)` that of a mode"),
    (&["unwrap", "expect"], "`if let Some(x) = option { … }` takes the value of an `Option`"),
    (&["printf"], "`println!(\"{}\", x)`"),
    (&["Int", "C"], "integers are written as digits: `8`"),
    (&["im2col"], "tensor maps are tiled here, and `tma_load` from a coordinate below 0 gives the zeros around a tensor that a convolution needs"),
];

/// What is written here for a name of CUDA C++ or CuTe.
pub(crate) fn elsewhere(name: &str) -> Option<String> {
    let is_named = |names: &&str| *names == name || *names == "im2col" && name.contains(names);
    let (_, here) = ELSEWHERE
        .iter()
        .find(|(names, _)| names.iter().any(is_named))?;
    let is_code = here.starts_with('`') && here.matches('`').count() == 2 && here.ends_with('`');
    Some(match is_code {
        true => format!(": write {here}"),
        false => format!(": {here}"),
    })
}

/// Types of Rust, and what is written here instead.
#[rustfmt::skip]
const TYPES: &[(&[&str], &str)] = &[
    (&["Arc", "BTreeMap", "Box", "HashMap", "HashSet", "Rc", "String", "Vec", "VecDeque"], "kernels have no heap. An array, a fragment or a tensor in shared memory has a known size"),
    (&["Result"], "an error is an `Option`, or ends the kernel by `assert!`"),
    (&["str"], "texts are known when a kernel is expanded, and `print!` shows them"),
    (&["char"], "a character is a number, `u8` or `u32`"),
    (&["u128", "i128"], "the widest integers have 64 bits, and `mul_hi` is the upper half of a product"),
];

/// What stands for a type of Rust that the language does not have.
pub(crate) fn type_elsewhere(name: &str) -> Option<String> {
    let mut rows = TYPES.iter();
    let (_, here) = rows.find(|(names, _)| names.contains(&name))?;
    Some(format!(": {here}"))
}

/// The same for a function, which may also be an instruction.
pub(crate) fn function_hint<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> String {
    if let Some(here) = elsewhere(name) {
        return here;
    }
    match hint(name, candidates) {
        none if none.is_empty() => ": `ptx!` emits any instruction".into(),
        found => found,
    }
}

/// The Levenshtein distance.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, a) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &b) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
