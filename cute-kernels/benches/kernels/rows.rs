//! The bandwidth of softmax and of the norms: the bytes of x and of y, divided by the median time; and the bandwidth of a plain
//! copy of x.

use std::error::Error;
use std::time::Duration;

use cudarc::driver::CudaContext;
use cute_kernels::reference::normal;
use cute_runtime::{Device, Tensor, TensorViewMut, bf16};

use crate::plain_copy::PlainCopy;
use cute_kernels::timing::{ROUNDS, interleave};

/// A matrix of bf16 and the vectors of its norms, on the device.
struct Operands<'a> {
    device: &'a Device,
    x: Tensor<bf16, 2>,
    gamma: Tensor<bf16, 1>,
    beta: Tensor<bf16, 1>,
}

type Run = fn(&Operands<'_>, &mut TensorViewMut<'_, bf16, 2>) -> Result<(), cute_kernels::Error>;

const KERNELS: [(&str, Run); 3] = [
    ("softmax", |it, y| {
        cute_kernels::softmax(it.device, &it.x.view(), y)
    }),
    ("layer norm", |it, y| {
        let (gamma, beta) = (it.gamma.view(), it.beta.view());
        cute_kernels::layer_norm(it.device, &it.x.view(), &gamma, &beta, 1e-5, y)
    }),
    ("RMS norm", |it, y| {
        cute_kernels::rms_norm(it.device, &it.x.view(), &it.gamma.view(), 1e-5, y)
    }),
];

/// Prints a row for each kernel and shape.
pub(crate) fn table(device: &Device) -> Result<(), Box<dyn Error>> {
    let context = CudaContext::new(0)?;
    context.bind_to_thread()?;
    println!("GB/s read and written, bf16, median of {ROUNDS} interleaved runs");
    println!(
        "{:>16} {:>10} {:>7} {:>7} {:>6}",
        "M x N", "kernel", "ours", "copy", "ratio"
    );
    for [m, n] in [
        [131_072, 1024],
        [100_000, 1288],
        [65_536, 2048],
        [32_768, 4096],
        [32_768, 4104],
        [20_000, 6152],
        [16_384, 8192],
        [13_000, 10_248],
        [8192, 16_384],
        [2048, 65_536],
        [131_072, 1001],
        [32_768, 4095],
        [16_384, 8191],
        [2600, 50_257],
    ] {
        let operands = Operands {
            device,
            x: Tensor::from_slice(device, &normal(1, m * n), [m, n])?,
            gamma: Tensor::from_slice(device, &normal(2, n), [n])?,
            beta: Tensor::from_slice(device, &normal(3, n), [n])?,
        };
        for (name, run) in KERNELS {
            measure(name, run, &operands)?;
        }
    }
    Ok(())
}

fn measure(name: &str, run: Run, operands: &Operands<'_>) -> Result<(), Box<dyn Error>> {
    let [m, n] = operands.x.shape();
    let mut y = Tensor::<bf16, 2>::zeros(operands.device, [m, n])?;
    let ours = || -> Result<Duration, Box<dyn Error>> {
        let mut y = y.view_mut();
        operands.device.time(|| Ok(run(operands, &mut y)?))
    };
    let copy = PlainCopy::new(operands.device, operands.x.buffer())?;
    let (ours, plain) = interleave(ours, || copy.time())?;
    let bytes = 2.0 * (m * n * size_of::<bf16>()) as f64;
    let [ours, plain] = [ours, plain].map(|time| bytes / time.as_secs_f64() / 1e9);
    let shape = format!("{m} x {n}");
    println!(
        "{shape:>16} {name:>10} {ours:>7.0} {plain:>7.0} {:>6.3}",
        ours / plain
    );
    Ok(())
}
