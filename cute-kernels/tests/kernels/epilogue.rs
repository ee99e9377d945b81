//! Epilogues of products, as users write them from the parts of the library.

use cute_kernels::reference::normal;
use cute_runtime::{Device, Element, Error, Tensor, bf16};

use crate::device;
use kernels::{fast_F, linear, linear_CFG, linear_F};

#[cute_runtime::kernels]
mod kernels {
    use cute_kernels::lib::{
        Config, NARROW, SQUARE, THIN, gated, gelu, gelu_fast, gelu_tanh, gelu_tanh_fast, gemm_with,
        linear_combination, multiply, of_column, of_columns, of_element, of_row, of_rows, relu,
        silu, silu_fast, store_by_tma, tiles,
    };

    /// The fast functions of each number.
    #[kernel(threads = 128)]
    #[instances(F in [1, 2, 3])]
    pub fn fast<const F: u32>(x: Global<f32, 1>, y: Global<f32, 1>) {
        let held = fragment::<f32>(composition(
            make_identity_layout((128, 1)),
            layout!((128,1):(1,0)),
        ));
        copy_or(local_tile(x, 128, block_idx().0), held, 0.0);
        let found = map(held, |x| match F {
            1 => gelu_fast(x),
            2 => gelu_tanh_fast(x),
            _ => silu_fast(x),
        });
        copy_inside(found, local_tile(y, 128, block_idx().0));
    }

    /// D = f(α · A · Bᵀ + β · C + a bias for each row + a bias for each column), where f is chosen by a number.
    #[kernel(threads = 384, cluster = (CFG.cluster_m * CFG.cluster_n * CFG.split, 1, 1))]
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

/// Extents that no tile divides, and neither does one the half of N.
const EXTENTS: [usize; 3] = [70, 144, 200];
const ALPHA: f32 = 0.125;
const BETA: f32 = -1.5;

/// What the products take, on the host and on the device.
struct Given {
    a: Held<bf16, 2>,
    b: Held<bf16, 2>,
    c: Held<bf16, 2>,
    rows: Held<f32, 1>,
    columns: Held<f32, 1>,
}

struct Held<T: Element, const R: usize>(Vec<T>, Tensor<T, R>);

impl Given {
    fn new(device: &Device) -> Result<Self, Error> {
        let [m, n, k] = EXTENTS;
        let matrix = |seed, rows: usize, columns: usize| {
            let numbers = normal(seed, rows * columns);
            let tensor = Tensor::from_slice(device, &numbers, [rows, columns])?;
            Ok::<_, Error>(Held(numbers, tensor))
        };
        let vector = |seed, n| {
            let numbers: Vec<f32> = normal(seed, n).iter().map(|x| x.to_f32()).collect();
            let tensor = Tensor::from_slice(device, &numbers, [n])?;
            Ok::<_, Error>(Held(numbers, tensor))
        };
        Ok(Self {
            a: matrix(1, m, k)?,
            b: matrix(2, n, k)?,
            c: matrix(3, m, n)?,
            rows: vector(4, m)?,
            columns: vector(5, n)?,
        })
    }

    /// An element of A · Bᵀ.
    fn product(&self, (i, j): (usize, usize)) -> f64 {
        let [_, _, k] = EXTENTS;
        let pairs = self.a.0[i * k..][..k].iter().zip(&self.b.0[j * k..][..k]);
        pairs.map(|(a, b)| a.to_f64() * b.to_f64()).sum()
    }

    /// β times an element of C.
    fn added(&self, (i, j): (usize, usize)) -> f64 {
        f64::from(BETA) * self.c.0[i * EXTENTS[1] + j].to_f64()
    }

    /// The numbers of a row and of a column.
    fn numbers(&self, (i, j): (usize, usize)) -> (f64, f64) {
        (self.rows.0[i].into(), self.columns.0[j].into())
    }
}

/// Holds a matrix against what its elements should be.
fn check(
    found: &Tensor<bf16, 2>,
    what: &str,
    exact: impl Fn((usize, usize)) -> f64,
) -> Result<(), Error> {
    let [_, n] = found.shape();
    for (index, found) in found.download()?.into_iter().enumerate() {
        let at = (index / n, index % n);
        let exact = exact(at);
        // Half the distance of neighbours in bf16, and the errors of f32.
        let error = (found.to_f64() - exact).abs();
        assert!(
            error <= exact.abs() / 256.0 + 1e-5,
            "{what} at {at:?}: {found}, not {exact}"
        );
    }
    Ok(())
}

#[test]
fn epilogues_agree_with_float64() -> Result<(), Error> {
    let device = device();
    let given = Given::new(&device)?;
    let [m, n, k] = EXTENTS;
    for config in linear_CFG::ALL {
        for (f, function) in linear_F::ALL.into_iter().enumerate() {
            let mut d = Tensor::<bf16, 2>::zeros(&device, [m, n])?;
            linear::launch(
                function,
                config,
                &device,
                4,
                &given.a.1.view(),
                &given.b.1.view(),
                &given.c.1.view(),
                &given.rows.1.view(),
                &given.columns.1.view(),
                &mut d.view_mut(),
                m as u32,
                n as u32,
                k as u32,
                ALPHA,
                BETA,
            )?;
            check(&d, &format!("function {f}"), |at| {
                let (row, column) = given.numbers(at);
                let product = f64::from(ALPHA) * given.product(at);
                activation(f, product + given.added(at) + row + column)
            })?;
        }
    }
    Ok(())
}

#[test]
fn epilogues_of_fragments_agree_with_float64() -> Result<(), Error> {
    let device = device();
    let given = Given::new(&device)?;
    let [m, n, k] = EXTENTS;
    let mut sum = Tensor::<bf16, 2>::zeros(&device, [m, n])?;
    let mut half = Tensor::<bf16, 2>::zeros(&device, [m, n / 2])?;
    kernels::combination::launch(
        &device,
        2,
        &given.a.1.view(),
        &given.b.1.view(),
        &given.c.1.view(),
        &given.rows.1.view(),
        &given.columns.1.view(),
        &mut sum.view_mut(),
        m as u32,
        n as u32,
        k as u32,
        ALPHA,
        BETA,
    )?;
    kernels::swiglu::launch(
        &device,
        2,
        &given.a.1.view(),
        &given.b.1.view(),
        &mut half.view_mut(),
        m as u32,
        n as u32,
        k as u32,
    )?;
    check(&sum, "linear combination", |at| {
        let (row, column) = given.numbers(at);
        f64::from(ALPHA) * given.product(at) * row * column + given.added(at)
    })?;
    check(&half, "SwiGLU", |(i, j)| {
        activation(3, given.product((i, 2 * j))) * given.product((i, 2 * j + 1))
    })
}

/// The largest relative errors that their documentation states.
#[test]
fn fast_functions_are_as_accurate_as_they_say() -> Result<(), Error> {
    let device = device();
    let numbers: Vec<f32> = (-6144..=6144).map(|i| i as f32 / 1024.0).collect();
    let n = numbers.len();
    let x = Tensor::from_slice(&device, &numbers, [n])?;
    for (f, function, most) in [
        (1, fast_F::_1, 2f64.powi(-16)),
        (2, fast_F::_2, 2f64.powi(-18)),
        (3, fast_F::_3, 2f64.powi(-20)),
    ] {
        let mut y = Tensor::<f32, 1>::zeros(&device, [n])?;
        let grid = n.div_ceil(128) as u32;
        kernels::fast::launch(function, &device, grid, &x.view(), &mut y.view_mut())?;
        for (x, found) in numbers.iter().zip(y.download()?) {
            let x = f64::from(*x);
            // 1 + erf loses the digits of a number near −1.
            let exact = match f {
                1 => x * below(x),
                _ => activation(f, x),
            };
            let error = (f64::from(found) - exact).abs();
            assert!(
                error <= most * exact.abs(),
                "{f} of {x}: {found}, not {exact}"
            );
        }
    }
    Ok(())
}

/// The distribution function of the normal distribution. Of a number below −2, by the continued fraction of its tail.
fn below(x: f64) -> f64 {
    if x > -2.0 {
        return 0.5 * (1.0 + erf(x * std::f64::consts::FRAC_1_SQRT_2));
    }
    let tail = (1..200).rev().fold(-x, |sum, n| -x + f64::from(n) / sum);
    (-x * x / 2.0).exp() / ((2.0 * std::f64::consts::PI).sqrt() * tail)
}
