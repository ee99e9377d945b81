//! A GEMM with an epilogue of its own: D = GELU(A·Bᵀ + bias). The kernel is made of the parts of `cute_kernels::lib`, and
//! this crate compiles it to PTX.

use cute_kernels::reference::normal;
use cute_runtime::{Device, Tensor, bf16};

#[cute_runtime::kernels]
mod kernels {
    use cute_kernels::lib::{SINGLE, gelu, gemm_with, of_column};

    /// D = GELU(A · Bᵀ + bias).
    #[kernel(threads = 384)]
    pub fn bias_gelu(
        a: TmaLoad<bf16, 2>,
        b: TmaLoad<bf16, 2>,
        bias: Global<f32, 1>,
        d: TmaStore<bf16, 2>,
        m: u32,
        n: u32,
        k: u32,
    ) {
        gemm_with::<_, _, _, SINGLE>(a, b, d, (m, n, k), |x, at| gelu(x + of_column(bias, at)));
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = Device::default();
    let (m, n, k) = (200, 264, 128);
    let (a, b) = (normal(1, m * k), normal(2, n * k));
    let bias: Vec<f32> = normal(3, n).into_iter().map(bf16::to_f32).collect();
    let (at, bt) = (
        Tensor::from_slice(&device, &a, [m, k])?,
        Tensor::from_slice(&device, &b, [n, k])?,
    );
    let biases = Tensor::from_slice(&device, &bias, [n])?;
    let mut d = Tensor::<bf16, 2>::zeros(&device, [m, n])?;
    kernels::bias_gelu::launch(
        &device,
        4,
        &at.view(),
        &bt.view(),
        &biases.view(),
        &mut d.view_mut(),
        m as u32,
        n as u32,
        k as u32,
    )?;

    let mut worst = 0.0_f64;
    for (index, result) in d.download()?.into_iter().enumerate() {
        let (i, j) = (index / n, index % n);
        let row = a[i * k..][..k].iter().zip(&b[j * k..][..k]);
        let product: f64 = row.map(|(a, b)| a.to_f64() * b.to_f64()).sum();
        let exact = gelu(product + f64::from(bias[j]));
        let error = (result.to_f64() - exact).abs() / exact.abs().max(1.0);
        assert!(!error.is_nan(), "row {i}, column {j}: {result}");
        worst = worst.max(error);
    }
    // Half the distance of neighbours in bf16, and the error of a sum in f32.
    let allowed = 1.0 / 256.0 + 1e-4;
    println!("device    {}", device.name());
    println!(
        "computed  D = GELU(A · Bᵀ + bias) for A of {m} × {k}, B of {n} × {k} and D of bf16, sums and bias of f32"
    );
    println!(
        "error     relative, or absolute for results below 1, against float64; rounding allows {allowed:.1e}"
    );
    println!("          {worst:.1e} is the largest of {} elements", m * n);
    assert!(worst <= allowed);
    Ok(())
}

/// GELU in f64, with the error function as its series; above 4 it is 1 to 8 digits.
fn gelu(x: f64) -> f64 {
    let t = x * std::f64::consts::FRAC_1_SQRT_2;
    if t.abs() > 4.0 {
        return if t > 0.0 { x } else { 0.0 };
    }
    let (mut term, mut sum) = (t, t);
    for n in 1..200 {
        term *= -t * t / f64::from(n);
        sum += term / f64::from(2 * n + 1);
    }
    0.5 * x * (1.0 + sum * std::f64::consts::FRAC_2_SQRT_PI)
}
