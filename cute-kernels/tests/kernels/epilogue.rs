//! Epilogues of products, as users write them from the parts of the library.

use cute_kernels::reference::normal;
use cute_runtime::{Tensor, bf16};

use crate::device;
use kernels::{linear, linear_CFG, linear_F};

#[cute_runtime::kernels]
mod kernels {
    use cute_kernels::lib::{
        Config, NARROW, SQUARE, THIN, gated, gelu, gelu_tanh, gemm_with, linear_combination,
        multiply, of_column, of_columns, of_element, of_row, of_rows, relu, silu, store_by_tma,
        tiles,
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

    /// D = α · (A · Bᵀ with a scale for each row and each column) + β · C, over whole fragments.
    #[kernel(threads = 384)]
    pub fn combination(
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
        let tiles = tiles::<SQUARE>(1, m, n);
        multiply::<_, _, _, SQUARE>(a, b, tiles, k, |acc, consumer, (batch, row, column), _| {
            let scaled = acc * of_rows(rows, acc, row) * of_columns(columns, acc, column);
            let sum = linear_combination(alpha, scaled, beta, c, (batch, row, column));
            store_by_tma(sum, d, consumer, (batch, row, column));
        });
        tma_wait_read(0);
    }

    /// d[i, j] = SiLU(a[i] · b[2j]) · (a[i] · b[2j + 1]).
    #[kernel(threads = 384)]
    pub fn swiglu(
        a: TmaLoad<bf16, 2>,
        b: TmaLoad<bf16, 2>,
        d: TmaStore<bf16, 2>,
        m: u32,
        n: u32,
        k: u32,
    ) {
        let tiles = tiles::<NARROW>(1, m, n);
        multiply::<_, _, _, NARROW>(a, b, tiles, k, |acc, consumer, (batch, row, column), _| {
            store_by_tma(gated(acc, silu), d, consumer, (batch, row, column / 2));
        });
        tma_wait_read(0);
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

#[test]
fn epilogues_of_fragments_agree_with_float64() -> Result<(), cute_runtime::Error> {
    let device = device();
    // No tile divides D, and neither does one the half of it.
    let (m, n, k) = (70, 144, 200);
    let (alpha, beta) = (0.125f32, -1.5f32);
    let (a, b, c) = (normal(1, m * k), normal(2, n * k), normal(3, m * n));
    let floats = |seed, n| -> Vec<f32> { normal(seed, n).iter().map(|x| x.to_f32()).collect() };
    let (rows, columns) = (floats(4, m), floats(5, n));
    let at = Tensor::from_slice(&device, &a, [m, k])?;
    let bt = Tensor::from_slice(&device, &b, [n, k])?;
    let ct = Tensor::from_slice(&device, &c, [m, n])?;
    let rt = Tensor::from_slice(&device, &rows, [m])?;
    let nt = Tensor::from_slice(&device, &columns, [n])?;
    let mut sum = Tensor::<bf16, 2>::zeros(&device, [m, n])?;
    let mut half = Tensor::<bf16, 2>::zeros(&device, [m, n / 2])?;
    let extents = [m, n, k].map(|extent| extent as u32);
    kernels::combination::launch(
        &device,
        2,
        &at.view(),
        &bt.view(),
        &ct.view(),
        &rt.view(),
        &nt.view(),
        &mut sum.view_mut(),
        extents[0],
        extents[1],
        extents[2],
        alpha,
        beta,
    )?;
    kernels::swiglu::launch(
        &device,
        2,
        &at.view(),
        &bt.view(),
        &mut half.view_mut(),
        extents[0],
        extents[1],
        extents[2],
    )?;
    let product = |i: usize, j: usize| -> f64 {
        let pairs = a[i * k..][..k].iter().zip(&b[j * k..][..k]);
        pairs.map(|(a, b)| a.to_f64() * b.to_f64()).sum()
    };
    let check = |found: bf16, exact: f64, what: &str, at: (usize, usize)| {
        // Half the distance of neighbours in bf16, and the errors of f32.
        let error = (found.to_f64() - exact).abs();
        assert!(
            error <= exact.abs() / 256.0 + 1e-5,
            "{what} at {at:?}: {found}, not {exact}"
        );
    };
    for (index, found) in sum.download()?.into_iter().enumerate() {
        let (i, j) = (index / n, index % n);
        let scaled = product(i, j) * f64::from(rows[i]) * f64::from(columns[j]);
        let exact = f64::from(alpha) * scaled + f64::from(beta) * c[index].to_f64();
        check(found, exact, "linear combination", (i, j));
    }
    for (index, found) in half.download()?.into_iter().enumerate() {
        let (i, j) = (index / (n / 2), index % (n / 2));
        let exact = activation(3, product(i, 2 * j)) * product(i, 2 * j + 1);
        check(found, exact, "SwiGLU", (i, j));
    }
    Ok(())
}
