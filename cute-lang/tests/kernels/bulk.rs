//! Bulk copies, reductions and prefetches: their PTX, and what is refused.

use crate::judge;
use cute_lang::kernel::lower::lower;

/// The PTX of a kernel on `x`, a matrix of aligned rows, and `s`, shared memory of 8 × 64.
fn text(facts: &str, body: &str) -> Result<String, String> {
    let source = format!(
        "mod kernels {{ #[kernel(threads = 32, cluster = (2, 1, 1))] fn k(#[facts({facts})] x: Global<f32, 2>) {{
            let s = smem::<f32>(layout!((8,64):row));
            let ready = mbarriers(1, 1);
            let i = block_idx().0;
            {body}
        }} }}"
    );
    let lowered = lower(source.parse().expect("tokens")).map_err(|error| error.to_string())?;
    judge(&lowered);
    Ok(lowered[0].module.to_string())
}

const ALIGNED: &str = "aligned(x, 16), extent(x, 0) % 8 == 0, extent(x, 1) == 64";
const INSIDE: &str = "8 * i < extent(x, 0)";

/// How many instructions of a kernel have these words.
fn count(facts: &str, body: &str, instruction: &str) -> usize {
    let text = text(facts, &format!("if {INSIDE} {{ {body} }}")).unwrap_or_else(|e| panic!("{e}"));
    text.lines()
        .filter(|line| line.contains(instruction))
        .count()
}

#[test]
fn a_piece_is_as_long_as_both_sides_and_the_facts_allow() {
    let load = "copy_async(local_tile(x, (8, 64), (i, 0)), s, ready[0]);";
    let instruction = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [";
    assert_eq!(count(ALIGNED, load, instruction), 8);
    // The rows follow one another.
    let dense = format!("{ALIGNED}, stride(x, 0) == 64");
    assert_eq!(count(&dense, load, instruction), 1);
    let padded = "let p = smem::<f32>(layout!((8,64):(68,1))); copy_async(local_tile(x, (8, 64), (i, 0)), p, ready[0]);";
    assert_eq!(count(&dense, padded, instruction), 8);
    let half =
        "copy_async(local_tile(x, (8, 32), (i, 1)), local_tile(s, (8, 32), (0, 0)), ready[0]);";
    assert_eq!(count(&dense, half, instruction), 8);
}

#[test]
fn every_form_is_one_instruction() {
    let dense = format!("{ALIGNED}, stride(x, 0) == 64");
    for (body, instruction) in [
        (
            "copy_async(local_tile(x, (8, 64), (i, 0)), s, ready[0], 0b11);",
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [",
        ),
        (
            "copy_async(s, local_tile(x, (8, 64), (i, 0)));",
            "cp.async.bulk.global.shared::cta.bulk_group [",
        ),
        (
            "copy_async_at(s, s, ready[0], 1);",
            "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [",
        ),
        (
            "reduce_async(s, local_tile(x, (8, 64), (i, 0)), add);",
            "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [",
        ),
        (
            "prefetch(local_tile(x, (8, 64), (i, 0)));",
            "cp.async.bulk.prefetch.L2.global [",
        ),
    ] {
        assert_eq!(count(&dense, body, instruction), 1, "{body}");
    }
}

#[test]
fn reductions_have_the_types_of_their_elements() {
    for (element, operation, expected) in [
        ("u32", "add", Ok("add.u32")),
        ("i32", "min", Ok("min.s32")),
        ("i64", "add", Ok("add.u64")),
        ("i64", "max", Ok("max.s64")),
        ("f64", "add", Ok("add.f64")),
        ("bf16", "add", Ok("add.noftz.bf16")),
        ("f16", "max", Ok("max.f16")),
        ("u32", "inc", Ok("inc.u32")),
        ("i32", "xor", Ok("xor.b32")),
        ("u64", "and", Ok("and.b64")),
        (
            "f32",
            "max",
            Err(
                "`max` works on elements of type u32, i32, u64, i64, f16 or bf16 here, not on `f32`",
            ),
        ),
        (
            "i32",
            "dec",
            Err("`dec` works on elements of type u32 here, not on `i32`"),
        ),
        (
            "u32",
            "sub",
            Err(
                "`reduce_async` takes add, min, max, inc, dec, and, or or xor here, not the function `sub`",
            ),
        ),
    ] {
        let source = format!(
            "mod kernels {{
                fn sub() {{}}
                #[kernel(threads = 32)] fn k(
                    #[facts(aligned(x, 16), extent(x, 0) >= 64)] x: Global<{element}, 1>,
                    y: TmaStore<{element}, 1>,
                ) {{
                    let s = smem::<{element}>((64,));
                    reduce_async(s, local_tile(x, 64, 0), {operation});
                    tma_reduce(s, y, 0, {operation});
                }}
            }}"
        );
        let lowered = lower(source.parse().expect("tokens")).map_err(|error| error.to_string());
        match (lowered, expected) {
            (Ok(lowered), Ok(expected)) => {
                judge(&lowered);
                let text = lowered[0].module.to_string();
                let plain =
                    format!("cp.reduce.async.bulk.global.shared::cta.bulk_group.{expected} [");
                let name = expected.split('.').next().unwrap_or_default();
                let tensor = format!(
                    "cp.reduce.async.bulk.tensor.1d.global.shared::cta.{name}.tile.bulk_group ["
                );
                assert!(text.contains(&plain) && text.contains(&tensor), "{text}");
            }
            (Err(error), Err(expected)) => assert!(error.contains(expected), "{error}"),
            (found, _) => panic!("{element} {operation}: {:?}", found.is_ok()),
        }
    }
}

#[test]
fn what_is_missing_is_named() {
    let load = "copy_async(local_tile(x, (8, 64), (i, 0)), s, ready[0]);";
    let inside = format!("if {INSIDE} {{ {load} }}");
    for (facts, body, expected) in [
        (
            "extent(x, 0) % 8 == 0, extent(x, 1) == 64",
            &inside[..],
            "`copy_async` takes pieces that begin at multiples of 16 bytes of `x`: the fact `aligned(x, 16)` says that they do",
        ),
        (
            ALIGNED,
            load,
            "nothing proves that this access is inside of `x`",
        ),
        (
            "aligned(x, 16), extent(x, 0) % 4 == 0, extent(x, 1) == 64",
            &inside,
            "nothing proves that this access is inside of `x`",
        ),
        (
            ALIGNED,
            "if i < extent(x, 0) { copy_async(local_tile(x, (1, 2), (i, 0)), local_tile(s, (1, 2), (0, 0)), ready[0]); }",
            "`copy_async` moves multiples of 16 bytes, but of this tile no more than 8 bytes are contiguous on both sides: `copy` moves any number",
        ),
        (
            ALIGNED,
            "copy_async(local_tile(x, (8, 64), (i, 0)), select(s, 1, 0), ready[0]);",
            "`copy_async` copies between tensors of one shape, not of (64,8) and (8,64)",
        ),
        (
            ALIGNED,
            "copy_async(local_tile(x, (8, 64), (i, 0)), smem::<f32>(tile_to_shape(smem_atom::<f32>(K, SW128), (8, 64))), ready[0]);",
            "`copy_async` keeps the order of bytes, and this tensor is swizzled: `tma_load` and `tma_store` copy swizzled tiles",
        ),
        (
            ALIGNED,
            "copy_async(local_tile(x, (8, 64), (i, 0)), smem::<u32>((8, 64)), ready[0]);",
            "`copy_async` copies between tensors of one element type, not of `u32` and `f32`",
        ),
        (
            ALIGNED,
            "copy_async(x[(i, _)], s[(0, _)], ready[0]);",
            "the extents of this part of `x` are known only when the kernel runs: copy a `local_tile` of it",
        ),
        (
            ALIGNED,
            "copy_async(s, local_tile(x, (8, 64), (i, 0)), ready[0]);",
            "this kind of copy has no such argument",
        ),
        (
            ALIGNED,
            "copy_async_at(s, s, ready[0], 2);",
            "a cluster has the CTAs 0..2, not 2",
        ),
        (
            ALIGNED,
            "copy_async_at(s, select(s, 1, 0), ready[0], 1);",
            "`copy_async_at` copies between tensors of one shape",
        ),
        (
            ALIGNED,
            "copy_async_at(s, 0, ready[0], 1);",
            "`copy_async_at` takes a tensor in shared memory here, not the integer 0",
        ),
        (
            ALIGNED,
            "tma_load_im2col(s);",
            "cannot find function `tma_load_im2col`: tensor maps are tiled here",
        ),
    ] {
        let error = text(facts, body).expect_err(body);
        assert!(error.contains(expected), "{body}: {error}");
    }
}
