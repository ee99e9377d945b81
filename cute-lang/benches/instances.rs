//! How long it takes to lower the instances of `cute-kernels`, which is what a build of that crate pays for each, and how long their
//! PTX is.
//!
//! ```sh
//! cargo bench -p cute-lang --bench instances                                            # as this workspace builds macros
//! cargo bench -p cute-lang --bench instances --config 'profile.bench.opt-level=0'       # as cargo builds them elsewhere
//! cargo bench -p cute-lang --bench instances -- softmax norm                            # files with these names
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
    "gemm/kernel.rs",
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
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let wanted: Vec<_> = wanted.iter().filter(|it| !it.starts_with("--")).collect();
    println!(
        "{:<18} {:>9} {:>9} {:>12} {:>13}",
        "file", "instances", "ms", "ms/instance", "KiB/instance"
    );
    for file in FILES {
        if !wanted.is_empty() && !wanted.iter().any(|name| file.contains(&**name)) {
            continue;
        }
        let tokens = module(file);
        let run = || {
            let start = Instant::now();
            let instances = lowered(tokens.clone()).expect("the kernels of cute-kernels");
            (start.elapsed().as_secs_f64() * 1e3, instances)
        };
        let (first, instances) = run();
        let ms = (1..RUNS).map(|_| run().0).fold(first, f64::min);
        if !instances.is_empty() {
            let count = instances.len();
            let texts = instances.iter().map(|instance| instance.module.to_string());
            let kib = texts.map(|text| text.len()).sum::<usize>() as f64 / 1024.0 / count as f64;
            let each = ms / count as f64;
            println!("{file:<18} {count:>9} {ms:>9.1} {each:>12.1} {kib:>13.1}");
        }
    }
}
