//! Kernels for other chips than the default one: their targets, and what they are refused for.

use crate::judge;
use cute_chip::Chip;
use cute_lang::kernel::lower::{Lowered, lower};

/// A kernel with these arguments of `#[kernel]` and these statements, or its errors.
fn lowered(arguments: &str, statements: &str) -> Result<Lowered, Vec<String>> {
    let module = format!(
        "mod kernels {{
            #[kernel(threads = 128{arguments})]
            unsafe fn k(t: TmaLoad<bf16, 2>, g: Global<f32, 2>, n: Global<u32, 1>, m: u32, f: f32) {{
                {statements}
            }}
        }}"
    );
    match lower(module.parse().expect("tokens")) {
        Ok(mut instances) => Ok(instances.remove(0)),
        Err(errors) => Err(errors.into_iter().map(|error| error.to_string()).collect()),
    }
}

/// The first error of a kernel for this chip.
fn refusal(chip: &str, statements: &str) -> String {
    match lowered(&format!(", target = \"{chip}\""), statements) {
        Ok(_) => "accepted".into(),
        Err(mut errors) => errors.remove(0),
    }
}

/// The module's target and version are those of the chip, and ptxas for the chip accepts the operations that every chip has.
#[test]
fn general_operations_are_for_every_chip() {
    let statements = "
        let tile = smem::<f32>((32, 32));
        let held = fragment::<f32>(composition(make_identity_layout((32, 32)), layout!((128,8):(1,128))));
        copy(local_tile(g, (32, 32), (block_idx().0, 0)), held);
        copy(held, tile);
        sync_threads();
        let row = reduce(held, 1, max);
        let half = convert::<bf16>(held);
        let halves = smem::<bf16>((32, 32));
        copy(half, halves);
        sync_warp();
        let other = shfl_bfly(f, 1) + tile[(lane(), warp())];
        if vote_any(other > 0.0) { atomic_add(n, 0, 1); }
        let total = redux_add(m);
        g[(0, thread())] = other + row[0] + (total as f32);
        bar_sync(1, 128);";
    for chip in Chip::ALL {
        let arguments = match chip == Chip::DEFAULT {
            true => String::new(),
            false => format!(", target = \"{chip}\""),
        };
        let kernel = lowered(&arguments, statements).unwrap_or_else(|errors| panic!("{errors:#?}"));
        assert_eq!(kernel.module.target, chip.to_string());
        assert!(kernel.module.version >= chip.target.version());
        judge(&[kernel]);
    }
    let small = lowered(", target = \"sm_80\"", "").expect("a kernel");
    assert_eq!(small.module.version, (7, 0));
}

/// What a chip lacks is refused by the name that the user wrote, or by the instruction of an operator.
#[test]
fn what_a_chip_lacks_is_refused_by_name() {
    let tile = "let tile = smem::<bf16>(tile_to_shape(smem_atom::<bf16>(K, SW128), (64, 64)));";
    let half = "let h = f as bf16;";
    for (chip, statements, expected) in [
        (
            "sm_80",
            "let ready = mbarriers(1, 1);",
            "`mbarriers` needs sm_90 for `fence.mbarrier_init.release.cluster`, and the kernel is for sm_80",
        ),
        (
            "sm_80",
            "wgmma_fence();",
            "`wgmma_fence` needs sm_90a for `wgmma.fence.sync.aligned`, and the kernel is for sm_80",
        ),
        (
            "sm_90",
            "wgmma_fence();",
            "`wgmma_fence` needs sm_90a for `wgmma.fence.sync.aligned`, and the kernel is for sm_90",
        ),
        (
            "sm_90",
            "setmaxnreg_inc(256);",
            "`setmaxnreg_inc` needs sm_90a for `setmaxnreg.inc.sync.aligned.u32`, and the kernel is for sm_90",
        ),
        (
            "sm_80",
            "sync_cluster();",
            "`sync_cluster` needs sm_90 for `barrier.cluster.arrive.aligned`, and the kernel is for sm_80",
        ),
        (
            "sm_80",
            "griddepcontrol_wait();",
            "`griddepcontrol_wait` needs sm_90 for `griddepcontrol.wait`, and the kernel is for sm_80",
        ),
        (
            "sm_80",
            &format!("{half} let sum = h + h;"),
            "`add.rn.bf16` needs sm_90, and the kernel is for sm_80",
        ),
        (
            "sm_80",
            "ptx!(\"wgmma.fence.sync.aligned\");",
            "`wgmma.fence.sync.aligned` needs sm_90a, and the kernel is for sm_80",
        ),
        (
            "sm_80",
            "let rank = ptx!(u32: \"mov.u32\", \"%cluster_ctarank\");",
            "`%cluster_ctarank` needs sm_90, and the kernel is for sm_80",
        ),
        ("sm_90", &format!("{half} let sum = h + h;"), "accepted"),
        ("sm_90", "let ready = mbarriers(1, 1);", "accepted"),
        ("sm_90", "sync_cluster();", "accepted"),
        (
            "sm_90",
            &format!(
                "{tile} let ready = mbarriers(1, 1);
                if thread() == 0 {{ expect_tx(ready[0], bytes(tile)); tma_load(t, (0, 0), tile, ready[0]); }}
                wait(ready[0], 0);"
            ),
            "accepted",
        ),
    ] {
        assert_eq!(refusal(chip, statements), expected, "{statements}");
    }
}

/// Each mistake is reported, also after one of these.
#[test]
fn every_lack_of_a_kernel_is_reported() {
    let errors = lowered(
        ", target = \"sm_80\"",
        "wgmma_fence(); sync_cluster(); wgmma_commit();",
    );
    let errors = errors.err().expect("errors");
    let starts = [
        "`wgmma_fence` needs",
        "`sync_cluster` needs",
        "`wgmma_commit` needs",
    ];
    assert_eq!(errors.len(), starts.len(), "{errors:#?}");
    for (error, start) in errors.iter().zip(starts) {
        assert!(error.starts_with(start), "{error}");
    }
}

/// Shared memory, clusters and the numbers of `#[kernel]` have the limits of the chip.
#[test]
fn limits_are_those_of_the_chip() {
    for (chip, bytes, expected) in [
        ("sm_80", 163 << 10, "accepted"),
        (
            "sm_80",
            164 << 10,
            "167936 bytes at offset 0 do not fit shared memory: a CTA has 166912 bytes",
        ),
        ("sm_90", 227 << 10, "accepted"),
        (
            "sm_90",
            228 << 10,
            "233472 bytes at offset 0 do not fit shared memory: a CTA has 232448 bytes",
        ),
    ] {
        let words = bytes / 4;
        let found = refusal(
            chip,
            &format!("let tile = smem::<f32>({words}); tile[thread()] = f;"),
        );
        assert_eq!(found, expected);
    }
    for (arguments, expected) in [
        (
            ", target = \"sm_80\", cluster = (2, 1, 1)",
            "the kernel is for sm_80, which has no clusters",
        ),
        (", target = \"sm_80\", cluster = (1, 1, 1)", "accepted"),
        (", target = \"sm_90\", cluster = (2, 2, 1)", "accepted"),
        (
            ", target = \"sm_90\", cluster = (9, 1, 1)",
            "an extent of `cluster` is 9; it can be 1 to 8",
        ),
        (
            ", target = \"sm_70\"",
            "the target of a kernel is one of `\"sm_90a\"`, `\"sm_90\"`, `\"sm_80\"`",
        ),
        (
            ", target = 80",
            "the target of a kernel is one of `\"sm_90a\"`, `\"sm_90\"`, `\"sm_80\"`",
        ),
        (
            ", arch = \"sm_80\"",
            "expected `threads`, `target`, `cluster`, `resident` or `checked`, found `arch`: the chip is `target = \"sm_90a\"`",
        ),
    ] {
        let found = match lowered(arguments, "") {
            Ok(_) => "accepted".into(),
            Err(mut errors) => errors.remove(0),
        };
        assert_eq!(found, expected, "{arguments}");
    }
}

/// A store by matrices is an instruction of Hopper; other chips store the same elements one by one or in vectors.
#[test]
fn stores_by_matrices_have_a_substitute() {
    let statements = "
        let tile = smem::<bf16>(tile_to_shape(smem_atom::<bf16>(K, SW32), (16, 16)));
        let held = fragment::<bf16>(composition(make_identity_layout((16, 16)), mma_atom(SM80_16x8x16_F32BF16BF16F32_TN, ALayout)));
        copy(tile, held);
        copy(held, tile);";
    for (chip, stores) in [("sm_90a", 1), ("sm_90", 1), ("sm_80", 0)] {
        let kernel = lowered(&format!(", target = \"{chip}\""), statements)
            .unwrap_or_else(|errors| panic!("{errors:#?}"));
        let text = kernel.module.to_string();
        assert_eq!(text.matches("ldmatrix.").count(), 1, "{text}");
        assert_eq!(text.matches("stmatrix.").count(), stores, "{text}");
        judge(&[kernel]);
    }
}
