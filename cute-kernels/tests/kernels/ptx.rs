//! The PTX of every instance: the instructions that it should have, and NVIDIA's assembler's report.

use std::collections::BTreeSet;
use std::fmt::Display;

use cute_kernels::gemm::kernels as gemm;
use cute_kernels::gemm::streamed;
use cute_kernels::transpose::kernels as transpose;
use cute_ptx::ast::{Item, Line};
use cute_ptx::claims::{Claims, Malformed, Note, Statement};
use cute_ptxas::Ptxas;
use cute_runtime::Kernel;
use rayon::prelude::*;

use crate::covering::{self, aspects, whole};
use crate::shipped::instances;

#[test]
fn ptxas_has_nothing_to_say() {
    let Some(ptxas) = Ptxas::find() else {
        println!("no ptxas here: `.ci/install-ptxas` fetches it");
        return;
    };
    let found: Vec<String> = covering::instances(&instances())
        .par_iter()
        .flat_map(|(name, ptx)| {
            let report = ptxas.assemble(ptx, "sm_90a").unwrap();
            assert_eq!(report.entries.len(), 1, "{name}");
            report.complaints()
        })
        .collect();
    assert!(found.is_empty(), "{found:#?}");
}

/// The assembler sees each kernel with each of its types, and with each of its constants.
#[test]
fn the_covering_set_covers() {
    let all = instances();
    let chosen = covering::instances(&all);
    let of = |instances: &[(&'static str, &'static str)]| -> BTreeSet<_> {
        let aspects = instances.iter().flat_map(|(name, _)| aspects(name));
        aspects.collect()
    };
    let (covered, existing) = (of(&chosen), of(&all));
    println!(
        "the assembler judges {} of {} instances: {} of {} pairs of a kernel and its types or constants",
        chosen.len(),
        all.len(),
        covered.len(),
        existing.len()
    );
    assert_eq!(covered, existing);
    assert!(whole() || 2 * chosen.len() < all.len());
}

#[test]
fn ptx_is_what_the_parser_reads() {
    for (name, ptx) in instances() {
        let module: cute_ptx::ast::Module = ptx.parse().unwrap();
        assert_eq!(module.to_string().trim(), ptx.trim(), "{name}");
    }
}

/// Every claim and note of the shipped kernels is read back as it is written, and no comment that begins like one is for readers alone.
#[test]
fn comments_are_what_the_emulator_reads() {
    let mut read = [0; 3];
    for (name, ptx) in instances() {
        let module: cute_ptx::ast::Module = ptx.parse().unwrap();
        for item in &module.items {
            match item {
                Item::Comment(text) => read[0] += same(name, text, Note::read(text)),
                Item::Entry(entry) => {
                    for line in &entry.body {
                        match line {
                            Line::Comment(text) => {
                                read[1] += same(name, text, Statement::read(text))
                            }
                            Line::Inst(inst) => {
                                if let Some(text) = &inst.comment {
                                    let found = same(name, text, Claims::read(text));
                                    assert_eq!(found, 1, "{name}: {text} claims nothing");
                                    read[2] += found;
                                }
                            }
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
        }
    }
    assert!(read.iter().all(|count| *count > 1000), "{read:?}");
}

/// How many claims a comment is, which is written as it was read.
fn same<T: Display>(name: &str, text: &str, read: Result<Option<T>, Malformed>) -> usize {
    match read {
        Ok(Some(read)) => {
            assert_eq!(read.to_string(), text, "{name}");
            1
        }
        Ok(None) => 0,
        Err(error) => panic!("{name}: {error}"),
    }
}

/// CUDA 12.4 brought version 8.4 of PTX, so the README says that its driver reads all kernels.
#[test]
fn the_latest_version_of_ptx_is_8_4() {
    let version = |(name, ptx): (&str, &'static str)| -> (u32, u32) {
        let version = ptx.lines().find_map(|line| line.strip_prefix(".version "));
        let (major, minor) = version.and_then(|text| text.split_once('.')).expect(name);
        (major.parse().unwrap(), minor.parse().unwrap())
    };
    assert_eq!(instances().into_iter().map(version).max(), Some((8, 4)));
}

#[test]
fn gemm_shows_what_a_reader_looks_for() {
    let ptx = gemm::gemm_e4m3_e5m2_bf16_COMMON_0::PTX;
    for text in [
        ".version 8.0\n.target sm_90a",
        ".visible .entry gemm_e4m3_e5m2_bf16_COMMON_0(",
        ".param .align 64 .b8 a[128]",
        ".reqntid 384, 1, 1",
        "// shared memory 0..65536, sa: e4m3 at Sw<3,4,3> o 0 o ((8,16),(128,1),(1,4)):((128,1024),(1,0),(0,16384))",
        "// tensor map a: e4m3, boxes of [1, 128, 128], SW128",
        "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [",
        "mbarrier.try_wait.parity.shared::cta.b64",
        "wgmma.mma_async.sync.aligned.m64n256k32.f32.e4m3.e5m2 {",
        "setmaxnreg.inc.sync.aligned.u32 232;",
        "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [",
        "fence.proxy.async",
    ] {
        assert!(ptx.contains(text), "no `{text}`");
    }
    // One k-tile of 128: four instructions of 32, and no others.
    assert_eq!(ptx.matches("wgmma.mma_async").count(), 4);
}

#[test]
fn a_pair_shares_the_rows_of_b() {
    let ptx = gemm::gemm_e4m3_e5m2_bf16_COMMON_1::PTX;
    for text in [
        ".multicast::cluster [",
        "// tensor map b: e5m2, boxes of [1, 128, 128], SW128",
        "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64",
        "mbarrier.arrive.shared::cluster.b64",
    ] {
        assert!(ptx.contains(text), "no `{text}`");
    }
    assert!(!gemm::gemm_e4m3_e5m2_bf16_COMMON_0::PTX.contains("cluster_ctarank"));
}

/// A thread of a product of few rows has 8 vectors of B on their way before it multiplies the first, or while it multiplies as many
/// others, so that 64 KiB or more are on their way to a multiprocessor, and registers hold them all beside what they are multiplied by.
#[test]
fn streams_load_before_they_multiply() {
    use streamed::kernels::{FP8_8, FP8_16, KERNELS, ROWS_8, ROWS_16, WARPS};
    // Registers are counted in some of them.
    let assembled = covering::instances(KERNELS);
    for (instances, sizes, all) in [
        ("_ROWS_8", ROWS_8, 9),
        ("_ROWS_16", ROWS_16, 9),
        ("_FP8_8", FP8_8, 8),
        ("_FP8_16", FP8_16, 8),
    ] {
        // Parts of K that registers hold, and places in the text that load one.
        let (parts, places) = if sizes.ahead { (2, 3) } else { (1, 1) };
        let of_b = sizes.vectors * sizes.columns / 8;
        let of_a = sizes.vectors * sizes.rows / 8;
        assert_eq!(of_b, 8);
        assert!(sizes.resident * 32 * WARPS * of_b * 16 >= 64 << 10);
        let accumulators = sizes.rows * sizes.columns / 32;
        let held = parts * 4 * (of_a + of_b) + accumulators;
        let most = 65_536 / (sizes.resident * 32 * WARPS);
        let mut found = 0;
        for (name, ptx) in KERNELS.iter().filter(|(name, _)| name.ends_with(instances)) {
            let (_, body) = ptx.split_once("$while:").unwrap();
            let (loads, _) = body.split_once("mma.sync").unwrap();
            let count = |what| loads.matches(what).count() as u32;
            assert_eq!(
                count("ld.global.L1::no_allocate.L2::256B.v4.b32"),
                of_b,
                "{name}"
            );
            assert_eq!(count("ld.global.L1::evict_last.v4.b32"), of_a, "{name}");
            assert_eq!(
                ptx.matches("ld.global").count() as u32,
                places * (of_a + of_b),
                "{name}"
            );
            if assembled.contains(&(name, ptx))
                && let Some(ptxas) = Ptxas::find()
            {
                let report = ptxas.assemble(ptx, "sm_90a").unwrap();
                let registers = report.entries[0].registers;
                assert!((held..=most).contains(&registers), "{name}: {registers}");
            }
            found += 1;
        }
        assert_eq!(found, all);
    }
}

#[test]
fn transpose_moves_vectors() {
    let ptx = transpose::transpose_f32::PTX;
    assert_eq!(ptx.matches("ld.shared.v4.").count(), 4);
    assert_eq!(ptx.matches("st.shared.v4.").count(), 4);
    assert!(!ptx.contains("ld.global") && !ptx.contains("st.global"));
}
