//! Errors of the functions for tensors, fragments, barriers, TMA and wgmma.

use crate::rows;
use cute_lang::kernel::lower::lower;

/// The errors of a kernel of one warpgroup with these statements.
fn refusal(statements: &str) -> String {
    let module = format!(
        "mod kernels {{
            #[kernel(threads = 128)]
            unsafe fn k(a: TmaLoad<bf16, 2>, d: TmaStore<bf16, 2>, g: Global<f32, 2>, m: u32) {{
                let tile = smem::<bf16>(tile_to_shape(smem_atom::<bf16>(K, SW128), (64, 64)));
                let ready = mbarriers(2, 1);
                {statements}
            }}
        }}"
    );
    match lower(module.parse().expect("tokens")) {
        Ok(_) => "accepted".into(),
        Err(errors) => errors
            .into_iter()
            .map(|error| error.to_string())
            .collect::<Vec<_>>()
            .join("\n"),
    }
}

#[track_caller]
fn check(rows: &[(&str, &str)]) {
    rows::check(rows, refusal);
}

/// A register gets a type before its uses are known. That its first one cannot hold a number determines nothing.
#[test]
fn types_of_registers_follow_from_later_uses() {
    let found = ["- 128", "- (-128)", "+ (-5)", "* -1", "- 5000000000"].map(|end| {
        let ty = if end.ends_with("00") { "i64" } else { "i16" };
        let sum = format!("(if m > 3 {{ 100 }} else {{ 42 }}) {end}");
        let rows = [
            format!("let a: {ty} = {sum};"),
            format!("let a = if true {{ {sum} }} else {{ 89{ty} }}; let b: {ty} = a;"),
        ];
        rows.map(|row| (refusal(&row), row))
    });
    for (found, row) in found.into_iter().flatten() {
        assert_eq!(found, "accepted", "{row}");
    }
    check(&[
        (
            "let a: i8 = max(if m > 3 { 100 } else { 42 }, -5);",
            "accepted",
        ),
        (
            "let a = -(if m > 3 { 100 } else { 42 }); let b: i8 = a;",
            "accepted",
        ),
        (
            "let a: i8 = (if m > 3 { 1 } else { 2 }) + 200;",
            "200 does not fit `i8`",
        ),
        (
            "let a = (if m > 3 { 1 } else { 2 }) - 5000000000;",
            "5000000000 does not fit `i32`",
        ),
    ]);
}

/// A jump out of a block or a loop tells the type of its value, also where it is left out.
#[test]
fn types_of_jumps_that_are_left_out() {
    const DOUBT: &str = "the type of this number depends on code that is left out, since a condition is known: write it, such as `0u32`";
    check(&[
        (
            "let c = 60 + 104 > 'a: { if 1 > 2 { break 'a 64i8; } 0 };",
            DOUBT,
        ),
        (
            "let b = loop { if 1 > 2 { break 64i8; } break 0; }; let c = 60 + 104 > b;",
            DOUBT,
        ),
        (
            "let f = |x| { if 1 > 2 { return 64i8; } x }; let c = 60 + 104 > f(0);",
            DOUBT,
        ),
        // All types hold these numbers, and give the same.
        (
            "let c = 60 + 10 > 'a: { if 1 > 2 { break 'a 64i8; } 0 };",
            "accepted",
        ),
        (
            "let c = 60 + 104 > 'a: { if 1 > 2 { break 'a 64i16; } 0i16 };",
            "accepted",
        ),
        // No jump is left out.
        (
            "let f = |x| { if 1 > 2 { sync_threads(); } x }; let c = 60 + 104 > f(0);",
            "accepted",
        ),
    ]);
}

#[test]
fn types_of_literals() {
    check(&[
        (
            "let mut d = 1; if 1 > 2 { d = m; } let y = d as f32;",
            "the type of this number depends on code that is left out, since a condition is known: write it, such as `0u32`",
        ),
        (
            "let x = 3000000000; let y = x as f32;",
            "3000000000 does not fit `i32`",
        ),
        (
            "let y = m >> (3000000000 & 7);",
            "3000000000 does not fit `i32`",
        ),
        (
            "let x = max(0, 9223372036854775807) & 7; let y = m << x;",
            "9223372036854775807 does not fit `i32`",
        ),
        (
            "let x = fragment::<f32>(4); fill(x, 0.5f64);",
            "expected a value of type `f32`, found the number 0.5f64",
        ),
        (
            "let x = fragment::<bf16>(4); fill(x, f32::INFINITY);",
            "expected a value of type `bf16`, found the number inf of type `f32`",
        ),
        (
            "let y = (m as f32) + 0.5f64;",
            "mismatched types `f32` and `f64`: convert one with `as f32`",
        ),
        (
            "let y = if m > 2 { 0.5f32 } else { 1.5f64 };",
            "mismatched types `f32` and `f64`: convert one with `as f32`",
        ),
        (
            "let y = 0.5f * 2.0;",
            "`f` is a suffix of C: write `0.5f32`, or `0.5` where its uses tell the type",
        ),
        (
            "let y = -1f;",
            "`f` is a suffix of C: write `1.0f32`, or `1.0` where its uses tell the type",
        ),
        (
            "let y = 5ull;",
            "`ull` is a suffix of C: write `5u64`, or `5` where its uses tell the type",
        ),
        (
            "let y = 5foo;",
            "`foo` is no type of this number: a number ends with a type such as `u32`, `i64` or `f32`, or with its digits",
        ),
        (
            "let y = 0.5i32;",
            "`i32` is no type of this number: such a number ends with `f16`, `bf16`, `f32` or `f64`, or with its digits",
        ),
        ("let d = 1; let y = d - 3 + m;", "-2 does not fit `u32`"),
    ]);
}

#[test]
fn tensors() {
    check(&[
        (
            "let x = tile[(64, 0)];",
            "coordinate 64 is outside of mode (8,8):(64,512) of `tile`, whose size is 64",
        ),
        (
            "let x = tile[(0, 0, 0)];",
            "this coordinate has 3 modes, but ((8,8),(64,1)):((64,512),(1,0)) has 2",
        ),
        (
            "let x = tile[(_, \"a\")];",
            "a coordinate is an integer, `_` or a tuple of these, not a string",
        ),
        (
            "tile[(_, 0)] = 1;",
            "expected a value of type `bf16`, found the integer 1: as a floating-point number, it is `1.0`",
        ),
        (
            "tile[(0, 0)] = m;",
            "expected a value of type `bf16`, found `u32`: convert it with `convert::<bf16>`",
        ),
        (
            "let x = smem::<f32>(layout!((8,8):(8,-1)));",
            "a tensor in shared memory takes no negative strides: (8,8):(8,-1) has the stride -1",
        ),
        (
            "let x = smem::<f32>(layout!(Sw<2,59,2> o (8,8):(8,1)));",
            "f32 at Sw<2,59,2> o 0 o (8,8):(8,1) does not fit shared memory, 232448 bytes",
        ),
        (
            "let x = local_tile(smem::<u8>(layout!((2,4611686018427387903):(1,0))), (2, 5), (0, 0));",
            "mode 1: tiles of 5 do not divide an extent of 4611686018427387903; nearest: 3 and 4611686018427387903",
        ),
        (
            "let x = smem::<f32>((256, 256));",
            "262144 bytes at offset 8320 do not fit shared memory: a CTA has 232448 bytes",
        ),
        (
            "let x = local_tile(tile, (48, 64), (0, 0));",
            "mode 0: tiles of 48 do not divide an extent of 64; nearest: 32 and 64",
        ),
        (
            "let x = local_tile(tile, (32, 64), (2, 0));",
            "coordinate 2 is outside of mode 2:2048 of `tile`, whose size is 2",
        ),
        (
            "let x = complement(tile, 8192);",
            "`complement` does not keep the elements of a tensor in place; these do: coalesce, composition, flat_divide, flatten, get, group, logical_divide, select, take, tiled_divide, unflatten, with_shape, zipped_divide",
        ),
        (
            "g[0] = 1.0;",
            "this coordinate has 1 mode, but this part of `g` has 2: it is written `(i, j)`",
        ),
        (
            "let x = fragment::<f32>(layout!((128,1):(1@0,0))); g[x.coordinate(0)] = 1.0;",
            "this coordinate has 1 mode, but this part of `g` has 2; if it is a fragment's, `fragment::<T>(layout, shape)` takes the modes of extent 1 which the layout leaves out",
        ),
        (
            "let x = fragment::<f32>(layout!((128,1):(1@0,0)), (128, 2));",
            "the coordinates of (128,1):(1@0,0) have the extents (128), which are not those of the tile (128,2)",
        ),
        (
            "let x = reduce(g);",
            "`reduce(x, mode, operation, [barrier])` takes 3 to 4 arguments, not 1",
        ),
        (
            "g[(0, 0)] = 1;",
            "expected a value of type `f32`, found the integer 1: as a floating-point number, it is `1.0`",
        ),
        (
            "let x = smem_atom::<bf16>(M, SW128);",
            "cannot find `M` in this scope: did you mean `K` or `MN` or `a`?",
        ),
        (
            "let x = smem::<bf16>(tile_to_shape(smem_atom::<bf16>(K, SW128), (60, 64)));",
            "tile_to_shape((8,64):(64,1), (60,64)): mode 0 of (60,64): blocks of 8 do not fill 60: use blocks of 6 or 10, an extent of 56 or 64, or `ragged`",
        ),
    ]);
}

#[test]
fn fragments_and_copies() {
    check(&[
        (
            "let x = fragment::<f32>(256);",
            "256 elements of f32 take 256 registers, but a thread has 255",
        ),
        (
            "let x = fragment::<f32>(layout!((1099511627776):(0)));",
            "two coordinates of (1099511627776):(0) share a register: the layout of a fragment is injective",
        ),
        (
            "let x = fragment::<f64>(layout!((1,4611686018427387904):(1,1)));",
            "4611686018427387904 elements of f64 take 9223372036854775808 registers, but a thread has 255",
        ),
        (
            "let x = fragment::<f32>(8); let y = x[8];",
            "index 8 is outside of a fragment of 8 values",
        ),
        (
            "let x = fragment::<f32>(8); let y = x[m];",
            "a fragment is indexed by integers known at expansion, because registers have no addresses",
        ),
        (
            "let x = fragment::<bf16>((8, 8)); copy(tile, x);",
            "the tensor has 4096 elements, but the fragment has 64",
        ),
        (
            "let x = fragment::<f32>((64, 2)); copy(tile[(_, 0)], x);",
            "the tensor has elements of `bf16`, but the fragment has elements of `f32`: a copy converts nothing, so the fragment is of `bf16`, and `convert::<…>(fragment)` makes another one of it",
        ),
        (
            "copy(tile, tile);",
            "each thread copies all 4096 elements by way of registers, and it has 255: copy its part, such as a `local_partition`",
        ),
        (
            "let x = fragment::<f32>(wgmma_c(64)); let y = local_tile(x, (64, 4), (0, 0));",
            "mode 1: threads do not agree which tile of 4 a value is in: a thread adds up to 6 to its coordinate, the value up to 1, and the sum must stay below 4",
        ),
        (
            "let x = fragment::<f32>(wgmma_c(64)); let y = local_tile(x, (64, 24), (0, 0));",
            "mode 1: tiles of 24 do not divide an extent of 64; nearest: 16 and 32",
        ),
        (
            "let x = fragment::<f32>(wgmma_c(64)); x.fill(0.0); copy(convert::<bf16>(x), select(tile, 1, 0)[(_, _)]);",
            "accepted",
        ),
        (
            "let x = fragment::<f32>(wgmma_c(32)); copy(convert::<bf16>(x), tile);",
            "the tensor has the shape ((8,8),(64,1)), but the fragment has the shape (64,32)",
        ),
        (
            "let x = fragment::<f32>(8); let y = x.coordinate(0);",
            "`coordinate` takes a fragment that several threads hold here, not a fragment",
        ),
    ]);
}

#[test]
fn barriers() {
    check(&[
        (
            "wait(ready, 0);",
            "expected one barrier, found 2 barriers: choose one by its index",
        ),
        ("wait(ready[2], 0);", "index 2 is outside of 2 barriers"),
        ("wait(ready[0], 2);", "a parity is 0 or 1, not 2"),
        (
            "let x = mbarriers(0, 1);",
            "the argument `count` of `mbarriers` is 0; it can be 1 to 1024",
        ),
        (
            "bar_sync(16, 128);",
            "a CTA has the barriers 0 to 15, not 16",
        ),
        (
            "let a = named_barriers(8); let b = named_barriers(8);",
            "8 more named barriers are wanted, and 7 are left of the 15 of a CTA",
        ),
        (
            "let a = named_barriers(0);",
            "the argument `count` of `named_barriers` is 0; it can be 1 to 15",
        ),
        (
            "bar_sync(1, 100);",
            "100 threads are not a multiple of a warp, 32 threads",
        ),
        (
            "arrive_at(ready[0], 1);",
            "a cluster has the CTAs 0..1, not 1",
        ),
        (
            "setmaxnreg_dec(20);",
            "the argument `registers` of `setmaxnreg_dec` is 20; it can be 24 to 256",
        ),
        (
            "setmaxnreg_inc(240);",
            "each thread of a CTA of 128 starts with 255 registers: `setmaxnreg_inc` takes at least 255, not 240",
        ),
        (
            "setmaxnreg_inc(236);",
            "236 is not a multiple of 8; nearest: 232 and 240",
        ),
        (
            "arrive(tile);",
            "`arrive` takes a barrier here, not a tensor in shared memory",
        ),
    ]);
}

#[test]
fn tma() {
    check(&[
        (
            "tma_load(a, (0, 0), select(tile, 1, 0), ready[0]);",
            "TMA cannot copy Sw<3,3,3> o 0 o ((64,1),(8,8)):((1,0),(64,512)) of 16-bit elements: 2 bytes are contiguous both in the tile and along mode 1 of the tensor, and SW128 wants 128",
        ),
        (
            "tma_load(d, (0, 0), tile, ready[0]);",
            "`tma_load` takes a `TmaLoad`, but `d` is a `TmaStore`",
        ),
        (
            "tma_load(a, 0, tile, ready[0]);",
            "`tma_load` takes a coordinate of 2 integers here, not the integer 0",
        ),
        (
            "tma_store(tile, a, (0, 0));",
            "`tma_store` takes a `TmaStore`, but `a` is a `TmaLoad`",
        ),
        (
            "tma_load(a, (0, 0), smem::<f32>((64, 64)), ready[0]);",
            "the tile has elements of `f32`, but `a` has elements of `bf16`",
        ),
        (
            "tma_load(a, (0, 0), tile, ready[0]); tma_load(a, (0, 0), local_tile(tile, (32, 64), (0, 0)), ready[0]);",
            "this tile needs boxes of [32, 64] and SW128, but an earlier use of `a` needs [64, 64] and SW128: a parameter has one tensor map",
        ),
        (
            "tma_load(a, (0, 0), local_tile(tile, (8, 64), (m, 0)), ready[0]);",
            "accepted",
        ),
        (
            "let row = smem::<bf16>(64); tma_load(a, (m, 0), row, ready[0]);",
            "accepted",
        ),
        (
            "let x = smem::<bf16>((64, 2, 2)); tma_load(a, (0, 0), x, ready[0]);",
            "TMA cannot copy (64,2,2):(1,64,128) of 16-bit elements: the tile has 3 modes, the tensor 2",
        ),
        (
            "let x = smem::<bf16>(layout!((4,64):(72,1))); tma_load(a, (0, 0), x, ready[0]);",
            "TMA cannot copy (4,64):(72,1) of 16-bit elements: the box at [1, 0] starts at byte 144, which is not a multiple of 128: TMA writes a box without gaps, so padded strides do not fit",
        ),
        (
            "tma_load(a, (0, 0), tile, ready[0], 2);",
            "a set of the CTAs of a cluster of 1 is from 0b1 to 0b1, not 0b10",
        ),
        (
            "tma_load(a, (0, 4), tile, ready[0]);",
            "a box starts at element 4 of the innermost mode, whose elements have 2 bytes; it must start at a multiple of 16 bytes",
        ),
        ("tma_load(a, (-3, -8), tile, ready[0]);", "accepted"),
        (
            "tma_store(tile, d, (-1, 0));",
            "a box that is written starts at -1, below 0",
        ),
        (
            "tma_wait(64);",
            "the argument `groups` of `tma_wait` is 64; it can be 0 to 63",
        ),
    ]);
}

#[test]
fn wgmma() {
    check(&[
        (
            "let acc = fragment::<f32>(wgmma_c(64)); wgmma(acc, tile, tile, false);",
            "accepted",
        ),
        (
            "let acc = fragment::<f32>(wgmma_c(32)); wgmma(acc, tile, tile, false);",
            "the accumulator of a product of 64 × 64 is `fragment::<f32>(wgmma_c(64))`",
        ),
        (
            "let acc = fragment::<f32>((64, 2)); wgmma(acc, tile, tile, false);",
            "the accumulator of a product of 64 × 64 is `fragment::<f32>(wgmma_c(64))`",
        ),
        (
            "let acc = fragment::<f32>(wgmma_c(64)); wgmma(acc, local_tile(tile, (32, 64), (0, 0)), tile, false);",
            "A has 32 rows, but wgmma takes 64: use a `local_tile`",
        ),
        (
            "let acc = fragment::<f32>(wgmma_c(64)); wgmma(acc, tile, local_tile(tile, (64, 32), (0, 0)), false);",
            "the extent along K is 64 in A, but 32 in B: A is M × K and B is N × K, whatever their major modes are",
        ),
        (
            "let acc = fragment::<f32>(wgmma_c(64)); wgmma(acc, tile, smem::<f16>(tile_to_shape(smem_atom::<f16>(K, SW128), (64, 64))), false);",
            "wgmma multiplies `bf16` by `bf16`, not by `f16`",
        ),
        (
            "let acc = fragment::<f32>(wgmma_c(64)); wgmma(acc, smem::<bf16>(layout!((64,64):(72,1))), tile, false);",
            "wgmma cannot read (64,64):(72,1) of 16-bit elements: K-major INTER wants stride 8 along MN, here 72; MN-major INTER wants stride 1 along MN, here 72; nearest: tiles of smem_atom(K, INTER), 8 rows of 8 elements",
        ),
        (
            "let acc = fragment::<f32>(wgmma_c(8)); wgmma(acc, tile, local_tile(tile, (8, 64), (m, 0)), m > 0);",
            "accepted",
        ),
        (
            "let acc = fragment::<f32>(wgmma_c(64)); wgmma(acc, tile, tile, 1);",
            "`wgmma` takes a truth value here, not the integer 1",
        ),
        (
            "let x = wgmma_c(100);",
            "wgmma has no N of 100; nearest: 96 and 104",
        ),
        (
            "let x = size(mma_atom(SM80_16x8x16_F32F16F16F32_TN, CLayout)); let y = mma_atom(SM90_64x128x16_F32BF16BF16_SS::<K, MN>, BLayout); let z = copy_atom_val(UniversalCopy::<u128>, 16, ValLayoutSrc);",
            "accepted",
        ),
        (
            "let x = mma_atom(SM80_16x8x12_F32F16F16F32_TN, CLayout);",
            "mma_atom(SM80_16x8x12_F32F16F16F32_TN, CLayout): there is no MMA operation of shape `16x8x12`; there are 16x8x8, 16x8x16",
        ),
        (
            "let x = mma_atom(SM80_16x8x8_F32F16F16F32_TN, DLayout);",
            "mma_atom(SM80_16x8x8_F32F16F16F32_TN, DLayout): there is no field `DLayout`; there are Shape_MNK, ThrID, ALayout, BLayout, CLayout",
        ),
        (
            "let x = smem::<u32>(tile_to_shape(smem_atom::<u32>(K, SW128), (64, 32))); let acc = fragment::<f32>(wgmma_c(64)); wgmma(acc, x, x, false);",
            "wgmma takes `u8`, `i8`, `bf16`, `f16`, `tf32`, `e4m3` and `e5m2`, not `u32`",
        ),
        (
            "let x = smem::<e4m3>(tile_to_shape(smem_atom::<e4m3>(K, SW64), (64, 64))); let y = smem::<u8>(tile_to_shape(smem_atom::<u8>(K, SW64), (64, 64))); let acc = fragment::<f32>(wgmma_c(64)); wgmma(acc, x, y, false);",
            "wgmma multiplies `e4m3` by `e4m3` and `e5m2`, not by `u8`",
        ),
        (
            "let acc = fragment::<f16>(wgmma_c(64)); wgmma(acc, tile, tile, false);",
            "wgmma adds products of `bf16` to `f32`, not to `f16`",
        ),
        (
            "let x = smem::<i8>(tile_to_shape(smem_atom::<i8>(K, SW64), (64, 64))); let acc = fragment::<f32>(wgmma_c(64)); wgmma(acc, x, x, false);",
            "wgmma adds products of `i8` to `i32`, not to `f32`",
        ),
        (
            "let x = smem::<e5m2>(tile_to_shape(smem_atom::<e5m2>(K, SW64), (64, 64))); let acc = fragment::<f16>(wgmma_c(64)); wgmma(acc, x, x, false);",
            "accepted",
        ),
        (
            "let x = smem::<i8>(tile_to_shape(smem_atom::<i8>(K, SW64), (64, 64))); let acc = fragment::<i32>(wgmma_c(40)); wgmma(acc, x, local_tile(x, (40, 64), (0, 0)), false);",
            "mode 0: tiles of 40 do not divide an extent of 64; nearest: 32 and 64",
        ),
        (
            "let x = smem::<i8>(tile_to_shape(smem_atom::<i8>(K, SW64), (64, 64))); let acc = fragment::<i32>(wgmma_c(40)); wgmma(acc, x, smem::<i8>(tile_to_shape(smem_atom::<i8>(K, SW64), (40, 64))), false);",
            "wgmma has no N of 40; nearest: 32 and 48",
        ),
        (
            "let x = smem::<e4m3>(tile_to_shape(smem_atom::<e4m3>(MN, SW64), (64, 64))); let acc = fragment::<f32>(wgmma_c(64)); wgmma(acc, x, x, false);",
            "wgmma cannot read Sw<2,4,3> o 0 o ((64,1),(8,8)):((1,0),(64,512)) of 8-bit elements: it is contiguous along MN, which is legal only for elements of 16 bits; it must be contiguous along K",
        ),
        (
            "let x = fragment::<bf16>(wgmma_a::<bf16>(64)); x.fill(1.0); let acc = fragment::<f32>(wgmma_c(64)); wgmma(acc, x, tile, false);",
            "accepted",
        ),
        (
            "let s = fragment::<f32>(wgmma_c(64)); s.fill(1.0); let acc = fragment::<f32>(wgmma_c(64)); wgmma(acc, convert::<bf16>(s), tile, false);",
            "accepted",
        ),
        (
            "let s = fragment::<f32>(wgmma_c(64)); let acc = fragment::<f32>(wgmma_c(64)); let x = smem::<e4m3>(tile_to_shape(smem_atom::<e4m3>(K, SW64), (64, 64))); wgmma(acc, convert::<e4m3>(s), x, false);",
            "an operand A in registers is held as `wgmma_a::<e4m3>(k)`: here value 0 of thread 1 is at (0,2), not at (0,4)",
        ),
        (
            "let s = fragment::<f32>(wgmma_c(64)); let acc = fragment::<f32>(wgmma_c(64)); let x = smem::<tf32>(tile_to_shape(smem_atom::<tf32>(K, SW64), (64, 64))); wgmma(acc, convert::<tf32>(s), x, false);",
            "an operand A in registers is held as `wgmma_a::<tf32>(k)`: here value 0 of thread 1 is at (0,2), not at (0,1)",
        ),
        (
            "let rows = group(layout!((4,2,2,2,2):(1@0,16@0,4@0,8@0,32@0)), 0, 5); let acc = fragment::<f32>(composition(append(rows, layout!((64):(1@1))), wgmma_c(64))); let x = fragment::<bf16>(composition(append(rows, layout!((64):(1@1))), wgmma_a::<bf16>(64))); x.fill(1.0); wgmma(acc, x, tile, false);",
            "accepted",
        ),
        (
            "let rows = group(layout!((4,2,2,2,2):(1@0,16@0,4@0,8@0,32@0)), 0, 5); let other = group(layout!((4,2,2,2,2):(1@0,16@0,8@0,4@0,32@0)), 0, 5); let acc = fragment::<f32>(composition(append(rows, layout!((64):(1@1))), wgmma_c(64))); let x = fragment::<bf16>(composition(append(other, layout!((64):(1@1))), wgmma_a::<bf16>(64))); x.fill(1.0); wgmma(acc, x, tile, false);",
            "the rows of A are in another order than those of the accumulator",
        ),
        (
            "let rows = group(layout!((4,2,2,2,2):(1@0,16@0,4@0,8@0,32@0)), 0, 5); let acc = fragment::<f32>(composition(append(rows, layout!((64):(1@1))), wgmma_c(64))); wgmma(acc, tile, tile, false);",
            "the rows of A are in another order than those of the accumulator",
        ),
        (
            "let rows = group(layout!((4,2,2,2,2):(1@0,16@0,4@0,8@0,64@0)), 0, 5); let acc = fragment::<f32>(composition(append(rows, layout!((64):(1@1))), wgmma_c(64))); wgmma(acc, tile, tile, false);",
            "the accumulator of a product of 64 × 64 is `fragment::<f32>(wgmma_c(64))`",
        ),
        (
            "let s = fragment::<bf16>(wgmma_c(24)); let acc = fragment::<f32>(wgmma_c(64)); wgmma(acc, s, tile, false);",
            "K is a multiple of 16 for `bf16`, not 24",
        ),
        (
            "let s = fragment::<bf16>((64, 4)); let acc = fragment::<f32>(wgmma_c(64)); wgmma(acc, s, tile, false);",
            "an operand A in registers is held as `wgmma_a::<bf16>(k)`: here one thread holds all of it",
        ),
        (
            "let x = wgmma_a::<u32>(64);",
            "wgmma takes `u8`, `i8`, `bf16`, `f16`, `tf32`, `e4m3` and `e5m2`, not `u32`",
        ),
        (
            "let x = wgmma_a::<i8>(48);",
            "K is a multiple of 32 for `i8`, up to 2016, not 48",
        ),
        (
            "let s = fragment::<e4m3>(8); let x = s[0];",
            "no instruction computes with one element of `e4m3`: copy a fragment of `e4m3` and `convert` it",
        ),
        (
            "let x = convert::<e4m3>(1.0f32 * (thread() as f32));",
            "no instruction computes with one element of `e4m3`: convert a fragment",
        ),
        (
            "let x: tf32 = thread();",
            "expected `tf32`, found a run-time `u32`",
        ),
        (
            "wgmma_wait(8);",
            "the argument `groups` of `wgmma_wait` is 8; it can be 0 to 7",
        ),
    ]);
}

#[test]
fn fragments_as_numbers() {
    check(&[
        (
            "let x = fragment::<f32>(wgmma_c(64)); let y = x + fragment::<f32>(wgmma_c(32));",
            "a fragment of (64,64) and one of (64,32) do not fit together: extents are equal, or 1",
        ),
        (
            "let x = fragment::<bf16>(wgmma_a::<bf16>(16)); let y = x + fragment::<bf16>(wgmma_c(16)); let z = x + convert::<bf16>(fragment::<tf32>(wgmma_a::<tf32>(16)));",
            "thread 1 begins at 2 along mode 1 in one fragment, and at 1 in the other: `redistribute` one",
        ),
        (
            "let x = fragment::<f32>(wgmma_c(64)); let y = x + fragment::<f32>(32);",
            "a fragment of (64,64) and one of 32 do not fit together: extents are equal, or 1",
        ),
        (
            "let x = fragment::<f32>(wgmma_c(64)); let y = x + 1;",
            "cannot apply `+` to a run-time `f32` and the integer 1: as a floating-point number, it is `1.0`",
        ),
        (
            "let x = fragment::<f32>(wgmma_c(64)); let y = x + convert::<f16>(x);",
            "mismatched types `f32` and `f16`: convert one with `as f32`",
        ),
        (
            "let x = fragment::<e4m3>(wgmma_c(64)); let y = x * x;",
            "no instruction computes with elements of `e4m3`: `convert` the fragment",
        ),
        (
            "let x = fragment::<f32>(wgmma_c(64)); let y = reduce(x, 1, max); y += x;",
            "a fragment of (64,1) and one of (64,64) do not fit together: extents are equal, or 1",
        ),
        (
            "let x = fragment::<f32>(wgmma_c(64)); let y = fragment::<f16>(x); copy(x, y);",
            "expected a fragment of `f16`, found one of `f32`: `convert` it",
        ),
        (
            "let x = fragment::<f32>(wgmma_c(64)); let y = reduce(x, 2, max);",
            "a fragment of (64,64) has no mode 2; if the tile has more modes of extent 1, `fragment::<T>(layout, shape)` takes its shape",
        ),
        (
            "let x = fragment::<f32>(wgmma_c(64)); let y = reduce(x, 1, mul);",
            "cannot find `mul` in this scope: `reduce` takes add, max or min",
        ),
        (
            "let x = fragment::<f32>(wgmma_c(64)); let y = x.scan(1, argmax);",
            "cannot find `argmax` in this scope: `scan` takes add, max or min; the index of the largest element is `reduce(select(x == m, map(x, |_, (_, j)| j), u32::MAX), 1, min)` with `m = reduce(x, 1, max)`",
        ),
        (
            "let x = fragment::<f32>(wgmma_c(64)); let y = reduce(x, missing, max);",
            "cannot find `missing` in this scope",
        ),
        (
            "let x = fragment::<u64>(wgmma_c(64)); let y = reduce(x, 1, max);",
            "`reduce` takes elements of `f32`, `i32` or `u32`, not of `u64`",
        ),
        (
            "let x = fragment::<f32>(wgmma_c(64)); let y = reduce(x, 1, K);",
            "`reduce` takes add, max or min here, not `K`",
        ),
        (
            "let x = fragment::<f32>(composition(make_identity_layout((64, 2)), layout!((64,2):(1,64)))); let y = reduce(x, 0, max);",
            "64 of the 128 threads of the CTA hold the fragment, and `reduce` exchanges values between their warps: add the number of a barrier for these threads, as in `bar_sync`",
        ),
        (
            "let x = fragment::<f32>(wgmma_c(64)); let y = reduce(x, 0, max, 16);",
            "a CTA has the barriers 0 to 15, not 16",
        ),
        (
            "let x = fragment::<f32>(composition(make_identity_layout((16, 2)), layout!((16,2):(1,16)))); let y = reduce(x, 0, max);",
            "whole warps hold a fragment whose threads are combined, not 16 threads",
        ),
        (
            "let x = fragment::<f32>(composition(make_identity_layout((48, 1)), layout!(((2,16),1):((1,3),0)))); let y = scan(x, 0, max);",
            "threads are 3 apart along mode 0, where others span 2: `redistribute` the fragment first",
        ),
        (
            "let x = fragment::<f32>(composition(make_identity_layout((64, 1)), layout!((32,2):(1,16)))); let y = scan(x, 0, max);",
            "threads are 16 apart along mode 0, and a thread has values up to 16 from its first, among those of 2 threads: `redistribute` the fragment first",
        ),
        (
            "let x = fragment::<f32>(wgmma_c(64)); let y = redistribute(x, wgmma_c(32));",
            "a fragment of (64,64) is no fragment of (64,32)",
        ),
        (
            "let x = fragment::<f32>(wgmma_c(64)); let y = redistribute(x, composition(make_identity_layout((64, 64)), layout!((32,128):(1,32))));",
            "128 threads hold the fragment, but the layout has 32",
        ),
        (
            "let x = fragment::<f32>(wgmma_c(64)); let y = redistribute(x, layout!((64,64):(1,64)));",
            "`redistribute` takes a layout from (thread, value) to coordinates of a tile, or a fragment here, not a layout `(64,64):(1,64)`",
        ),
        (
            "let x = fragment::<f32>(32); let y = redistribute(x, x);",
            "`redistribute` takes a fragment that several threads hold here, not a fragment",
        ),
        (
            "let x = fragment::<f32>(composition(make_identity_layout((64, 64)), layout!((64,64):(1,64)))); let y = redistribute(x, composition(make_identity_layout((64, 64)), layout!((64,64):(64,1))));",
            "64 of the 128 threads of the CTA hold the fragment, and `redistribute` exchanges values between their warps: add the number of a barrier for these threads, as in `bar_sync`",
        ),
        (
            "let x = reduce(fragment::<f32>(wgmma_c(64)), 0, add); let y = redistribute(x, composition(make_identity_layout((1, 64)), layout!(((64,2),1):((1,0),0))));",
            "warps 0 and 1 hold the same values of the fragment, and both would store them",
        ),
        (
            "let x = fragment::<bf16>(wgmma_c(64)); let y = reduce(x, 1, add);",
            "`reduce` takes elements of `f32`, `i32` or `u32`, not of `bf16`: `convert` the fragment",
        ),
        (
            "let x = fragment::<f32>((8, 2)); let y = reduce(x, 1, max);",
            "`reduce` takes a fragment that several threads hold here, not a fragment",
        ),
        (
            "let y = reduce(tile, 1, max);",
            "`reduce` takes a fragment here, not a tensor in shared memory",
        ),
    ]);
}

/// Nothing may have written a register that is read, as far as that is certain.
#[test]
fn fragments_that_nothing_has_written() {
    const GARBAGE: &str =
        "this reads registers of a fragment that nothing has written: `fill` it before";
    let acc = "let acc = fragment::<f32>(wgmma_c(64));";
    for statements in [
        "let y = acc + 1.0;",
        "acc *= 2.0;",
        "let y = acc[0] + 1.0;",
        "wgmma(acc, tile, tile, true);",
        "copy(acc, smem::<f32>((64, 64)));",
        "let y = reduce(acc, 1, max);",
        "let y = convert::<bf16>(acc);",
        "let y = acc; let z = map(y, |v| v + 1.0);",
        "let mut y = acc; y = y + 1.0;",
        "if m > 1 { acc.fill(0.0); let y = acc + 1.0; } let y = fragment::<f32>(acc, 1); acc -= y;",
        // Nothing ever writes it but the product itself.
        "for i in 0..m { for j in 0..m { wgmma(acc, tile, tile, true); } }",
        "let half = fragment::<f16>(wgmma_c(64)); let y = half * half;",
        "let a = fragment::<bf16>(wgmma_a::<bf16>(64)); wgmma(acc, a, tile, false);",
    ] {
        assert_eq!(
            refusal(&format!("{acc} {statements}")),
            GARBAGE,
            "{statements}"
        );
    }
    for statements in [
        "acc.fill(0.0); acc += 1.0;",
        "wgmma(acc, tile, tile, false); wgmma_wait(0); acc += 1.0;",
        "for i in 0..m { wgmma(acc, tile, tile, i > 0); }",
        "for i in 0..m { if i > 0 { acc += 1.0; } acc.fill(0.0); }",
        "for i in 0..m { if i == 0 { acc.fill(0.0); } else { acc += 1.0; } }",
        "let mut y = acc; y = acc; y.fill(0.0); let z = y + 1.0;",
        "let half = fragment::<f16>(32); for i in 0..32 { half[i] = convert::<f16>(1.0f32 * (m as f32)); } let y = half * half;",
        "let byte = fragment::<u8>(32); for i in 0..32 { byte[i] = m as u8; } let y = byte + byte;",
    ] {
        assert_eq!(
            refusal(&format!("{acc} {statements}")),
            "accepted",
            "{statements}"
        );
    }
}

/// All registers that warpgroups set must be there.
#[test]
fn budgets_of_registers() {
    let check = |threads: u32, statements: &str, expected: &str| {
        let source = format!(
            "mod kernels {{ #[kernel(threads = {threads})] fn k(m: u32) {{ {statements} }} }}"
        );
        let found = match lower(source.parse().expect("tokens")) {
            Ok(_) => "accepted".into(),
            Err(error) => error.to_string(),
        };
        assert_eq!(found, expected, "{threads}: {statements}");
    };
    let too_many = "the warpgroups set 40 + 240 + 240 = 520 registers a thread, but a CTA of 384 threads has 504: 3 warpgroups of 128 threads with 168 each";
    for (statements, expected) in [
        (
            "if warpgroup() == 0 { setmaxnreg_dec(40); } else { setmaxnreg_inc(232); }",
            "accepted",
        ),
        (
            "if warpgroup() == 0 { setmaxnreg_dec(40); } else { setmaxnreg_inc(240); }",
            too_many,
        ),
        (
            "match warpgroup() { 0 => setmaxnreg_dec(40), 1 => setmaxnreg_inc(240), _ => setmaxnreg_inc(240) }",
            too_many,
        ),
        (
            "let role = warpgroup(); if role >= 1 { if role < 2 { setmaxnreg_inc(240); } else { setmaxnreg_inc(240); } } if role == 0 { setmaxnreg_dec(40); }",
            too_many,
        ),
        (
            "if warpgroup() == 0 { setmaxnreg_dec(24); } else { setmaxnreg_inc(240); }",
            "accepted",
        ),
        (
            "if warpgroup() > 0 { setmaxnreg_inc(176); }",
            "the warpgroups set 168 + 176 + 176 = 520 registers a thread, but a CTA of 384 threads has 504: 3 warpgroups of 128 threads with 168 each",
        ),
        // Which warpgroups run this is not known.
        (
            "if warpgroup() == m { setmaxnreg_dec(40); } else { setmaxnreg_inc(240); }",
            "accepted",
        ),
        (
            "if warpgroup() == 0 { setmaxnreg_dec(40); return; } setmaxnreg_inc(232);",
            "accepted",
        ),
        // The last number counts.
        (
            "if warpgroup() == 0 { setmaxnreg_dec(160); setmaxnreg_dec(24); } else { setmaxnreg_inc(240); }",
            "accepted",
        ),
    ] {
        check(384, statements, expected);
    }
    check(
        512,
        "if warpgroup() == 0 { setmaxnreg_dec(32); } else { setmaxnreg_inc(160); }",
        "accepted",
    );
    check(
        512,
        "setmaxnreg_inc(136);",
        "the warpgroups set 136 + 136 + 136 + 136 = 544 registers a thread, but a CTA of 512 threads has 512: 4 warpgroups of 128 threads with 128 each",
    );
    check(256, "setmaxnreg_inc(256);", "accepted");
    check(128, "setmaxnreg_dec(24);", "accepted");
}

#[test]
fn products_of_a_warp() {
    // The fragments of a product of one operation, named `c`, `a` and `b`, and of four warps, named `c4`, `a4` and `b4`.
    let check = |rows: &[(&str, &str)]| {
        let of = |name: &str, ty: &str, tile: &str, field: &str| {
            let held = format!(
                "composition(make_identity_layout({tile}), mma_atom(SM80_16x8x16_F32BF16BF16F32_TN, {field}))"
            );
            format!("let {name} = fragment::<{ty}>({held});")
        };
        let tiled = |name: &str, ty: &str, tile: &str, field: &str| {
            let held = format!(
                "composition(make_identity_layout({tile}), tiled_mma(SM80_16x8x16_F32BF16BF16F32_TN, (2, 2, 1), _, {field}))"
            );
            format!("let {name} = fragment::<{ty}>({held});")
        };
        let fragments = [
            of("c", "f32", "(16, 8)", "CLayout"),
            of("a", "bf16", "(16, 16)", "ALayout"),
            of("b", "bf16", "(8, 16)", "BLayout"),
            tiled("c4", "f32", "(32, 16)", "layoutC_TV"),
            tiled("a4", "bf16", "(32, 16)", "layoutA_TV"),
            tiled("b4", "bf16", "(16, 16)", "layoutB_TV"),
        ];
        let rows = rows.iter().map(|(statements, expected)| {
            (format!("{} {statements}", fragments.join("\n")), *expected)
        });
        let rows: Vec<(String, &str)> = rows.collect();
        let rows: Vec<(&str, &str)> = rows
            .iter()
            .map(|(text, expected)| (&text[..], *expected))
            .collect();
        check(&rows);
    };
    check(&[
        (
            "for x in [c, c4] { x.fill(0.0); } for x in [a, b, a4, b4] { x.fill(1.0); } mma(c, a, b); mma(c4, a4, b4);",
            "accepted",
        ),
        (
            "mma(c, a, tile);",
            "`mma` takes a fragment here, not a tensor in shared memory",
        ),
        (
            "mma(c, a, fragment::<bf16>((8, 16)));",
            "`mma` takes a fragment of two modes that several threads hold here, not a fragment",
        ),
        (
            "mma(convert::<bf16>(c), a, b);",
            "no operation of a warp adds products of `bf16` and `bf16` to `bf16`",
        ),
        (
            "mma(c, a, convert::<f16>(b));",
            "no operation of a warp adds products of `bf16` and `f16` to `f32`",
        ),
        (
            "mma(c, b, b);",
            "the extent along M is 16 in the accumulator, but 8 in A",
        ),
        (
            "mma(c4, a4, a4);",
            "the extent along N is 16 in the accumulator, but 32 in B",
        ),
        (
            "mma(c, a, convert::<bf16>(local_tile(c4, (8, 16), (0, 0))));",
            "mode 0: threads do not agree which tile of 8 a value is in: a thread adds up to 23 to its coordinate, the value up to 0, and the sum must stay below 8",
        ),
        (
            "mma(c4, a, b);",
            "the extent along M is 32 in the accumulator, but 16 in A",
        ),
        (
            "mma(c4, a4, b4); mma(c, convert::<bf16>(c), b);",
            "the extent along K is 8 in A, but 16 in B",
        ),
        (
            "mma(c, a, convert::<bf16>(fragment::<f32>(wgmma_c(16))));",
            "the extent along N is 8 in the accumulator, but 64 in B",
        ),
        (
            "mma(fragment::<f32>(wgmma_c(16)), convert::<bf16>(fragment::<f32>(wgmma_c(16))), b4);",
            "warp 2 begins at 0 along N in the accumulator, but at 8 in B",
        ),
        (
            "let x = fragment::<bf16>(composition(make_identity_layout((16, 16)), layout!(((4,8),(8)):((1,4),(32))))); mma(c, x, b);",
            "A is not held as A of the 16 × 8 × 8 operation: thread 1 is at (1,0) of the part of its warp, not at (0,2)",
        ),
    ]);
}

#[test]
fn registers() {
    for (a, n, expected) in [
        (
            "smem::<bf16>(tile_to_shape(smem_atom::<bf16>(K, SW128), (64, 64)))",
            256,
            "a product of N = 256 needs 154 registers a thread, but a CTA of 512 threads starts with 128: use N ≤ 200",
        ),
        (
            "fragment::<bf16>(wgmma_a::<bf16>(64))",
            200,
            "a product of N = 200 needs 130 registers a thread, but a CTA of 512 threads starts with 128: use N ≤ 192",
        ),
    ] {
        let module = format!(
            "mod kernels {{
                #[kernel(threads = 512)]
                fn k() {{
                    let a = {a};
                    let b = smem::<bf16>(tile_to_shape(smem_atom::<bf16>(K, SW128), ({n}, 64)));
                    let acc = fragment::<f32>(wgmma_c({n}));
                    wgmma(acc, a, b, false);
                }}
            }}"
        );
        let error = lower(module.parse().expect("tokens"))
            .map(|_| ())
            .unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
}
