//! The kernels beside a plain copy, in one process: medians of interleaved runs. Needs a Hopper GPU. The products are measured by
//! `cargo run --release --example bench_gemm`.
//!
//! `cargo bench -p cute-kernels --bench kernels -- transpose`, `-- rows`, `-- attention`, `-- launch` or `-- start`. Without a name,
//! all run.

mod attention;
mod launch;
mod plain_copy;
mod rows;
mod start;
mod transpose;

use std::error::Error;
use std::time::Instant;

use cute_runtime::Device;

/// The tables.
const TABLES: [&str; 5] = ["transpose", "rows", "attention", "launch", "start"];

fn main() -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    if std::env::args()
        .nth(1)
        .is_some_and(|word| word == start::FIRST)
    {
        return start::first(start);
    }
    let Ok(device) = Device::cuda(0) else {
        println!("no GPU here: nothing to measure");
        return Ok(());
    };
    // Cargo adds options of its own, which are ignored.
    let words: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'))
        .collect();
    println!("{}", device.name());
    let table = |name: &str| match name {
        "transpose" => transpose::table(&device),
        "rows" => rows::table(&device),
        "attention" => attention::table(&device),
        "launch" => launch::table(&device),
        "start" => start::table(),
        _ => Err(format!("expected one of {}, found `{name}`", TABLES.join(", ")).into()),
    };
    match words.is_empty() {
        true => TABLES.into_iter().try_for_each(table),
        false => words.iter().try_for_each(|name| table(name)),
    }
}
