//! The speed of attention forward. `sdpa.py` beside this folder measures cuDNN's on the same shapes: run both in turns.

use std::error::Error;
use std::time::Duration;

use cute_kernels::reference::normal;
use cute_runtime::{Device, Tensor};

use cute_kernels::timing::{ROUNDS, median};

/// Launches that are timed together.
const LAUNCHES: u32 = 4;

/// Tokens of all batches together, and elements of all heads together.
const TOKENS: usize = 16_384;
const WIDTH: usize = 2048;

/// Prints a row for each length, size of heads and mask.
pub(crate) fn table(device: &Device) -> Result<(), Box<dyn Error>> {
    println!("TFLOP/s, median of {ROUNDS} runs of {LAUNCHES}");
    println!(
        "{:>6} {:>4} {:>6} {:>8}",
        "length", "d", "causal", "TFLOP/s"
    );
    for d in [64, 128] {
        for causal in [false, true] {
            for length in [2048, 4096, 8192, 16_384] {
                let speed = measure(device, length, d, causal)? / 1e12;
                println!("{length:>6} {d:>4} {causal:>6} {speed:>8.1}");
            }
        }
    }
    Ok(())
}

/// Multiplications and additions a second. A causal mask counts as half of the work.
fn measure(device: &Device, length: usize, d: usize, causal: bool) -> Result<f64, Box<dyn Error>> {
    let heads = TOKENS / length * (WIDTH / d);
    let shape = [heads, length, d];
    let operand = |seed| Tensor::from_slice(device, &normal(seed, heads * length * d), shape);
    let (q, k, v) = (operand(1)?, operand(2)?, operand(3)?);
    let mut o = Tensor::zeros(device, shape)?;
    let scale = 1.0 / (d as f32).sqrt();
    let mut run = || -> Result<Duration, Box<dyn Error>> {
        device.time(|| -> Result<(), Box<dyn Error>> {
            for _ in 0..LAUNCHES {
                let (q, k, v) = (q.view(), k.view(), v.view());
                cute_kernels::attention(device, &q, &k, &v, &mut o.view_mut(), causal, scale)?;
            }
            Ok(())
        })
    };
    for _ in 0..3 {
        run()?;
    }
    let times: Result<Vec<Duration>, _> = (0..ROUNDS).map(|_| run()).collect();
    let work = 4.0 * (heads * length * length * d) as f64 * if causal { 0.5 } else { 1.0 };
    Ok(work * f64::from(LAUNCHES) / median(times?).as_secs_f64())
}
