//! The host's time for a launch, with a plan and without one.

use std::error::Error;
use std::time::{Duration, Instant};

use cute_kernels::timing::{ROUNDS, median};
use cute_kernels::{Plan, Tensor, bf16, gemm};
use cute_runtime::Device;

/// Launches of a run: fewer than the driver lets wait.
const LAUNCHES: u32 = 200;

/// Prints the microseconds of each way.
pub(crate) fn table(device: &Device) -> Result<(), Box<dyn Error>> {
    let matrix = |rows, columns| Tensor::<bf16, 2>::zeros(device, [rows, columns]);
    let (a, b, mut d) = (matrix(128, 128)?, matrix(128, 128)?, matrix(128, 128)?);
    let plan = Plan::new(device, &a.view(), &b.view(), &d.view_mut())?;
    plan.launch(device, &a.view(), &b.view(), &mut d.view_mut())?;
    let graph = device.capture(|| plan.launch(device, &a.view(), &b.view(), &mut d.view_mut()))?;

    println!(
        "microseconds of the host for a product of 128 x 128 x 128, medians of {ROUNDS} runs of {LAUNCHES}"
    );
    let row = |name: &str, launch: &mut dyn FnMut() -> Result<(), cute_kernels::Error>| {
        let mut times = Vec::new();
        for _ in 0..ROUNDS {
            device.synchronize()?;
            let start = Instant::now();
            (0..LAUNCHES).try_for_each(|_| launch())?;
            times.push(start.elapsed());
        }
        let each: Duration = median(times) / LAUNCHES;
        println!("{name:>16} {:>7.2}", each.as_secs_f64() * 1e6);
        Ok::<_, cute_kernels::Error>(())
    };
    row("Plan::launch", &mut || {
        plan.launch(device, &a.view(), &b.view(), &mut d.view_mut())
    })?;
    row("gemm", &mut || {
        gemm(device, &a.view(), &b.view(), &mut d.view_mut())
    })?;
    row("Graph::launch", &mut || Ok(graph.launch()?))?;
    Ok(())
}
