//! The bandwidth of the transpose: the bytes read and written, divided by the median time; and the bandwidth of a plain copy of
//! the same buffer.

use std::error::Error;

use cudarc::driver::CudaContext;
use cute_kernels::Transpose;
use cute_runtime::{Device, Tensor, bf16};

use crate::plain_copy::PlainCopy;
use cute_kernels::timing::{ROUNDS, interleave};

/// Prints a row for each shape and element type.
pub(crate) fn table(device: &Device) -> Result<(), Box<dyn Error>> {
    // The copy calls the driver directly, so the context of the device's memory must be current on this thread.
    let context = CudaContext::new(0)?;
    context.bind_to_thread()?;
    println!("GB/s read and written, median of {ROUNDS} interleaved runs");
    println!(
        "{:>16} {:>5} {:>9} {:>7} {:>6}",
        "M x N", "T", "transpose", "copy", "ratio"
    );
    for (m, n) in [
        (8192, 8192),
        (16384, 16384),
        (32768, 32768),
        (32768, 8191),
        (10_000, 30_000),
    ] {
        measure::<f32>(device, m, n)?;
        measure::<bf16>(device, m, n)?;
    }
    Ok(())
}

/// Measures one shape, with rows padded to multiples of 16 bytes, and prints its row of the table.
fn measure<T: Transpose>(device: &Device, m: usize, n: usize) -> Result<(), Box<dyn Error>> {
    let unit = 16 / size_of::<T>();
    let pitch = n.next_multiple_of(unit);
    let source = Tensor::<T, 2>::zeros(device, [m, pitch])?;
    let mut destination = Tensor::<T, 2>::zeros(device, [pitch, m.next_multiple_of(unit)])?;
    let from = source.view().slice(1, 0..n)?;
    let transpose = || {
        device.time(|| -> Result<(), Box<dyn Error>> {
            let mut to = destination.view_mut().slice(0, 0..n)?.slice(1, 0..m)?;
            Ok(cute_kernels::transpose(device, &from, &mut to)?)
        })
    };
    let copy = PlainCopy::new(device, source.buffer())?;
    let times = interleave(transpose, || copy.time())?;
    let bytes = 2.0 * (m * n * size_of::<T>()) as f64;
    let [ours, plain] = [times.0, times.1].map(|time| bytes / time.as_secs_f64() / 1e9);
    let shape = format!("{m} x {n}");
    println!(
        "{shape:>16} {:>5} {ours:>9.0} {plain:>7.0} {:>6.3}",
        T::TYPE,
        ours / plain
    );
    Ok(())
}
