//! The PTX of every instance: the instructions that it should have, and NVIDIA's assembler's report.

use cute_kernels::gemm::kernels as gemm;
use cute_kernels::gemm::{grouped, linear, list, scaled};
use cute_kernels::transpose::kernels as transpose;
use cute_kernels::{attention, elementwise, histogram, norm, pack, softmax, sum};
use cute_ptxas::Ptxas;
use cute_runtime::Kernel;
use rayon::prelude::*;

/// Name and PTX of each instance.
fn instances() -> Vec<(&'static str, &'static str)> {
    [
        attention::kernels::KERNELS,
        gemm::KERNELS,
        linear::kernels::KERNELS,
        scaled::kernels::KERNELS,
        grouped::kernels::KERNELS,
        list::kernels::KERNELS,
        norm::kernels::KERNELS,
        pack::kernels::KERNELS,
        softmax::kernels::KERNELS,
        sum::kernels::KERNELS,
        histogram::kernels::KERNELS,
        elementwise::kernels::KERNELS,
        transpose::KERNELS,
    ]
    .concat()
}

#[test]
fn ptxas_has_nothing_to_say() {
    let Some(ptxas) = Ptxas::find() else {
        println!("no ptxas here: `.ci/install-ptxas` fetches it");
        return;
    };
    instances().par_iter().for_each(|(name, ptx)| {
        let report = ptxas.assemble(ptx, "sm_90a").unwrap();
        assert!(
            report.complaints().is_empty(),
            "{name}: {:?}",
            report.complaints()
        );
        assert_eq!(report.entries.len(), 1, "{name}");
    });
}

#[test]
fn ptx_is_what_the_parser_reads() {
    for (name, ptx) in instances() {
        let module: cute_ptx::ast::Module = ptx.parse().unwrap();
        assert_eq!(module.to_string().trim(), ptx.trim(), "{name}");
    }
}

#[test]
fn gemm_shows_what_a_reader_looks_for() {
    let ptx = gemm::gemm_bf16_bf16_bf16_SINGLE::PTX;
    for text in [
        ".version 8.0\n.target sm_90a",
        ".visible .entry gemm_bf16_bf16_bf16_SINGLE(",
        ".param .align 64 .b8 a[128]",
        ".reqntid 384, 1, 1",
        "// shared memory 0..65536, sa: bf16 at Sw<3,3,3> o 0 o ((8,16),(64,1),(1,4)):((64,512),(1,0),(0,8192))",
        "// tensor map a: bf16, boxes of [1, 128, 64], SW128",
        "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [",
        "mbarrier.try_wait.parity.shared::cta.b64",
        "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {",
        "setmaxnreg.inc.sync.aligned.u32 232;",
        "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [",
        "fence.proxy.async",
    ] {
        assert!(ptx.contains(text), "no `{text}`");
    }
    // One k-tile of 64: four instructions of 16, and no others.
    assert_eq!(ptx.matches("wgmma.mma_async").count(), 4);
}

#[test]
fn a_pair_shares_the_rows_of_b() {
    let ptx = gemm::gemm_bf16_bf16_bf16_PAIR::PTX;
    for text in [
        ".multicast::cluster [",
        "// tensor map b: bf16, boxes of [1, 128, 64], SW128",
        "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64",
        "mbarrier.arrive.shared::cluster.b64",
    ] {
        assert!(ptx.contains(text), "no `{text}`");
    }
    assert!(!gemm::gemm_bf16_bf16_bf16_SINGLE::PTX.contains("cluster_ctarank"));
}

#[test]
fn transpose_moves_vectors() {
    let ptx = transpose::transpose_f32::PTX;
    assert_eq!(ptx.matches("ld.shared.v4.").count(), 4);
    assert_eq!(ptx.matches("st.shared.v4.").count(), 4);
    assert!(!ptx.contains("ld.global") && !ptx.contains("st.global"));
}
