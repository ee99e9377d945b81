//! How long it takes to lower the instances of `cute-kernels`, which is what a build of that crate pays for each.
//!
//! ```sh
//! cargo bench -p cute-lang --bench instances                                            # as this workspace builds macros
//! cargo bench -p cute-lang --bench instances --config 'profile.bench.opt-level=0'       # as cargo builds them elsewhere
//! ```

#[path = "../tests/kernels/shipped.rs"]
mod shipped;

use shipped::{lowered, module};
use std::time::Instant;

/// The files with kernels.
const FILES: [&str; 16] = [
    "attention.rs",
    "elementwise.rs",
    "gemm/grouped.rs",
    "gemm/linear.rs",
    "gemm/list.rs",
    "gemm/product.rs",
    "gemm/scaled.rs",
    "gemm/streamed.rs",
    "histogram.rs",
    "norm.rs",
    "pack.rs",
    "quantise.rs",
    "row.rs",
    "softmax.rs",
    "sum.rs",
    "transpose.rs",
];

/// Runs; the fastest counts.
const RUNS: usize = 3;

fn main() {
    println!(
        "{:<18} {:>9} {:>9} {:>12}",
        "file", "instances", "ms", "ms/instance"
    );
    for file in FILES {
        let tokens = module(file);
        let run = || {
            let start = Instant::now();
            let instances = lowered(tokens.clone()).expect("the kernels of cute-kernels");
            (start.elapsed().as_secs_f64() * 1e3, instances.len())
        };
        let runs = (0..RUNS).map(|_| run());
        let (ms, instances) = runs.fold((f64::INFINITY, 0), |best, run| (best.0.min(run.0), run.1));
        if instances > 0 {
            let each = ms / instances as f64;
            println!("{file:<18} {instances:>9} {ms:>9.1} {each:>12.1}");
        }
    }
}
