//! The kernels beside a plain copy, in one process: medians of interleaved runs. Needs a Hopper GPU. The products are measured by
//! `cargo run --release -p cute-kernels --features all --example bench_gemm`.
//!
//! `cargo bench -p cute-kernels --features all --bench kernels -- transpose`, `-- rows`, `-- attention`, `-- launch`, `-- start` or `-- host`, which
//! needs no GPU. Without a name, all run.

mod attention;
mod host;
mod launch;
mod plain_copy;
mod rows;
mod start;
mod transpose;

use std::error::Error;
use std::time::Instant;

use cute_runtime::Device;

/// The tables.
const TABLES: [&str; 6] = ["transpose", "rows", "attention", "launch", "start", "host"];

fn main() -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    // Cargo adds options of its own, which are ignored.
    let words: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'))
        .collect();
    match words.first().map(String::as_str) {
        Some(start::FIRST) => return start::first(start),
        Some(host::CHILD) => return host::child(),
        _ => {}
    }
    let device = Device::cuda(0);
    match &device {
        Ok(device) => println!("{}", device.name()),
        Err(error) => println!("no GPU here, so only `host` is measured: {error}"),
    }
    let table = |name: &str| match (name, &device) {
        ("host", _) => host::table(),
        (name, Err(_)) if TABLES.contains(&name) => Ok(()),
        ("transpose", Ok(device)) => transpose::table(device),
        ("rows", Ok(device)) => rows::table(device),
        ("attention", Ok(device)) => attention::table(device),
        ("launch", Ok(device)) => launch::table(device),
        ("start", Ok(_)) => start::table(),
        _ => Err(format!("expected one of {}, found `{name}`", TABLES.join(", ")).into()),
    };
    match words.is_empty() {
        true => TABLES.into_iter().try_for_each(table),
        false => words.iter().try_for_each(|name| table(name)),
    }
}
