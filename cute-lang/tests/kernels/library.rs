//! The kernels of `cute-kernels`: their main loop is short. A test of that crate asks ptxas about them.

use super::shipped::{lowered, module};
use cute_lang::kernel::lower::Lowered;

/// The instances of the module in a file of `cute-kernels`.
fn library(file: &str) -> Vec<Lowered> {
    lowered(module(file)).unwrap_or_else(|error| {
        let errors: Vec<String> = error.into_iter().map(|error| error.to_string()).collect();
        panic!("{file}: {}", errors.join("\n"))
    })
}

/// The main loop of the GEMM has few instructions besides its four wgmmas: those of the ring, the descriptors and the
/// loop itself.
#[test]
fn the_main_loop_of_gemm_is_short() {
    let all = library("gemm/kernel.rs");
    // A warpgroup has 64 rows and 80 columns of its tile.
    let is_it = |it: &&Lowered| it.name == "gemm_bf16_bf16_bf16_TILES_46";
    let gemm = all.iter().find(is_it).expect("a tile of 64 x 160");
    let text = gemm.module.to_string();
    let (before, after) = text.split_once("wgmma.commit_group").expect("a batch");
    let head = before.rsplit_once("$for").expect("a loop").1;
    let tail = after.split_once("bra $for").expect("the end of the loop").0;
    let instructions: Vec<&str> = head
        .lines()
        .chain(tail.lines())
        .map(|line| line.split("//").next().unwrap_or(line).trim())
        .filter(|line| line.ends_with(';'))
        .collect();
    for slow in ["div", "rem"] {
        assert!(
            !instructions.iter().any(|line| line.starts_with(slow)),
            "{instructions:#?}"
        );
    }
    let wgmmas = [head, tail].map(|text| text.matches("    wgmma.mma_async").count());
    assert_eq!(wgmmas[0] + wgmmas[1], 4);
    assert!(
        instructions.len() < 60,
        "{} instructions: {instructions:#?}",
        instructions.len()
    );
}

/// Values of a gate are found by their place among those of a thread, so rows in another order are refused.
#[test]
fn a_gate_takes_rows_in_the_order_of_wgmma() {
    let gated = |rows: &str| {
        let module = format!(
            "mod kernels {{
                use crate::parts::epilogue::activation::kernels::gated;
                #[kernel(threads = 128)]
                pub fn gate() {{
                    let rows = {rows};
                    let acc = fragment::<f32>(composition(append(rows, layout!((16):(1@1))), wgmma_c(16)));
                    fill(acc, 1.0);
                    let x = gated(acc, |x| x);
                }}
            }}"
        );
        match lowered(module.parse().expect("tokens")) {
            Ok(_) => "accepted".to_owned(),
            Err(error) => error.to_string(),
        }
    };
    assert_eq!(gated("layout!((64):(1@0))"), "accepted");
    let refused = gated("group(layout!((4,2,2,2,2):(1@0,16@0,4@0,8@0,32@0)), 0, 5)");
    let why = "thread 16 begins at 4 along mode 0 in one fragment, and at 16 in the other: `redistribute` one";
    assert!(refused.contains(why), "{refused}");
}

/// An epilogue stores all columns of the accumulators, or is refused.
#[test]
fn epilogues_drop_no_columns() {
    let stored = |columns: u32, output: &str, store: &str| {
        let eighths = columns / 8;
        let module = format!(
            "mod kernels {{
                use crate::parts::epilogue::store::kernels::{{store_by_tma, store_by_vector}};
                #[kernel(threads = 128)]
                pub unsafe fn store(d: Global<{output}, 2>, t: TmaStore<{output}, 2>) {{
                    let held = layout!(((4,8,4),(2,2,{eighths})):((2@1,1@0,16@0),(1@1,8@0,8@1)));
                    let acc = fragment::<f32>(held);
                    fill(acc, 0.0);
                    {store};
                }}
            }}"
        );
        match lowered(module.parse().expect("tokens")) {
            Ok(_) => "stored".to_owned(),
            Err(error) => error.to_string(),
        }
    };
    let by_vector = "store_by_vector(acc, d, 0, 0)";
    assert_eq!(stored(128, "bf16", by_vector), "stored");
    let refused = stored(96, "bf16", by_vector);
    assert!(
        refused.contains("96 accumulators, which is no multiple of 64"),
        "{refused}"
    );

    let by_tma = "store_by_tma(acc, t, 0, (0, 0, 0))";
    assert_eq!(stored(48, "bf16", by_tma), "stored");
    assert_eq!(stored(24, "bf16", by_tma), "stored");
    let refused = stored(24, "e4m3", by_tma);
    assert!(
        refused.contains("192 bits, which is no multiple of 128"),
        "{refused}"
    );
}
