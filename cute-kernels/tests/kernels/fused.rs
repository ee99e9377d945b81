//! Products with what follows them, compared with float64.

use std::sync::Once;

use cute_kernels::reference::normal;
use cute_kernels::{
    Activation, Epilogue, Error, FusedInput, GatedInput, Plan, Tile, gemm_fused, gemm_gated,
};
use cute_runtime::{Device, Element, Tensor, bf16, f16};

use crate::covering::{Cover, whole};
use crate::device;

const ALPHA: f32 = 0.25;
const BETA: f32 = -0.5;

const ACTIVATIONS: [Activation; 5] = [
    Activation::Identity,
    Activation::Relu,
    Activation::Gelu,
    Activation::GeluTanh,
    Activation::Silu,
];

/// Batches, M, N and K, and elements between rows of D: by TMA, by TMA with several tiles of each CTA, and by element.
const CASES: [([usize; 4], usize); 4] = [
    ([1, 70, 144, 200], 8),
    ([3, 130, 264, 72], 0),
    ([1, 150, 45, 19], 2),
    // A gated product has one column.
    ([1, 3, 2, 9], 0),
];

/// What stands between rows, and stays there.
const GUARD: f32 = 113.0;

/// The function of a number, in f64.
fn exact(activation: Activation, x: f64) -> f64 {
    match activation {
        Activation::Identity => x,
        Activation::Relu => x.max(0.0),
        Activation::Gelu => x * normal_below(x),
        Activation::GeluTanh => {
            let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x * x * x);
            0.5 * x * (1.0 + inner.tanh())
        }
        Activation::Silu => x / (1.0 + (-x).exp()),
    }
}

/// The distribution function of the normal distribution, by its integral from 0.
fn normal_below(x: f64) -> f64 {
    const STEPS: usize = 2000;
    let (end, density) = (x.abs().min(9.0), |t: f64| (-t * t / 2.0).exp());
    let step = end / STEPS as f64;
    let inner: f64 = (1..STEPS)
        .map(|i| density(i as f64 * step) * if i % 2 == 1 { 4.0 } else { 2.0 })
        .sum();
    let integral = step / 3.0 * (density(0.0) + inner + density(end));
    0.5 + x.signum() * integral / (2.0 * std::f64::consts::PI).sqrt()
}

/// The operands of a product, and its sums.
struct Operands<T: Element> {
    a: Tensor<T, 3>,
    b: Tensor<T, 3>,
    bias: Tensor<T, 1>,
    /// α · A · Bᵀ, without the bias.
    sums: Vec<f64>,
    /// The bias.
    added: Vec<f64>,
}

impl<T: Element + Into<f64>> Operands<T> {
    fn new(
        device: &Device,
        [batches, m, n, k]: [usize; 4],
        element: fn(f32) -> T,
    ) -> Result<Self, Error> {
        let numbers = |seed, n| -> Vec<T> {
            let floats = normal(seed, n).into_iter();
            floats.map(|x| element(x.to_f32() * 0.5)).collect()
        };
        let (a, b) = (numbers(1, batches * m * k), numbers(2, batches * n * k));
        let bias = numbers(3, n);
        let sums = (0..batches * m * n).map(|at| {
            let (g, i, j) = (at / n / m, at / n % m, at % n);
            let pairs = a[(g * m + i) * k..][..k]
                .iter()
                .zip(&b[(g * n + j) * k..][..k]);
            f64::from(ALPHA) * pairs.map(|(a, b)| (*a).into() * (*b).into()).sum::<f64>()
        });
        Ok(Self {
            sums: sums.collect(),
            added: bias.iter().map(|x| (*x).into()).collect(),
            a: Tensor::from_slice(device, &a, [batches, m, k])?,
            b: Tensor::from_slice(device, &b, [batches, n, k])?,
            bias: Tensor::from_slice(device, &bias, [n])?,
        })
    }
}

/// Holds D against numbers of f64, and what lies between its rows against the guard.
fn compare<D: Element + Into<f64>>(
    d: &[D],
    [rows, n, ld]: [usize; 3],
    unit: f64,
    what: &str,
    expected: impl Fn(usize, usize) -> f64,
) {
    for (at, found) in d.iter().enumerate().take(rows * ld) {
        let (i, j, found) = (at / ld, at % ld, (*found).into());
        if j >= n {
            assert_eq!(found, f64::from(GUARD), "{what}: written beside row {i}");
            continue;
        }
        let expected = expected(i, j);
        let error = expected.abs() * unit + 2e-3 * unit + 1e-5;
        assert!(
            (found - expected).abs() <= error,
            "{what} at ({i}, {j}): {found}, not {expected}"
        );
    }
}

/// Both functions, with and without what may be left out.
fn check<T>(
    device: &Device,
    ([batches, m, n, k], pad): ([usize; 4], usize),
    activation: Activation,
    unit: f64,
    element: fn(f32) -> T,
) -> Result<(), Error>
where
    T: FusedInput<T> + GatedInput<T> + Into<f64>,
{
    let of = Operands::new(device, [batches, m, n, k], element)?;
    let (ld, guard) = (n + pad, element(GUARD));
    let c: Vec<T> = (0..batches * m * ld)
        .map(|i| element((i % 37) as f32 / 8.0 - 2.0))
        .collect();
    let kept_c = device.upload(&c)?;
    let (shape, strides) = ([batches, m, n], [m * ld, ld, 1]);
    let c_view = kept_c.view(0, shape, strides)?;
    let (bias, what) = (of.bias.view(), format!("{activation:?} {shape:?}"));
    for all in [true, false] {
        let mut d = device.upload(&vec![guard; batches * m * ld])?;
        let mut largest = Tensor::<f32, 1>::zeros(device, [m])?;
        let mut epilogue = Epilogue::new().scale(ALPHA).activation(activation);
        if all {
            epilogue = epilogue.bias(&bias).residual(BETA, &c_view);
            if batches == 1 {
                epilogue = epilogue.absmax(largest.view_mut());
            }
        }
        let mut view = d.view_mut(0, shape, strides)?;
        gemm_fused(device, &of.a.view(), &of.b.view(), epilogue, &mut view)?;
        let number = |i: usize, j: usize| {
            let added = of.added[j] + f64::from(BETA) * c[i * ld + j].into();
            let sum = of.sums[i * n + j] + if all { added } else { 0.0 };
            exact(activation, sum)
        };
        compare(&d.download()?, [batches * m, n, ld], unit, &what, number);
        if all && batches == 1 {
            for (i, found) in largest.download()?.into_iter().enumerate() {
                let expected = (0..n).map(|j| number(i, j).abs()).fold(0.0, f64::max);
                let error = (f64::from(found) - expected).abs();
                assert!(
                    error <= 1e-4 * expected + 1e-5,
                    "{what}: row {i} has {found}"
                );
            }
        }
    }

    // D has half of the columns.
    let half = n / 2;
    let of = Operands::new(device, [batches, m, 2 * half, k], element)?;
    let (ld, bias) = (half + pad, of.bias.view());
    for all in [true, false] {
        let mut d = device.upload(&vec![guard; batches * m * ld])?;
        let mut epilogue = Epilogue::new().scale(ALPHA).activation(activation);
        if all {
            epilogue = epilogue.bias(&bias);
        }
        let mut view = d.view_mut(0, [batches, m, half], [m * ld, ld, 1])?;
        gemm_gated(device, &of.a.view(), &of.b.view(), epilogue, &mut view)?;
        let number = |i: usize, j: usize| {
            let of_column =
                |j: usize| of.sums[i * 2 * half + j] + if all { of.added[j] } else { 0.0 };
            exact(activation, of_column(2 * j)) * of_column(2 * j + 1)
        };
        compare(&d.download()?, [batches * m, half, ld], unit, &what, number);
    }
    Ok(())
}

/// Each function of the numbers in each case, or once by each kind of store.
#[test]
pub(crate) fn what_follows_a_product_agrees_with_float64() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let device = device();
        for cases in [&CASES[..2], &CASES[2..]] {
            let mut cover = Cover::new(&device, cases.len());
            let variants = [false, true].map(|of_f16| ACTIVATIONS.map(|it| (of_f16, it)));
            for case in cases {
                for (of_f16, activation) in cover.choose_any(variants.as_flattened()) {
                    match of_f16 {
                        false => check(&device, *case, activation, 1.0 / 256.0, bf16::from_f32),
                        true => check(&device, *case, activation, 1.0 / 2048.0, f16::from_f32),
                    }
                    .unwrap();
                }
            }
            cover.finish();
        }
    });
}

/// Each tile of both kernels, with all that may follow a product, by TMA and by element. Two CTAs or more have several tiles.
#[test]
pub(crate) fn each_tile_stores_what_follows() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let device = device();
        let bf16 = |shape, all| each_tile(&device, shape, all, 1.0 / 256.0, bf16::from_f32);
        let f16 = |shape, all| each_tile(&device, shape, all, 1.0 / 2048.0, f16::from_f32);
        let gated_bf16 =
            |shape, all| each_gated_tile(&device, shape, all, 1.0 / 256.0, bf16::from_f32);
        let gated_f16 =
            |shape, all| each_gated_tile(&device, shape, all, 1.0 / 2048.0, f16::from_f32);
        for shape in [[136, 272, 200], [135, 271, 39]] {
            bf16(shape, false).unwrap();
            gated_bf16(shape, false).unwrap();
        }
        // Long K, which is divided.
        bf16([33, 71, 2100], false).unwrap();
        f16([33, 71, 2100], false).unwrap();
        for shape in [[72, 136, 72], [71, 135, 39]] {
            if whole() {
                bf16(shape, true).unwrap();
                f16(shape, true).unwrap();
                gated_bf16(shape, true).unwrap();
                gated_f16(shape, true).unwrap();
            }
        }
        if whole() {
            // D has half as many columns, and is stored by TMA.
            gated_bf16([72, 144, 72], true).unwrap();
            gated_f16([72, 144, 72], true).unwrap();
        }
    });
}

/// The tiles with K in parts or, if K is short, the others: with one function each, or with `all`.
fn variants(plan: &Plan, k: usize, all: bool) -> Vec<(Tile, Activation)> {
    let candidates = plan.candidates().iter().map(|(tile, _)| *tile);
    let (in_parts, others): (Vec<Tile>, Vec<Tile>) =
        candidates.partition(|tile| matches!(tile, Tile::InParts(..)));
    assert_eq!(in_parts.is_empty(), k < 2000);
    let tiles: Vec<Tile> = match in_parts.is_empty() {
        true => others,
        false => in_parts.into_iter().step_by(13).collect(),
    };
    let tiles = tiles.into_iter();
    match all {
        true => tiles
            .flat_map(|tile| ACTIVATIONS.map(|it| (tile, it)))
            .collect(),
        false => tiles.zip(ACTIVATIONS.into_iter().cycle()).collect(),
    }
}

fn each_tile<T>(
    device: &Device,
    [m, n, k]: [usize; 3],
    all: bool,
    unit: f64,
    element: fn(f32) -> T,
) -> Result<(), Error>
where
    T: FusedInput<T> + GatedInput<T> + Into<f64>,
{
    let of = Operands::new(device, [1, m, n, k], element)?;
    let (a, b, bias) = (of.a.view(), of.b.view(), of.bias.view());
    let numbers: Vec<T> = (0..m * n)
        .map(|i| element((i % 37) as f32 / 8.0 - 2.0))
        .collect();
    let c = Tensor::from_slice(device, &numbers, [1, m, n])?;
    let c = c.view();
    let mut d = Tensor::<T, 3>::zeros(device, [1, m, n])?;
    let epilogue = |it: Activation| {
        let epilogue = Epilogue::new().scale(ALPHA).bias(&bias).activation(it);
        epilogue.residual(BETA, &c)
    };
    let plan = Plan::fused(device, &a, &b, &epilogue(Activation::Relu), &d.view_mut())?;
    for (tile, activation) in variants(&plan, k, all) {
        let mut largest = Tensor::<f32, 1>::zeros(device, [m])?;
        let epilogue = epilogue(activation).absmax(largest.view_mut());
        let plan = plan.clone().with_tile(tile)?;
        plan.launch_fused(device, &a, &b, epilogue, &mut d.view_mut())?;
        let number = |i: usize, j: usize| {
            let added = of.added[j] + f64::from(BETA) * numbers[i * n + j].into();
            exact(activation, of.sums[i * n + j] + added)
        };
        let what = format!("{activation:?} {tile}");
        compare(&d.download()?, [m, n, n], unit, &what, number);
        for (i, found) in largest.download()?.into_iter().enumerate() {
            let expected = (0..n).map(|j| number(i, j).abs()).fold(0.0, f64::max);
            let error = (f64::from(found) - expected).abs();
            assert!(
                error <= 1e-4 * expected + 1e-5,
                "{what}: row {i} has {found}, not {expected}"
            );
        }
    }
    Ok(())
}

fn each_gated_tile<T>(
    device: &Device,
    [m, n, k]: [usize; 3],
    all: bool,
    unit: f64,
    element: fn(f32) -> T,
) -> Result<(), Error>
where
    T: FusedInput<T> + GatedInput<T> + Into<f64>,
{
    let half = n / 2;
    let of = Operands::new(device, [1, m, 2 * half, k], element)?;
    let (a, b, bias) = (of.a.view(), of.b.view(), of.bias.view());
    let mut d = Tensor::<T, 3>::zeros(device, [1, m, half])?;
    let epilogue = |it| Epilogue::new().scale(ALPHA).bias(&bias).activation(it);
    let plan = Plan::gated(device, &a, &b, &epilogue(Activation::Relu), &d.view_mut())?;
    for (tile, activation) in variants(&plan, k, all) {
        let plan = plan.clone().with_tile(tile)?;
        plan.launch_gated(device, &a, &b, epilogue(activation), &mut d.view_mut())?;
        let of_column = |i: usize, j: usize| of.sums[i * 2 * half + j] + of.added[j];
        let number =
            |i: usize, j: usize| exact(activation, of_column(i, 2 * j)) * of_column(i, 2 * j + 1);
        let what = format!("gated {activation:?} {tile}");
        compare(&d.download()?, [m, half, half], unit, &what, number);
    }
    Ok(())
}

#[test]
fn tensors_of_other_shapes_are_refused() -> Result<(), Error> {
    let device = Device::emulator();
    let matrix = |rows, columns| Tensor::<bf16, 2>::zeros(&device, [rows, columns]);
    let (a, b, mut d) = (matrix(16, 24)?, matrix(8, 24)?, matrix(16, 8)?);
    let (a, b) = (a.view(), b.view());
    let short = Tensor::<bf16, 1>::zeros(&device, [7])?;
    let (short, c) = (short.view(), matrix(8, 16)?);
    let c = c.view();
    let mut largest = Tensor::<f32, 1>::zeros(&device, [15])?;
    let bias = Epilogue::new().bias(&short);
    let residual = Epilogue::new().residual(1.0, &c);
    let absmax = Epilogue::new().absmax(largest.view_mut());
    for (epilogue, expected) in [
        (
            bias,
            "gemm_fused needs a bias of as many numbers as b has rows: found bias [7] and d [16, 8]",
        ),
        (
            residual,
            "gemm_fused needs c of the shape of d: found c [8, 16] and d [16, 8]",
        ),
        (
            absmax,
            "gemm_fused needs one matrix, and as many largest values as d has rows: found largest [15] and d [16, 8]",
        ),
    ] {
        let error = gemm_fused(&device, &a, &b, epilogue, &mut d.view_mut());
        assert_eq!(error.unwrap_err().to_string(), expected);
    }
    let along_m = |d: &mut Tensor<bf16, 2>| {
        let mut turned = d.view_mut().select([1, 0])?;
        gemm_fused(&device, &b, &a, Epilogue::new(), &mut turned)
    };
    assert_eq!(
        along_m(&mut d).unwrap_err().to_string(),
        "gemm_fused needs d contiguous along N: found strides [1, 8] along rows and columns"
    );
    let gated = gemm_gated(&device, &a, &b, Epilogue::new(), &mut d.view_mut());
    assert!(
        gated
            .unwrap_err()
            .to_string()
            .starts_with("gemm_gated needs a of shape (M, K), b of (2N, K)")
    );
    Ok(())
}

/// As in BLAS, so that memory of any content can be A.
#[test]
fn what_is_scaled_by_zero_has_no_effect() -> Result<(), Error> {
    let device = Device::emulator();
    let a = Tensor::from_slice(&device, &[bf16::NAN; 3 * 8], [3, 8])?;
    let b = Tensor::from_slice(&device, &[bf16::ONE; 8 * 8], [8, 8])?;
    let bias = Tensor::from_slice(&device, &[bf16::ONE; 8], [8])?;
    let (mut d, bias) = (Tensor::<bf16, 2>::zeros(&device, [3, 8])?, bias.view());
    let epilogue = Epilogue::new().scale(0.0).bias(&bias);
    gemm_fused(&device, &a.view(), &b.view(), epilogue, &mut d.view_mut())?;
    assert_eq!(d.download()?, [bf16::ONE; 24]);
    Ok(())
}

/// Without anything to sum up, a product is what is added to it.
#[test]
fn products_of_nothing_have_an_epilogue() -> Result<(), Error> {
    let device = Device::emulator();
    let (a, b) = (
        Tensor::<bf16, 2>::zeros(&device, [3, 0])?,
        Tensor::<bf16, 2>::zeros(&device, [8, 0])?,
    );
    let bias = Tensor::from_slice(&device, &[bf16::ONE; 8], [8])?;
    let (mut d, bias) = (Tensor::<bf16, 2>::zeros(&device, [3, 8])?, bias.view());
    gemm_fused(
        &device,
        &a.view(),
        &b.view(),
        Epilogue::new().bias(&bias),
        &mut d.view_mut(),
    )?;
    assert_eq!(d.download()?, [bf16::ONE; 24]);
    let mut d = Tensor::<bf16, 2>::zeros(&device, [3, 4])?;
    gemm_gated(
        &device,
        &a.view(),
        &b.view(),
        Epilogue::new().bias(&bias),
        &mut d.view_mut(),
    )?;
    assert_eq!(d.download()?, [bf16::ONE; 12]);
    let mut none = Tensor::<bf16, 2>::zeros(&device, [0, 8])?;
    let empty = Tensor::<bf16, 2>::zeros(&device, [0, 0])?;
    gemm_fused(
        &device,
        &empty.view(),
        &b.view(),
        Epilogue::new(),
        &mut none.view_mut(),
    )
}
