//! The time from the start of a process to its first product on the host.

use std::env;
use std::error::Error;
use std::process::Command;
use std::time::Instant;

use cute_kernels::{Tensor, bf16, gemm};
use cute_runtime::Device;

/// The argument that asks a process for its first product.
pub(crate) const FIRST: &str = "first";

/// Starts three processes: one without the driver's cache of compiled kernels, and two with it.
pub(crate) fn table() -> Result<(), Box<dyn Error>> {
    println!("milliseconds from the start of a process to the first product of 4096 x 4096 x 4096");
    for (name, disable) in [("no cache", "1"), ("cache", "0"), ("cache again", "0")] {
        let start = Instant::now();
        let mut process = Command::new(env::current_exe()?);
        let output = process
            .arg(FIRST)
            .env("CUDA_CACHE_DISABLE", disable)
            .output()?;
        let all = start.elapsed().as_secs_f64() * 1e3;
        let phases = String::from_utf8_lossy(&output.stdout);
        println!("{name:>12} {all:>8.0}: {}", phases.trim());
    }
    Ok(())
}

/// Computes one product, and prints how long each phase took.
pub(crate) fn first(start: Instant) -> Result<(), Box<dyn Error>> {
    let mut before = start;
    let mut phase = |name: &str| {
        let now = Instant::now();
        print!("{name} {:.0}, ", (now - before).as_secs_f64() * 1e3);
        before = now;
    };
    let device = Device::cuda(0)?;
    phase("open the device");
    let matrix = || Tensor::<bf16, 2>::zeros(&device, [4096, 4096]);
    let (a, b, mut d) = (matrix()?, matrix()?, matrix()?);
    phase("allocate");
    gemm(&device, &a.view(), &b.view(), &mut d.view_mut())?;
    phase("compile and launch");
    let sum: f32 = d.download()?.iter().map(|x| x.to_f32()).sum();
    phase("download");
    println!("sum {sum}");
    Ok(())
}
