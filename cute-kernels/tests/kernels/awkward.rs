//! Numbers that are awkward, in every function, held against float64 and, where float64 has another result, against PyTorch's.

use cute_kernels::reference::normal;
use cute_kernels::{
    Error, attention, gemm, gemm_block_scaled, gemm_grouped, gemm_linear, gemm_list, gemm_scaled,
    gemm_update, layer_norm, quantise_rows, rms_norm, saxpy, softmax, sum, sum_rows, transpose,
};
use cute_runtime::{Device, Element, Tensor, bf16, e4m3};

use crate::device;

#[cute_runtime::kernels]
mod kernels {
    use cute_kernels::lib::{apply, gelu, gelu_tanh, relu, silu};

    /// Each activation in a row of y.
    #[kernel(threads = 256)]
    pub fn activations(
        x: Global<f32, 1>,
        #[facts(extent(y, 0) == 4, extent(y, 1) == extent(x, 0))] y: Global<f32, 2>,
    ) {
        apply::<_, _, 1>(x, y[(0, _)], |x| map(x, relu));
        apply::<_, _, 1>(x, y[(1, _)], |x| map(x, gelu));
        apply::<_, _, 1>(x, y[(2, _)], |x| map(x, gelu_tanh));
        apply::<_, _, 1>(x, y[(3, _)], |x| map(x, silu));
    }
}

/// The largest number that bf16 and f32 have, and a subnormal one of both.
const MAX: f32 = f32::from_bits(0x7f7f_0000);
const SUBNORMAL: f32 = f32::from_bits(0x0003_0000);
const INF: f32 = f32::INFINITY;
const NAN: f32 = f32::NAN;

/// Element i of a row of n.
type Row = fn(usize, usize) -> f32;

/// The awkward rows, of numbers of bf16.
const ROWS: &[(&str, Row)] = &[
    ("largest", |_, _| MAX),
    ("least", |_, _| -MAX),
    ("nearly largest", |_, _| 3e38),
    ("infinite", |_, _| INF),
    ("least infinite", |_, _| -INF),
    ("one infinite", |i, n| if i == n / 2 { INF } else { 1.0 }),
    ("one least infinite", |i, _| if i == 1 { -INF } else { 2.0 }),
    ("both infinite", |i, _| [INF, -INF, 1.0][i % 3]),
    ("nothing but NaN", |_, _| NAN),
    ("one NaN", |i, n| if i == n - 1 { NAN } else { 1.0 }),
    ("subnormal", |i, _| [SUBNORMAL, -SUBNORMAL, 0.0][i % 3]),
    ("negative zero", |_, _| -0.0),
    ("both zeros", |i, _| [0.0, -0.0][i % 2]),
    ("equal", |_, _| 0.1),
    ("equal and large", |_, _| 9984.0),
    ("equal and least", |_, _| -3e4),
    (
        "nearly equal",
        |i, _| if i == 2 { 9984.0 + 64.0 } else { 9984.0 },
    ),
    (
        "one huge",
        |i, n| if i == n / 3 { 1e30 } else { (i % 7) as f32 },
    ),
    (
        "one large",
        |i, n| if i == n / 3 { 1e5 } else { (i % 7) as f32 },
    ),
    ("one largest", |i, _| if i == 0 { MAX } else { 0.0 }),
    ("alternating", |i, _| [MAX, -MAX][i % 2]),
    ("alternating by little", |i, _| [3.0, -3.0][i % 2]),
    ("alternating by much", |i, _| [1e10, -1e10][i % 2]),
];

/// The rows as elements of a type, and as float64.
fn rows<T: Element + Into<f64>>(n: usize, of: fn(f32) -> T) -> (Vec<T>, Vec<Vec<f64>>) {
    let row = |f: &Row| (0..n).map(|i| of(f(i, n))).collect();
    let rows: Vec<Vec<T>> = ROWS.iter().map(|(_, f)| row(f)).collect();
    let wide = rows
        .iter()
        .map(|row| row.iter().map(|&x| x.into()).collect());
    (rows.concat(), wide.collect())
}

/// Holds results against what is expected: NaN against NaN, infinities and what f32 has none for against infinities, and numbers within
/// `unit` of themselves and of `size`.
#[track_caller]
fn check<T: Copy + Into<f64>>(
    function: &str,
    row: usize,
    found: &[T],
    expected: &[f64],
    (unit, size): (f64, f64),
) {
    assert_eq!(found.len(), expected.len());
    for (i, (&found, &expected)) in found.iter().zip(expected).enumerate() {
        let (found, most) = (found.into(), f64::from(f32::MAX));
        let infinite = |x: f64| x.abs() > most * (1.0 - unit);
        let agrees = if expected.is_nan() {
            found.is_nan()
        } else if infinite(expected) && infinite(found) {
            expected.signum() == found.signum()
        } else {
            (found - expected).abs() <= unit * (expected.abs() + size) + 1.2e-38
        };
        let name = ROWS[row].0;
        assert!(
            agrees,
            "{function} of {name}: element {i} is {found:e}, not {expected:e}"
        );
    }
}

/// The largest number of a row, if it has no NaN.
fn largest(row: &[f64]) -> f64 {
    row.iter().fold(
        f64::NEG_INFINITY,
        |top, x| if x.is_nan() { *x } else { top.max(*x) },
    )
}

/// PyTorch's: NaN where float64 has ∞ − ∞, and in the whole row.
fn expected_softmax(row: &[f64]) -> Vec<f64> {
    let top = largest(row);
    let e: Vec<f64> = row.iter().map(|x| (x - top).exp()).collect();
    let sum: f64 = e.iter().sum();
    e.iter().map(|e| e / sum).collect()
}

/// PyTorch's: the sum of squares is one of f32, of whose root an infinite one leaves 0.
fn expected_rms_norm(row: &[f64], epsilon: f64) -> Vec<f64> {
    let squares: f64 = row.iter().map(|x| f64::from((x * x) as f32)).sum();
    let mean = f64::from(squares as f32) / row.len() as f64;
    row.iter().map(|x| x / (mean + epsilon).sqrt()).collect()
}

/// PyTorch's: the same of differences from the mean. A row with an infinity is NaN, and so is one with a difference from the mean that is
/// infinite in f32, which overflows in PyTorch's running mean, too.
fn expected_layer_norm(row: &[f64], epsilon: f64, beta: f64) -> Vec<f64> {
    if row.iter().any(|x| x.is_infinite()) {
        return vec![f64::NAN; row.len()];
    }
    let mean = row.iter().sum::<f64>() / row.len() as f64;
    let d: Vec<f64> = row.iter().map(|x| x - mean).collect();
    if d.iter().any(|d| d.abs() > f64::from(f32::MAX)) {
        return vec![f64::NAN; row.len()];
    }
    let normal = expected_rms_norm(&d, epsilon);
    normal.iter().map(|x| x + beta).collect()
}

fn check_rows<T>(
    device: &Device,
    lengths: &[usize],
    of: fn(f32) -> T,
    unit: f64,
) -> Result<(), Error>
where
    T: Element + Into<f64> + crate::rows::OfRows + cute_kernels::sum::kernels::sum_types,
    f32: cute_kernels::sum::kernels::sum_types,
{
    for &n in lengths {
        let (elements, rows) = rows(n, of);
        let shape = [ROWS.len(), n];
        let x = Tensor::from_slice(device, &elements, shape)?;
        let ones = Tensor::from_slice(device, &vec![of(1.0); n], [n])?;
        let halves = Tensor::from_slice(device, &vec![of(0.5); n], [n])?;
        let run = |f: &dyn Fn(&mut Tensor<T, 2>) -> Result<(), Error>| {
            let mut y = Tensor::zeros(device, shape)?;
            f(&mut y)?;
            Ok::<_, Error>(y.download()?)
        };
        let x = x.view();
        let (ones, halves) = (ones.view(), halves.view());
        let soft = run(&|y| softmax(device, &x, &mut y.view_mut()))?;
        let layer = run(&|y| layer_norm(device, &x, &ones, &halves, 1e-5, &mut y.view_mut()))?;
        let rms = run(&|y| rms_norm(device, &x, &ones, 1e-5, &mut y.view_mut()))?;
        let mut sums = Tensor::<f32, 1>::zeros(device, [ROWS.len()])?;
        sum_rows(device, &x, &mut sums.view_mut())?;
        let sums = sums.download()?;
        for (i, row) in rows.iter().enumerate() {
            let part = i * n..(i + 1) * n;
            let name = |function| format!("{function} of {n} {}", T::TYPE);
            check(
                &name("softmax"),
                i,
                &soft[part.clone()],
                &expected_softmax(row),
                (unit, 0.0),
            );
            let expected = expected_layer_norm(row, 1e-5, 0.5);
            check(
                &name("layer_norm"),
                i,
                &layer[part.clone()],
                &expected,
                (unit, 1.0),
            );
            let expected = expected_rms_norm(row, 1e-5);
            check(
                &name("rms_norm"),
                i,
                &rms[part.clone()],
                &expected,
                (unit, 0.0),
            );
            let (total, size) = row.iter().fold((0.0, 0.0), |(sum, size): (f64, f64), x| {
                (sum + x, size + x.abs())
            });
            let (total, size) = ([total], if size.is_finite() { size } else { 0.0 });
            check(&name("sum_rows"), i, &sums[i..=i], &total, (1e-6, size));
            let array = Tensor::from_slice(device, &elements[part], [n])?;
            let mut one = Tensor::<f32, 1>::zeros(device, [1])?;
            sum(device, &array.view(), &mut one.view_mut())?;
            check(&name("sum"), i, &one.download()?, &total, (1e-6, size));
        }
    }
    Ok(())
}

#[test]
fn awkward_rows_agree_with_float64() -> Result<(), Error> {
    let device = device();
    // Held in registers, and taken tile after tile; rows that begin at multiples of 16 bytes, and anywhere.
    check_rows::<f32>(&device, &[24, 41, 16_392], |x| x, 3e-5)?;
    check_rows::<bf16>(&device, &[40, 12_299], bf16::from_f32, 1.0 / 128.0)
}

#[test]
fn awkward_elements_agree_with_float64() -> Result<(), Error> {
    let (device, n) = (device(), 41);
    let (elements, rows) = rows(n, |x| x);
    let all = rows.concat();
    let x = Tensor::from_slice(&device, &elements, [all.len()])?;
    let shape = [4, all.len()];
    let mut y = Tensor::<f32, 2>::zeros(&device, shape)?;
    let grid = all.len().div_ceil(2048) as u32;
    kernels::activations::launch(&device, grid, &x.view(), &mut y.view_mut())?;
    let y = y.download()?;
    // −∞ · 0 is NaN in PyTorch, too: in all three.
    let of_normal = |x: f64| 0.5 * x * erfc(-x / 2f64.sqrt());
    let by_tanh = |x: f64| {
        let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x * x * x);
        0.5 * x * (1.0 + inner.tanh())
    };
    let activations: [(&str, &dyn Fn(f64) -> f64); 4] = [
        ("relu", &|x| if x < 0.0 { 0.0 } else { x }),
        ("gelu", &of_normal),
        ("gelu_tanh", &by_tanh),
        ("silu", &|x| x / (1.0 + (-x).exp())),
    ];
    for ((name, f), y) in activations.iter().zip(y.chunks(all.len())) {
        for (row, (x, y)) in rows.iter().zip(y.chunks(n)).enumerate() {
            // As in PyTorch, what is added to 1 is rounded to f32. So errors are relative to x.
            for (i, x) in x.iter().enumerate() {
                check(name, row, &y[i..=i], &[f(*x)], (1e-6, x.abs().min(10.0)));
            }
        }
    }
    // y = 2 x + y, for y that is the same in another order.
    let turned: Vec<f32> = elements.iter().rev().copied().collect();
    let mut y = Tensor::from_slice(&device, &turned, [all.len()])?;
    saxpy(&device, 2.0, &x.view(), &mut y.view_mut())?;
    for (row, y) in y.download()?.chunks(n).enumerate() {
        let pairs = (row * n..).zip(&rows[row]);
        let expected: Vec<f64> = pairs.map(|(i, x)| 2.0 * x + f64::from(turned[i])).collect();
        check("saxpy", row, y, &expected, (1e-6, 0.0));
    }
    let matrix = Tensor::from_slice(&device, &elements, [n, ROWS.len()])?;
    let mut y = Tensor::<f32, 2>::zeros(&device, [ROWS.len(), n])?;
    // Rows of TMA begin at multiples of 16 bytes.
    let padded = Tensor::from_slice_strided(&device, &elements, [n, ROWS.len()], [24, 1])?;
    transpose(&device, &padded.view(), &mut y.view_mut())?;
    let turned = matrix.view().select([1, 0])?.download()?;
    let bits = |x: Vec<f32>| -> Vec<u32> { x.into_iter().map(f32::to_bits).collect() };
    assert_eq!(bits(y.download()?), bits(turned), "transpose");
    Ok(())
}

/// The complement of the error function, by its series or its continued fraction.
fn erfc(x: f64) -> f64 {
    if x.is_nan() || x.is_infinite() {
        return 1.0 - x.signum();
    }
    if x < 0.0 {
        return 2.0 - erfc(-x);
    }
    if x > 3.0 {
        let tail = (1..60)
            .rev()
            .fold(0.0, |tail, i| f64::from(i) / 2.0 / (x + tail));
        return (-x * x).exp() / std::f64::consts::PI.sqrt() / (x + tail);
    }
    let (mut term, mut sum) = (x, x);
    for i in 1..100 {
        term *= 2.0 * x * x / f64::from(2 * i + 1);
        sum += term;
    }
    1.0 - std::f64::consts::FRAC_2_SQRT_PI * (-x * x).exp() * sum
}

/// Each row by the rows of a matrix with a 1 and zeros, and one with twos: 0 · ∞ is NaN in float64, too.
#[test]
fn awkward_products_agree_with_float64() -> Result<(), Error> {
    let (device, m, k) = (device(), ROWS.len(), 40);
    let (elements, rows) = rows(k, bf16::from_f32);
    let weights: [fn(usize) -> f32; 3] = [
        |i| if i == 0 { 1.0 } else { 0.0 },
        |i| if i == 20 { -1.0 } else { 0.0 },
        |i| if i < 4 { 2.0 } else { 0.0 },
    ];
    let n = weights.len();
    let b: Vec<bf16> = weights
        .iter()
        .flat_map(|f| (0..k).map(|i| bf16::from_f32(f(i))))
        .collect();
    let product = |row: &[f64]| -> Vec<f64> {
        let of = |f: &fn(usize) -> f32| {
            row.iter()
                .enumerate()
                .map(|(i, x)| x * f64::from(f(i)))
                .sum()
        };
        weights.iter().map(of).collect()
    };
    let a = Tensor::from_slice(&device, &elements, [m, k])?;
    let b = Tensor::from_slice(&device, &b, [n, k])?;
    let (a, b) = (a.view(), b.view());
    let checked = |name: &str, d: &[f32], f: &dyn Fn(f64) -> f64| {
        for (row, d) in d.chunks(n).enumerate() {
            let expected: Vec<f64> = product(&rows[row]).into_iter().map(f).collect();
            check(name, row, d, &expected, (1e-6, 0.0));
        }
    };
    let zeros = || Tensor::<f32, 2>::zeros(&device, [m, n]);
    let mut d = zeros()?;
    gemm(&device, &a, &b, &mut d.view_mut())?;
    checked("gemm", &d.download()?, &|x| x);
    let of_list = &mut [d.view_mut()];
    gemm_list(&device, &[a], &[b], of_list)?;
    checked("gemm_list", &d.download()?, &|x| x);
    // What is multiplied by 0 does not count, as in BLAS and in PyTorch's `addmm`, be it NaN or infinite.
    for (alpha, beta, c) in [
        (1.0, 0.0, NAN),
        (0.0, 2.0, 3.0),
        (0.0, 0.0, INF),
        (-2.0, 1.0, INF),
        (0.5, 2.0, MAX),
        (2.0, -1.0, -0.0),
    ] {
        let added = Tensor::from_slice(&device, &vec![c; m * n], [m, n])?;
        let linear = |x: f64| {
            let part = |factor: f32, x: f64| {
                if factor == 0.0 {
                    0.0
                } else {
                    f64::from(factor) * x
                }
            };
            // A sum of products and a multiple of C are numbers of f32, and may be infinite before they are added.
            let [x, added] = [x, part(beta, c.into())].map(|x| f64::from(x as f32));
            part(alpha, x) + added
        };
        let name = format!("{alpha} · A · Bᵀ + {beta} · {c:e}");
        let multiplied = |added: &Tensor<f32, 2>, mut d: Tensor<f32, 2>| -> Result<(), Error> {
            let (c, out) = (added.view(), &mut d.view_mut());
            gemm_linear(&device, alpha, &a, &b, beta, &c, out)?;
            checked(&name, &d.download()?, &linear);
            Ok(())
        };
        // Stored by elements, and by TMA.
        multiplied(&added, zeros()?)?;
        let strides = [4, 1];
        let added = Tensor::from_slice_strided(&device, &vec![c; m * n], [m, n], strides)?;
        multiplied(&added, Tensor::zeros_strided(&device, [m, n], strides)?)?;
        let mut d = added;
        gemm_update(&device, alpha, &a, &b, beta, &mut d.view_mut())?;
        checked(&name, &d.download()?, &linear);
    }
    let one = b.prepend::<3>()?;
    let mut d = Tensor::<bf16, 2>::zeros(&device, [m, n])?;
    let ends = Tensor::from_slice(&device, &[m as i32], [1])?;
    gemm_grouped(&device, &a, &one, &ends.view(), &mut d.view_mut())?;
    for (row, d) in d.download()?.chunks(n).enumerate() {
        check(
            "gemm_grouped",
            row,
            d,
            &product(&rows[row]),
            (1.0 / 128.0, 0.0),
        );
    }
    Ok(())
}

/// Scores that are awkward numbers: each row is that of one query.
#[test]
fn awkward_scores_agree_with_float64() -> Result<(), Error> {
    let (device, keys, d) = (device(), 140, 64);
    let (elements, rows) = rows(keys, bf16::from_f32);
    let first = |x: &[bf16]| -> Vec<bf16> {
        x.iter()
            .flat_map(|&x| (0..d).map(move |i| if i == 0 { x } else { bf16::ZERO }))
            .collect()
    };
    let heads = rows.len();
    let q = Tensor::from_slice(&device, &first(&vec![bf16::ONE; heads]), [heads, 1, d])?;
    let k = Tensor::from_slice(&device, &first(&elements), [heads, keys, d])?;
    let values = normal(3, heads * keys * d);
    let v = Tensor::from_slice(&device, &values, [heads, keys, d])?;
    let mut o = Tensor::<bf16, 3>::zeros(&device, [heads, 1, d])?;
    attention(
        &device,
        &q.view(),
        &k.view(),
        &v.view(),
        &mut o.view_mut(),
        false,
        1.0,
    )?;
    for (head, o) in o.download()?.chunks(d).enumerate() {
        let weights = expected_softmax(&rows[head]);
        let value = |key: usize, i: usize| values[(head * keys + key) * d + i].to_f64();
        let mean = |i| {
            weights
                .iter()
                .enumerate()
                .map(|(key, w)| w * value(key, i))
                .sum()
        };
        let expected: Vec<f64> = (0..d).map(mean).collect();
        // Weights are rounded to bf16, and values are of about 1.
        check("attention", head, o, &expected, (1.0 / 128.0, 2.0));
    }
    Ok(())
}

/// The largest number of a row may be infinite or none: the scale is, as in `x / (x.abs().amax() / 448)`.
#[test]
fn awkward_rows_are_quantised() -> Result<(), Error> {
    let (device, n) = (device(), 41);
    let (elements, rows) = rows(n, |x| x);
    // As `absmax_of_rows` finds them, which leaves out NaN.
    let most = |row: &Vec<f64>| row.iter().fold(0.0f64, |most, x| most.max(x.abs())) as f32;
    let largest: Vec<f32> = rows.iter().map(most).collect();
    let shape = [ROWS.len(), n];
    let x = Tensor::from_slice(&device, &elements, shape)?;
    let of_rows = Tensor::from_slice(&device, &largest, [ROWS.len()])?;
    let mut y = Tensor::<e4m3, 2>::zeros(&device, shape)?;
    let mut scales = Tensor::<f32, 1>::zeros(&device, [ROWS.len()])?;
    let (to, of_scales) = (&mut y.view_mut(), &mut scales.view_mut());
    quantise_rows(&device, &x.view(), &of_rows.view(), to, of_scales)?;
    let (y, scales) = (y.download()?, scales.download()?);
    for (i, row) in rows.iter().enumerate() {
        let scale = f64::from(largest[i] / 448.0);
        check("scales", i, &scales[i..=i], &[scale], (1e-6, 0.0));
        let quotient = |x: &f64| if scale > 0.0 { x / scale } else { 0.0 };
        let expected: Vec<f64> = row.iter().map(quotient).collect();
        check(
            "quantise_rows",
            i,
            &y[i * n..][..n],
            &expected,
            (1.0 / 16.0, 0.02),
        );
    }
    Ok(())
}

/// Scales of any size, in any order, with sums of products of any size.
#[test]
fn awkward_scales_agree_with_float64() -> Result<(), Error> {
    let device = device();
    let sizes = [
        1e33, 1e-33, -1e20, 1e-20, 3e38, 1.2e-38, 1.0, -0.0, 0.0, INF, -INF, NAN, 1e-44, 7e-29,
        1.9e19,
    ];
    let (m, n) = (sizes.len(), 16);
    // 0, the least sum of a product, a sum of 1, and a large one.
    for (x, y, k) in [
        (0.0, 1.0, 16),
        (0.001953125, 0.001953125, 1),
        (1.0, 1.0, 1),
        (256.0, 256.0, 512),
    ] {
        let operand = |x: f32, rows: usize| {
            Tensor::from_slice(&device, &vec![e4m3::from_f32(x); rows * k], [rows, k])
        };
        let (a, b) = (operand(x, m)?, operand(y, n)?);
        let of_b: Vec<f32> = sizes.iter().copied().cycle().take(n).collect();
        let scale_a = Tensor::from_slice(&device, &sizes, [m])?;
        let scale_b = Tensor::from_slice(&device, &of_b, [n])?;
        let sum = f64::from(x) * f64::from(y) * k as f64;
        // Stored by TMA, and by elements.
        for stride in [n, n + 1] {
            let mut d = Tensor::<f32, 2>::zeros_strided(&device, [m, n], [stride, 1])?;
            let (of_a, of_d) = (a.view(), &mut d.view_mut());
            gemm_scaled(
                &device,
                &of_a,
                &scale_a.view(),
                &b.view(),
                &scale_b.view(),
                of_d,
            )?;
            for (i, d) in d.download()?.chunks(n).enumerate() {
                for (j, found) in d.iter().enumerate() {
                    // The product of the last two would be finite where the first is 0 and an infinite one NaN.
                    let expected = sum * f64::from(sizes[i]) * f64::from(of_b[j]);
                    let (found, most) = (f64::from(*found), f64::from(f32::MAX));
                    let agrees = match expected.is_nan() {
                        true => found.is_nan(),
                        false if expected.abs() > most => found == f64::INFINITY.copysign(expected),
                        false => (found - expected).abs() <= 1e-6 * expected.abs() + 1e-44,
                    };
                    let scales = [sizes[i], of_b[j]];
                    assert!(
                        agrees,
                        "{sum} times {scales:?}: {found:e}, not {expected:e}"
                    );
                }
            }
        }
        // Scales of blocks are multiplied with each other first.
        for [scale_a, scale_b] in [
            [1e33, 1e-33],
            [1e-20, -1e10],
            [NAN, 1.0],
            [INF, 1.0],
            [1e20, 1e20],
        ] {
            let blocks = k.div_ceil(128);
            let of_a = Tensor::from_slice(&device, &vec![scale_a; m * blocks], [m, blocks])?;
            let of_b = Tensor::from_slice(&device, &vec![scale_b; blocks], [1, blocks])?;
            let mut d = Tensor::<f32, 2>::zeros(&device, [m, n])?;
            let (a, to) = (a.view(), &mut d.view_mut());
            gemm_block_scaled(&device, &a, &of_a.view(), &b.view(), &of_b.view(), to)?;
            let expected = sum * f64::from(scale_a * scale_b);
            for found in d.download()? {
                let found = f64::from(found);
                let agrees = match expected.is_finite() {
                    true => (found - expected).abs() <= 1e-6 * expected.abs(),
                    false => found == expected || found.is_nan() && expected.is_nan(),
                };
                assert!(
                    agrees,
                    "{sum} by blocks {scale_a} {scale_b}: {found:e}, not {expected:e}"
                );
            }
        }
    }
    Ok(())
}
