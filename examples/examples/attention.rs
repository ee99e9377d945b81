//! Attention of one head by the kernel of `cute-kernels`, compared with float64.
//!
//! ```text
//! cargo run --release --example attention
//! ```

use cute_kernels::reference::normal;
use cute_runtime::{Device, Tensor, bf16};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = Device::default();
    // Queries, keys, and elements of a row.
    let (m, n, d) = (100, 150, 64);
    let (q, k, v) = (normal(1, m * d), normal(2, n * d), normal(3, n * d));
    let scale = 1.0 / (d as f32).sqrt();

    // Mode 0 counts batches and heads.
    let device_q = Tensor::from_slice(&device, &q, [1, m, d])?;
    let device_k = Tensor::from_slice(&device, &k, [1, n, d])?;
    let device_v = Tensor::from_slice(&device, &v, [1, n, d])?;
    let mut o = Tensor::<bf16, 3>::zeros(&device, [1, m, d])?;
    let causal = true;
    cute_kernels::attention(
        &device,
        &device_q.view(),
        &device_k.view(),
        &device_v.view(),
        &mut o.view_mut(),
        causal,
        scale,
    )?;

    // The largest error, and how much rounding allows there.
    let (mut worst, mut allowed) = (0.0_f64, 1.0);
    for (i, row) in o.download()?.chunks(d).enumerate() {
        // Query i sees keys 0 to i.
        let keys = &k[..d * (i + 1).min(n)];
        let dot = |key: &[bf16]| -> f64 {
            let query = &q[i * d..][..d];
            query
                .iter()
                .zip(key)
                .map(|(q, k)| q.to_f64() * k.to_f64())
                .sum()
        };
        let weights: Vec<f64> = keys
            .chunks(d)
            .map(|key| (f64::from(scale) * dot(key)).exp())
            .collect();
        let sum: f64 = weights.iter().sum();
        for (j, found) in row.iter().enumerate() {
            let values = weights.iter().zip(v[j..].iter().step_by(d));
            let terms: Vec<f64> = values
                .map(|(weight, v)| weight * v.to_f64() / sum)
                .collect();
            let exact: f64 = terms.iter().sum();
            let sizes: f64 = terms.iter().map(|term| term.abs()).sum();
            // The weights and O are rounded to bf16, by at most 2⁻⁸ of their size. All else is f32.
            let error = (found.to_f64() - exact).abs();
            assert!(!error.is_nan(), "row {i}, column {j}: {found}");
            let rounding = (sizes + exact.abs()) * 2f64.powi(-8) + 1e-5 * sizes;
            if error / rounding > worst / allowed {
                (worst, allowed) = (error, rounding);
            }
        }
    }
    println!("device    {}", device.name());
    println!(
        "computed  O = softmax(scale · Q · Kᵀ) · V, causal, for {m} queries and {n} keys of {d} numbers of bf16"
    );
    println!(
        "error     {worst:.1e} at the worst of {} elements against float64; rounding allows {allowed:.1e} there",
        m * d
    );
    assert!(worst <= allowed);
    Ok(())
}
