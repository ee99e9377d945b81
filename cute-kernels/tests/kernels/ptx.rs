//! The PTX of every instance: the instructions that it should have, and NVIDIA's assembler's report.

use cute_kernels::attention::kernels as attention;
use cute_kernels::elementwise::kernels as elementwise;
use cute_kernels::gemm::grouped::kernels as grouped;
use cute_kernels::gemm::kernels as gemm;
use cute_kernels::gemm::linear::kernels as linear;
use cute_kernels::gemm::scaled::kernels as scaled;
use cute_kernels::histogram::kernels as histogram;
use cute_kernels::norm::kernels as norm;
use cute_kernels::pack::kernels as pack;
use cute_kernels::softmax::kernels as softmax;
use cute_kernels::sum::kernels as sum;
use cute_kernels::transpose::kernels as transpose;
use cute_ptxas::Ptxas;
use cute_runtime::Kernel;
use rayon::prelude::*;

/// Name and PTX of each instance.
fn instances() -> Vec<(&'static str, &'static str)> {
    macro_rules! list {
        ($($instance:path),* $(,)?) => { vec![$((<$instance>::NAME, <$instance>::PTX)),*] };
    }
    list![
        attention::attention_64_false,
        attention::attention_64_true,
        attention::attention_128_false,
        attention::attention_128_true,
        gemm::gemm_bf16_bf16_bf16_SINGLE,
        gemm::gemm_bf16_bf16_bf16_PAIR,
        gemm::gemm_bf16_bf16_f32_SINGLE,
        gemm::gemm_bf16_bf16_f32_PAIR,
        gemm::gemm_f16_f16_f16_SINGLE,
        gemm::gemm_f16_f16_f16_PAIR,
        gemm::gemm_f16_f16_f32_SINGLE,
        gemm::gemm_f16_f16_f32_PAIR,
        gemm::gemm_tf32_tf32_f32_SINGLE,
        gemm::gemm_tf32_tf32_f32_PAIR,
        gemm::gemm_e4m3_e4m3_bf16_SINGLE,
        gemm::gemm_e4m3_e4m3_bf16_PAIR,
        gemm::gemm_e4m3_e4m3_f32_SINGLE,
        gemm::gemm_e4m3_e4m3_f32_PAIR,
        gemm::gemm_e4m3_e5m2_bf16_SINGLE,
        gemm::gemm_e4m3_e5m2_bf16_PAIR,
        gemm::gemm_e4m3_e5m2_f32_SINGLE,
        gemm::gemm_e4m3_e5m2_f32_PAIR,
        gemm::gemm_e5m2_e4m3_bf16_SINGLE,
        gemm::gemm_e5m2_e4m3_bf16_PAIR,
        gemm::gemm_e5m2_e4m3_f32_SINGLE,
        gemm::gemm_e5m2_e4m3_f32_PAIR,
        gemm::gemm_e5m2_e5m2_bf16_SINGLE,
        gemm::gemm_e5m2_e5m2_bf16_PAIR,
        gemm::gemm_e5m2_e5m2_f32_SINGLE,
        gemm::gemm_e5m2_e5m2_f32_PAIR,
        gemm::gemm_i8_i8_i32_SINGLE,
        gemm::gemm_i8_i8_i32_PAIR,
        gemm::gemm_bf16_bf16_bf16_WIDE,
        gemm::gemm_bf16_bf16_bf16_OBLONG,
        gemm::gemm_bf16_bf16_bf16_SQUARE,
        gemm::gemm_bf16_bf16_bf16_MEDIUM,
        gemm::gemm_bf16_bf16_bf16_NARROW,
        gemm::gemm_bf16_bf16_bf16_THIN,
        gemm::gemm_bf16_bf16_bf16_FEW,
        gemm::gemm_bf16_bf16_bf16_WHOLE,
        gemm::gemm_bf16_bf16_bf16_WHOLE_96,
        gemm::gemm_bf16_bf16_bf16_SINGLE_NN,
        gemm::gemm_bf16_bf16_bf16_SINGLE_NT,
        gemm::gemm_bf16_bf16_bf16_SINGLE_TT,
        gemm::gemm_bf16_bf16_bf16_SQUARE_NN,
        gemm::gemm_bf16_bf16_bf16_SQUARE_NT,
        gemm::gemm_bf16_bf16_bf16_SQUARE_TT,
        gemm::gemm_f16_f16_f16_WIDE,
        gemm::gemm_f16_f16_f16_OBLONG,
        gemm::gemm_f16_f16_f16_SQUARE,
        gemm::gemm_f16_f16_f16_MEDIUM,
        gemm::gemm_f16_f16_f16_NARROW,
        gemm::gemm_f16_f16_f16_THIN,
        gemm::gemm_f16_f16_f16_FEW,
        gemm::gemm_f16_f16_f16_WHOLE,
        gemm::gemm_f16_f16_f16_WHOLE_96,
        gemm::gemm_f16_f16_f16_SINGLE_NN,
        gemm::gemm_f16_f16_f16_SINGLE_NT,
        gemm::gemm_f16_f16_f16_SINGLE_TT,
        gemm::gemm_f16_f16_f16_SQUARE_NN,
        gemm::gemm_f16_f16_f16_SQUARE_NT,
        gemm::gemm_f16_f16_f16_SQUARE_TT,
        gemm::gemm_bf16_bf16_f32_SQUARE,
        gemm::gemm_bf16_bf16_f32_MEDIUM,
        gemm::gemm_bf16_bf16_f32_NARROW,
        gemm::gemm_bf16_bf16_f32_THIN,
        gemm::gemm_bf16_bf16_f32_FEW,
        gemm::gemm_bf16_bf16_f32_WHOLE,
        gemm::gemm_bf16_bf16_f32_WHOLE_96,
        gemm::gemm_unaligned_bf16_bf16_bf16_PAIR,
        gemm::gemm_unaligned_bf16_bf16_f32_PAIR,
        gemm::gemm_unaligned_f16_f16_f16_PAIR,
        gemm::gemm_unaligned_f16_f16_f32_PAIR,
        gemm::gemm_unaligned_tf32_tf32_f32_PAIR,
        gemm::gemm_unaligned_e4m3_e4m3_bf16_PAIR,
        gemm::gemm_unaligned_e4m3_e4m3_f32_PAIR,
        gemm::gemm_unaligned_e4m3_e5m2_bf16_PAIR,
        gemm::gemm_unaligned_e4m3_e5m2_f32_PAIR,
        gemm::gemm_unaligned_e5m2_e4m3_bf16_PAIR,
        gemm::gemm_unaligned_e5m2_e4m3_f32_PAIR,
        gemm::gemm_unaligned_e5m2_e5m2_bf16_PAIR,
        gemm::gemm_unaligned_e5m2_e5m2_f32_PAIR,
        gemm::gemm_unaligned_i8_i8_i32_PAIR,
        linear::gemm_linear_bf16_bf16_SQUARE,
        linear::gemm_linear_bf16_bf16_NARROW,
        linear::gemm_linear_bf16_f32_SQUARE,
        linear::gemm_linear_bf16_f32_NARROW,
        linear::gemm_linear_f16_f16_SQUARE,
        linear::gemm_linear_f16_f16_NARROW,
        linear::gemm_linear_unaligned_bf16_bf16_SQUARE,
        linear::gemm_linear_unaligned_bf16_f32_SQUARE,
        linear::gemm_linear_unaligned_f16_f16_SQUARE,
        linear::gemm_update_bf16_bf16_SQUARE,
        linear::gemm_update_bf16_f32_SQUARE,
        linear::gemm_update_f16_f16_SQUARE,
        scaled::gemm_scaled_e4m3_SINGLE,
        scaled::gemm_scaled_e4m3_NARROW,
        scaled::gemm_scaled_i8_SINGLE,
        scaled::gemm_scaled_i8_NARROW,
        scaled::gemm_block_scaled_SQUARE_PROMOTED,
        scaled::gemm_block_scaled_NARROW_PROMOTED,
        grouped::gemm_grouped_bf16_bf16_SINGLE,
        grouped::gemm_grouped_bf16_bf16_SQUARE,
        grouped::gemm_grouped_bf16_bf16_WHOLE,
        grouped::gemm_grouped_f16_f16_SINGLE,
        grouped::gemm_grouped_f16_f16_SQUARE,
        grouped::gemm_grouped_f16_f16_WHOLE,
        grouped::gemm_grouped_unaligned_bf16_bf16_SQUARE,
        grouped::gemm_grouped_unaligned_f16_f16_SQUARE,
        norm::layer_norm_bf16_ROW_1024,
        norm::layer_norm_bf16_ROW_1536,
        norm::layer_norm_bf16_ROW_2048,
        norm::layer_norm_bf16_ROW_3072,
        norm::layer_norm_bf16_ROW_4096,
        norm::layer_norm_bf16_ROW_6144,
        norm::layer_norm_bf16_ROW_8192,
        norm::layer_norm_bf16_ROW_12288,
        norm::layer_norm_bf16_ROW_16384,
        norm::layer_norm_bf16_ANY_1017,
        norm::layer_norm_bf16_ANY_2041,
        norm::layer_norm_bf16_ANY_6137,
        norm::layer_norm_bf16_ANY_12281,
        norm::layer_norm_long_bf16_ROW_LONG,
        norm::layer_norm_long_bf16_ANY_LONG,
        norm::layer_norm_f16_ROW_1024,
        norm::layer_norm_f16_ROW_1536,
        norm::layer_norm_f16_ROW_2048,
        norm::layer_norm_f16_ROW_3072,
        norm::layer_norm_f16_ROW_4096,
        norm::layer_norm_f16_ROW_6144,
        norm::layer_norm_f16_ROW_8192,
        norm::layer_norm_f16_ROW_12288,
        norm::layer_norm_f16_ROW_16384,
        norm::layer_norm_f16_ANY_1017,
        norm::layer_norm_f16_ANY_2041,
        norm::layer_norm_f16_ANY_6137,
        norm::layer_norm_f16_ANY_12281,
        norm::layer_norm_long_f16_ROW_LONG,
        norm::layer_norm_long_f16_ANY_LONG,
        norm::layer_norm_f32_ROW_1024,
        norm::layer_norm_f32_ROW_1536,
        norm::layer_norm_f32_ROW_2048,
        norm::layer_norm_f32_ROW_3072,
        norm::layer_norm_f32_ROW_4096,
        norm::layer_norm_f32_ROW_6144,
        norm::layer_norm_f32_ROW_8192,
        norm::layer_norm_f32_ROW_12288,
        norm::layer_norm_f32_ROW_16384,
        norm::layer_norm_f32_ANY_1017,
        norm::layer_norm_f32_ANY_2041,
        norm::layer_norm_f32_ANY_6137,
        norm::layer_norm_f32_ANY_12281,
        norm::layer_norm_long_f32_ROW_LONG,
        norm::layer_norm_long_f32_ANY_LONG,
        norm::rms_norm_bf16_ROW_1024,
        norm::rms_norm_bf16_ROW_1536,
        norm::rms_norm_bf16_ROW_2048,
        norm::rms_norm_bf16_ROW_3072,
        norm::rms_norm_bf16_ROW_4096,
        norm::rms_norm_bf16_ROW_6144,
        norm::rms_norm_bf16_ROW_8192,
        norm::rms_norm_bf16_ROW_12288,
        norm::rms_norm_bf16_ROW_16384,
        norm::rms_norm_bf16_ANY_1017,
        norm::rms_norm_bf16_ANY_2041,
        norm::rms_norm_bf16_ANY_6137,
        norm::rms_norm_bf16_ANY_12281,
        norm::rms_norm_long_bf16_ROW_LONG,
        norm::rms_norm_long_bf16_ANY_LONG,
        norm::rms_norm_f16_ROW_1024,
        norm::rms_norm_f16_ROW_1536,
        norm::rms_norm_f16_ROW_2048,
        norm::rms_norm_f16_ROW_3072,
        norm::rms_norm_f16_ROW_4096,
        norm::rms_norm_f16_ROW_6144,
        norm::rms_norm_f16_ROW_8192,
        norm::rms_norm_f16_ROW_12288,
        norm::rms_norm_f16_ROW_16384,
        norm::rms_norm_f16_ANY_1017,
        norm::rms_norm_f16_ANY_2041,
        norm::rms_norm_f16_ANY_6137,
        norm::rms_norm_f16_ANY_12281,
        norm::rms_norm_long_f16_ROW_LONG,
        norm::rms_norm_long_f16_ANY_LONG,
        norm::rms_norm_f32_ROW_1024,
        norm::rms_norm_f32_ROW_1536,
        norm::rms_norm_f32_ROW_2048,
        norm::rms_norm_f32_ROW_3072,
        norm::rms_norm_f32_ROW_4096,
        norm::rms_norm_f32_ROW_6144,
        norm::rms_norm_f32_ROW_8192,
        norm::rms_norm_f32_ROW_12288,
        norm::rms_norm_f32_ROW_16384,
        norm::rms_norm_f32_ANY_1017,
        norm::rms_norm_f32_ANY_2041,
        norm::rms_norm_f32_ANY_6137,
        norm::rms_norm_f32_ANY_12281,
        norm::rms_norm_long_f32_ROW_LONG,
        norm::rms_norm_long_f32_ANY_LONG,
        pack::pack_bf16_false,
        pack::pack_bf16_true,
        pack::pack_f16_false,
        pack::pack_f16_true,
        pack::pack_f32_false,
        pack::pack_f32_true,
        pack::pack_e4m3_false,
        pack::pack_e4m3_true,
        pack::pack_e5m2_false,
        pack::pack_e5m2_true,
        pack::pack_i8_false,
        pack::pack_i8_true,
        pack::unpack_bf16,
        softmax::softmax_bf16_ROW_1024,
        softmax::softmax_bf16_ROW_1536,
        softmax::softmax_bf16_ROW_2048,
        softmax::softmax_bf16_ROW_3072,
        softmax::softmax_bf16_ROW_4096,
        softmax::softmax_bf16_ROW_6144,
        softmax::softmax_bf16_ROW_8192,
        softmax::softmax_bf16_ROW_12288,
        softmax::softmax_bf16_ROW_16384,
        softmax::softmax_bf16_ANY_1017,
        softmax::softmax_bf16_ANY_2041,
        softmax::softmax_bf16_ANY_6137,
        softmax::softmax_bf16_ANY_12281,
        softmax::softmax_long_bf16_ROW_LONG,
        softmax::softmax_long_bf16_ANY_LONG,
        softmax::softmax_f16_ROW_1024,
        softmax::softmax_f16_ROW_1536,
        softmax::softmax_f16_ROW_2048,
        softmax::softmax_f16_ROW_3072,
        softmax::softmax_f16_ROW_4096,
        softmax::softmax_f16_ROW_6144,
        softmax::softmax_f16_ROW_8192,
        softmax::softmax_f16_ROW_12288,
        softmax::softmax_f16_ROW_16384,
        softmax::softmax_f16_ANY_1017,
        softmax::softmax_f16_ANY_2041,
        softmax::softmax_f16_ANY_6137,
        softmax::softmax_f16_ANY_12281,
        softmax::softmax_long_f16_ROW_LONG,
        softmax::softmax_long_f16_ANY_LONG,
        softmax::softmax_f32_ROW_1024,
        softmax::softmax_f32_ROW_1536,
        softmax::softmax_f32_ROW_2048,
        softmax::softmax_f32_ROW_3072,
        softmax::softmax_f32_ROW_4096,
        softmax::softmax_f32_ROW_6144,
        softmax::softmax_f32_ROW_8192,
        softmax::softmax_f32_ROW_12288,
        softmax::softmax_f32_ROW_16384,
        softmax::softmax_f32_ANY_1017,
        softmax::softmax_f32_ANY_2041,
        softmax::softmax_f32_ANY_6137,
        softmax::softmax_f32_ANY_12281,
        softmax::softmax_long_f32_ROW_LONG,
        softmax::softmax_long_f32_ANY_LONG,
        sum::sum_rows_bf16_ROW_1024,
        sum::sum_rows_bf16_ROW_2048,
        sum::sum_rows_bf16_ROW_4096,
        sum::sum_rows_bf16_ROW_8192,
        sum::sum_rows_bf16_ANY_1017,
        sum::sum_rows_bf16_ANY_6137,
        sum::sum_rows_f16_ROW_1024,
        sum::sum_rows_f16_ROW_2048,
        sum::sum_rows_f16_ROW_4096,
        sum::sum_rows_f16_ROW_8192,
        sum::sum_rows_f16_ANY_1017,
        sum::sum_rows_f16_ANY_6137,
        sum::sum_rows_f32_ROW_1024,
        sum::sum_rows_f32_ROW_2048,
        sum::sum_rows_f32_ROW_4096,
        sum::sum_rows_f32_ROW_8192,
        sum::sum_rows_f32_ANY_1017,
        sum::sum_rows_f32_ANY_6137,
        sum::sum_bf16_ROW_8192,
        sum::sum_bf16_ANY_6137,
        sum::sum_f16_ROW_8192,
        sum::sum_f16_ANY_6137,
        sum::sum_f32_ROW_8192,
        sum::sum_f32_ANY_6137,
        histogram::histogram_16,
        histogram::histogram_1,
        elementwise::saxpy_4,
        elementwise::saxpy_1,
        transpose::transpose_bf16,
        transpose::transpose_f16,
        transpose::transpose_f32,
        transpose::transpose_u32,
        transpose::transpose_unaligned_bf16,
        transpose::transpose_unaligned_f16,
        transpose::transpose_unaligned_f32,
        transpose::transpose_unaligned_u32,
    ]
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
