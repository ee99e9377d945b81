//! Multiplies two random matrices on the default device and compares the product with float64.

use std::process::ExitCode;

use cute_examples::{Arguments, DeviceChoice};
use cute_kernels::reference::{self, Matrix, normal};
use cute_runtime::{Device, Kernel, Tensor, bf16};

const HELP: &str = "\
D = A·Bᵀ with random bf16 matrices A (M, K) and B (N, K), f32 accumulation and bf16 D (M, N)

usage: gemm [--m M] [--n N] [--k K] [--device {auto,cuda,emulator}] [--emit-ptx]

  --m, --n, --k    extents, of any size (default: 8192 each on a GPU, 256 each on the emulator); if K is not a multiple of 8,
                   A and B may be copied first, and if N is not, D is stored by elements
  --device         auto takes the first GPU that can be used, else the emulator (default: auto)
  --emit-ptx       print the kernel's PTX and stop";

/// The distance from 1 to the next bf16 number.
const BF16_EPSILON: f64 = 1.0 / 128.0;

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("gemm: {error}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let (mut m, mut n, mut k) = (None, None, None);
    let mut choice = DeviceChoice::default();
    let mut arguments = Arguments::from_env();
    while let Some(name) = arguments.next_option()? {
        match name.as_str() {
            "m" => m = Some(arguments.value()?),
            "n" => n = Some(arguments.value()?),
            "k" => k = Some(arguments.value()?),
            "device" => choice = arguments.value()?,
            "emit-ptx" => {
                println!(
                    "{}",
                    cute_kernels::gemm::kernels::gemm_bf16_bf16_bf16_TILES_10::PTX
                );
                return Ok(ExitCode::SUCCESS);
            }
            "help" => {
                println!("{HELP}");
                return Ok(ExitCode::SUCCESS);
            }
            other => return Err(format!("unknown option --{other}; --help lists them").into()),
        }
    }

    let device = choice.open()?;
    let default = if device.is_emulator() { 256 } else { 8192 };
    let [m, n, k] = [m, n, k].map(|extent: Option<usize>| extent.unwrap_or(default));
    println!("device    {}", device.name());
    println!("computed  D = A · Bᵀ for A of {m} × {k}, B of {n} × {k} and D of bf16, sums of f32");

    let (a, b) = (normal(1, m * k), normal(2, n * k));
    let device_a = Tensor::from_slice(&device, &a, [m, k])?;
    let device_b = Tensor::from_slice(&device, &b, [n, k])?;
    let mut device_d = Tensor::<bf16, 2>::zeros(&device, [m, n])?;
    let mut multiply = || {
        cute_kernels::gemm(
            &device,
            &device_a.view(),
            &device_b.view(),
            &mut device_d.view_mut(),
        )
    };

    // Warm up: the first launch compiles the kernel, and a GPU needs a few launches to reach its full clock rate.
    let (warm_up, repeats) = if device.is_emulator() {
        (0, 1)
    } else {
        (10, 20)
    };
    (0..warm_up).try_for_each(|_| multiply())?;
    let time = device.time(|| (0..repeats).try_for_each(|_| multiply()))? / repeats;

    let d = device_d.download()?;
    let found = reference::gemm(
        Matrix::packed(&a, m, k),
        Matrix::packed(&b, n, k),
        Matrix::packed(&d, m, n),
    );
    // D is rounded once, and each instruction, for 16 of K, truncates the running sum.
    let allowed = BF16_EPSILON + (k.div_ceil(16) + 1) as f64 * 2f64.powi(-22);
    println!(
        "error     {:.1e} relative, the largest of {} against float64: rounding allows {allowed:.1e}",
        found.worst, found.compared
    );
    report(&device, time, 2.0 * m as f64 * n as f64 * k as f64);
    // Not true of NaN.
    Ok(if found.worst <= allowed {
        ExitCode::SUCCESS
    } else {
        println!("WRONG     the error is more than rounding");
        ExitCode::FAILURE
    })
}

fn report(device: &Device, time: std::time::Duration, operations: f64) {
    let seconds = time.as_secs_f64();
    if device.is_emulator() {
        println!(
            "time      {:.1} ms on the emulator, which says nothing about a GPU",
            seconds * 1e3
        );
    } else {
        println!(
            "time      {:.3} ms, {:.1} TFLOP/s",
            seconds * 1e3,
            operations / seconds / 1e12
        );
    }
}
