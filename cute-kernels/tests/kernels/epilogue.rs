//! Epilogues of products, as users write them from the parts of the library.

use cute_kernels::reference::normal;
use cute_runtime::{Tensor, bf16};

use crate::device;
use kernels::{linear, linear_CFG, linear_F};

#[cute_runtime::kernels]
mod kernels {
    use cute_kernels::lib::{
        Config, NARROW, THIN, gelu, gelu_tanh, gemm_with, of_column, of_element, of_row, relu, silu,
    };

    /// D = f(α · A · Bᵀ + β · C + a bias for each row + a bias for each column), where f is chosen by a number.
    #[kernel(threads = 384, cluster = (CFG.ctas * CFG.split, 1, 1))]
    #[instances(F in [0, 1, 2, 3], CFG in [NARROW, THIN])]
    pub fn linear<const F: u32, const CFG: Config>(
        a: TmaLoad<bf16, 2>,
        b: TmaLoad<bf16, 2>,
        c: Global<bf16, 2>,
        rows: Global<f32, 1>,
        columns: Global<f32, 1>,
        d: TmaStore<bf16, 2>,
        m: u32,
        n: u32,
        k: u32,
        alpha: f32,
        beta: f32,
    ) {
        gemm_with::<_, _, _, CFG>(a, b, d, (m, n, k), |x, at| {
            let sum =
                alpha * x + beta * of_element(c, at) + of_row(rows, at) + of_column(columns, at);
            match F {
                0 => relu(sum),
                1 => gelu(sum),
                2 => gelu_tanh(sum),
                _ => silu(sum),
            }
        });
    }
}

/// The functions in f64; the error function by its series.
fn activation(f: usize, x: f64) -> f64 {
    let tanh = (0.797_884_560_8 * (x + 0.044_715 * x * x * x)).tanh();
    match f {
        0 => x.max(0.0),
        1 => 0.5 * x * (1.0 + erf(x * std::f64::consts::FRAC_1_SQRT_2)),
        2 => 0.5 * x * (1.0 + tanh),
        _ => x / (1.0 + (-x).exp()),
    }
}

/// Above 5 it is 1 to 11 digits.
fn erf(x: f64) -> f64 {
    if x.abs() > 5.0 {
        return x.signum();
    }
    let (mut term, mut sum) = (x, x);
    for n in 1..200 {
        term *= -x * x / f64::from(n);
        sum += term / f64::from(2 * n + 1);
    }
    sum * std::f64::consts::FRAC_2_SQRT_PI
}

#[test]
fn epilogues_agree_with_float64() -> Result<(), cute_runtime::Error> {
    let device = device();
    // No tile divides D.
    let (m, n, k) = (70, 136, 200);
    let (alpha, beta) = (0.125f32, -1.5f32);
    let (a, b, c) = (normal(1, m * k), normal(2, n * k), normal(3, m * n));
    let floats = |seed, n| -> Vec<f32> { normal(seed, n).iter().map(|x| x.to_f32()).collect() };
    let (rows, columns) = (floats(4, m), floats(5, n));
    let at = Tensor::from_slice(&device, &a, [m, k])?;
    let bt = Tensor::from_slice(&device, &b, [n, k])?;
    let ct = Tensor::from_slice(&device, &c, [m, n])?;
    let rt = Tensor::from_slice(&device, &rows, [m])?;
    let nt = Tensor::from_slice(&device, &columns, [n])?;
    for config in linear_CFG::ALL {
        for (f, function) in linear_F::ALL.into_iter().enumerate() {
            let mut d = Tensor::<bf16, 2>::zeros(&device, [m, n])?;
            linear::launch(
                function,
                config,
                &device,
                4,
                &at.view(),
                &bt.view(),
                &ct.view(),
                &rt.view(),
                &nt.view(),
                &mut d.view_mut(),
                m as u32,
                n as u32,
                k as u32,
                alpha,
                beta,
            )?;
            for (index, found) in d.download()?.into_iter().enumerate() {
                let (i, j) = (index / n, index % n);
                let pairs = a[i * k..][..k].iter().zip(&b[j * k..][..k]);
                let product: f64 = pairs.map(|(a, b)| a.to_f64() * b.to_f64()).sum();
                let biases = f64::from(rows[i]) + f64::from(columns[j]);
                let added = f64::from(beta) * c[index].to_f64() + biases;
                let exact = activation(f, f64::from(alpha) * product + added);
                // Half the distance of neighbours in bf16, and the errors of f32.
                let error = (found.to_f64() - exact).abs();
                assert!(
                    error <= exact.abs() / 256.0 + 1e-5,
                    "function {f} at ({i}, {j}): {found}, not {exact}"
                );
            }
        }
    }
    Ok(())
}
