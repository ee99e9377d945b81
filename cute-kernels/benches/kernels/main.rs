//! The kernels beside cuBLASLt and a plain copy, in one process: medians of interleaved runs. Needs a Hopper GPU.
//!
//! `cargo bench -p cute-kernels --bench kernels -- gemm [M,N,K …]` `-- transpose`, `-- rows` or `-- attention`. Without a name, all run.

mod attention;
mod cublaslt;
mod gemm;
mod plain_copy;
mod rows;
mod transpose;

use std::error::Error;
use std::time::Duration;

use cute_runtime::Device;

/// Timed runs of each side.
const ROUNDS: usize = 15;

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
    match words.split_first() {
        None => {
            gemm::table(&device, &[])?;
            transpose::table(&device)?;
            rows::table(&device)?;
            attention::table(&device)
        }
        Some((name, shapes)) if name == "gemm" => gemm::table(&device, shapes),
        Some((name, [])) if name == "transpose" => transpose::table(&device),
        Some((name, [])) if name == "rows" => rows::table(&device),
        Some((name, [])) if name == "attention" => attention::table(&device),
        Some(_) => Err(format!(
            "expected `gemm [M,N,K …]`, `transpose`, `rows` or `attention`, found {words:?}"
        )
        .into()),
    }
}

/// The median times of two sides that run in turns, so that a drift of the GPU's clock affects both alike.
fn interleave<E>(
    mut first: impl FnMut() -> Result<Duration, E>,
    mut second: impl FnMut() -> Result<Duration, E>,
) -> Result<(Duration, Duration), E> {
    for _ in 0..3 {
        first()?;
        second()?;
    }
    let mut times = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        times.0.push(first()?);
        times.1.push(second()?);
    }
    Ok((median(times.0), median(times.1)))
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
