//! The kernels beside a plain copy, in one process: medians of interleaved runs. Needs a Hopper GPU. The products are measured by
//! `cargo run --release --example bench_gemm`.
//!
//! `cargo bench -p cute-kernels --bench kernels -- transpose`, `-- rows` or `-- attention`. Without a name, all run.

mod attention;
mod plain_copy;
mod rows;
mod transpose;

use std::error::Error;

use cute_runtime::Device;

fn main() -> Result<(), Box<dyn Error>> {
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
        _ => Err(format!("expected `transpose`, `rows` or `attention`, found `{name}`").into()),
    };
    match words.is_empty() {
        true => ["transpose", "rows", "attention"]
            .into_iter()
            .try_for_each(table),
        false => words.iter().try_for_each(|name| table(name)),
    }
}
