//! Products with scales, compared with float64, and the epilogues that scale.

use cute_kernels::gemm::scaled::ScaledInput;
use cute_kernels::reference::{self, Matrix, normal};
use cute_kernels::{Error, gemm_block_scaled, gemm_scaled};
use cute_runtime::{Device, Tensor, TensorView, bf16, e4m3};

use crate::device;

/// Elements of A and B.
trait Input: ScaledInput + Into<f64> {
    /// The relative error of a sum after that many instructions, besides that of f32: see the products without scales.
    const ERROR: f64;
    fn random(number: f32) -> Self;
}

impl Input for e4m3 {
    const ERROR: f64 = 4.0 / 8192.0;
    fn random(number: f32) -> Self {
        e4m3::from_f32(number)
    }
}

impl Input for i8 {
    const ERROR: f64 = 0.0;
    fn random(number: f32) -> Self {
        (number * 50.0) as i8
    }
}

/// What lies beside the rows of D, and stays there.
const GUARD: bf16 = bf16::from_bits(0x42e2);

fn random<T: Input>(seed: u64, n: usize) -> Vec<T> {
    let numbers = normal(seed, n);
    numbers.into_iter().map(|x| T::random(x.to_f32())).collect()
}

/// Scales of either sign, of several magnitudes.
fn scales(seed: u64, n: usize) -> Vec<f32> {
    let numbers = normal(seed, n);
    numbers
        .into_iter()
        .map(|x| (2.0 * x.to_f32()).exp2() * 1f32.copysign(x.to_f32()))
        .collect()
}

/// A matrix in float64 whose elements are multiplied by a factor for each row and column.
fn scaled<T: Copy + Into<f64>>(
    x: &[T],
    k: usize,
    factor: impl Fn(usize, usize) -> f32,
) -> Vec<f64> {
    let element = |(at, x): (usize, &T)| (*x).into() * f64::from(factor(at / k, at % k));
    x.iter().enumerate().map(element).collect()
}

/// D with rows of `ldd` elements by a launch, held against the product of two matrices. `instructions` is how many sum up before a
/// sum is added to another in f32.
fn check(
    device: &Device,
    ([m, n, k], ldd): ([usize; 3], usize),
    (a, b): (&[f64], &[f64]),
    error: f64,
    launch: impl FnOnce(&mut cute_runtime::TensorViewMut<'_, bf16, 2>) -> Result<(), Error>,
) {
    let mut buffer = device.upload(&vec![GUARD; m * ldd]).unwrap();
    launch(&mut buffer.view_mut(0, [m, n], [ldd, 1]).unwrap()).unwrap();
    let d = buffer.download().unwrap();
    let found = reference::gemm(
        Matrix::packed(a, m, k),
        Matrix::packed(b, n, k),
        Matrix {
            data: &d,
            rows: m,
            cols: n,
            stride: ldd,
        },
    );
    assert!(
        found.is_rounding(1.0 / 128.0 + error, k.div_ceil(32)),
        "{m} x {n} x {k}, rows of {ldd}: {found:?}"
    );
    for row in d.chunks(ldd) {
        assert!(row[n..].iter().all(|x| *x == GUARD), "written between rows");
    }
}

/// Scales of `rows` rows of A and `columns` rows of B, which are as many as these or one.
fn check_rows<T: Input>(device: &Device, shape: [usize; 3], ldd: usize, one: [bool; 2]) {
    let [m, n, k] = shape;
    let (a, b) = (random::<T>(1, m * k), random::<T>(2, n * k));
    let count = |rows, one| if one { 1 } else { rows };
    let (rows, columns) = (scales(3, count(m, one[0])), scales(4, count(n, one[1])));
    let at = Tensor::from_slice(device, &a, [m, k]).unwrap();
    let bt = Tensor::from_slice(device, &b, [n, k]).unwrap();
    let scale_a = Tensor::from_slice(device, &rows, [rows.len()]).unwrap();
    let scale_b = Tensor::from_slice(device, &columns, [columns.len()]).unwrap();
    let exact_a = scaled(&a, k, |i, _| rows[i.min(rows.len() - 1)]);
    let exact_b = scaled(&b, k, |j, _| columns[j.min(columns.len() - 1)]);
    let error = T::ERROR * k.div_ceil(32) as f64;
    check(device, (shape, ldd), (&exact_a, &exact_b), error, |d| {
        let (scale_a, scale_b) = (scale_a.view(), scale_b.view());
        gemm_scaled(device, &at.view(), &scale_a, &bt.view(), &scale_b, d)
    });
}

/// Scales of blocks, those of A along K or along M.
fn check_blocks(device: &Device, shape: [usize; 3], ldd: usize, along_m: bool) {
    let [m, n, k] = shape;
    let (a, b) = (random::<e4m3>(1, m * k), random::<e4m3>(2, n * k));
    let (high, wide) = (n.div_ceil(128), k.div_ceil(128));
    let (rows, blocks) = (scales(3, m * wide), scales(4, high * wide));
    let strides = if along_m { [1, m] } else { [wide, 1] };
    let at = Tensor::from_slice(device, &a, [m, k]).unwrap();
    let bt = Tensor::from_slice(device, &b, [n, k]).unwrap();
    let scale_a = device.upload(&rows).unwrap();
    let scale_a: TensorView<'_, f32, 2> = scale_a.view(0, [m, wide], strides).unwrap();
    let scale_b = Tensor::from_slice(device, &blocks, [high, wide]).unwrap();
    let exact_a = scaled(&a, k, |i, k| rows[i * strides[0] + k / 128 * strides[1]]);
    let exact_b = scaled(&b, k, |j, k| blocks[j / 128 * wide + k / 128]);
    check(
        device,
        (shape, ldd),
        (&exact_a, &exact_b),
        4.0 * e4m3::ERROR,
        |d| {
            let scale_b = scale_b.view();
            gemm_block_scaled(device, &at.view(), &scale_a, &bt.view(), &scale_b, d)
        },
    );
}

/// Extents around those of tiles and blocks, some of one tile of 128 × 64, some of several of 128 × 128 and 128 × 256.
const SHAPES: &[[usize; 3]] = &[
    [1, 8, 16],
    [65, 65, 65],
    [127, 129, 257],
    [200, 136, 520],
    [129, 257, 700],
    [520, 776, 136],
];

/// Larger products, which take too long on the emulator.
const LARGE_SHAPES: &[[usize; 3]] = &[
    [1, 4096, 4096],
    [1023, 1025, 1031],
    [128, 7168, 2048],
    [2176, 2304, 2240],
    [4096, 4096, 7168],
];

fn shapes(device: &Device) -> impl Iterator<Item = [usize; 3]> {
    let large = if device.is_emulator() {
        &[]
    } else {
        LARGE_SHAPES
    };
    SHAPES.iter().chain(large).copied()
}

#[test]
fn rows_and_columns_are_scaled() {
    let device = device();
    for [m, n, k] in shapes(&device) {
        // Stored by TMA, and copied to rows that TMA cannot store.
        check_rows::<e4m3>(
            &device,
            [m, n.next_multiple_of(8), k],
            n.next_multiple_of(8) + 8,
            [false; 2],
        );
        check_rows::<e4m3>(&device, [m, n, k], n + 1, [true, false]);
        check_rows::<i8>(&device, [m, n, k], n | 1, [false, true]);
    }
    check_rows::<i8>(&device, [300, 520, 72], 520, [true; 2]);
}

#[test]
fn blocks_are_scaled() {
    let device = device();
    for [m, n, k] in shapes(&device) {
        check_blocks(
            &device,
            [m, n.next_multiple_of(8), k],
            n.next_multiple_of(8) + 8,
            true,
        );
        check_blocks(&device, [m, n, k], n + 1, false);
    }
}

#[test]
fn products_with_scales_do_not_notice_the_schedule() {
    for seed in 1..4 {
        let device = Device::emulator_with_seed(seed);
        for shape in [[130, 72, 1100], [130, 264, 900], [200, 136, 900]] {
            check_rows::<e4m3>(&device, shape, shape[1], [false; 2]);
            check_blocks(&device, shape, shape[1], true);
        }
    }
}

/// Summands that cancel leave nothing of smaller ones in sums with 13 bits after the point.
#[test]
fn promotion_keeps_what_instructions_would_lose() -> Result<(), Error> {
    let device = device();
    let (m, n, k) = (64, 64, 512);
    let factor = |at: usize, last: f32| match at % k / 128 {
        0 => e4m3::MAX,
        3 => e4m3::from_f32(last),
        _ => e4m3::from_f32(1.0),
    };
    let top = e4m3::MAX.to_f32();
    let numbers = |rows: usize, last| (0..rows * k).map(|at| factor(at, last)).collect::<Vec<_>>();
    let a = Tensor::from_slice(&device, &numbers(m, top), [m, k])?;
    let b = Tensor::from_slice(&device, &numbers(n, -top), [n, k])?;
    let ones =
        |shape: [usize; 2]| Tensor::from_slice(&device, &vec![1f32; shape[0] * shape[1]], shape);
    let one = Tensor::from_slice(&device, &[1f32], [1])?;
    let mut d = Tensor::<bf16, 2>::zeros(&device, [m, n])?;
    let (a, b) = (a.view(), b.view());
    gemm_scaled(&device, &a, &one.view(), &b, &one.view(), &mut d.view_mut())?;
    assert!(d.download()?.iter().all(|x| x.to_f32() != 256.0));
    let (scale_a, scale_b) = (ones([m, 4])?, ones([1, 4])?);
    gemm_block_scaled(
        &device,
        &a,
        &scale_a.view(),
        &b,
        &scale_b.view(),
        &mut d.view_mut(),
    )?;
    assert_eq!(d.download()?, [bf16::from_f32(256.0); 64 * 64]);
    Ok(())
}

#[test]
fn scales_are_refused_before_the_launch() -> Result<(), Error> {
    let device = Device::emulator();
    let matrix = |rows| Tensor::<e4m3, 2>::zeros(&device, [rows, 300]);
    let (a, b) = (matrix(16)?, matrix(136)?);
    let mut d = Tensor::<bf16, 2>::zeros(&device, [16, 136])?;
    let vector = |n| Tensor::<f32, 1>::zeros(&device, [n]);
    let blocks = |shape| Tensor::<f32, 2>::zeros(&device, shape);
    for (scale_a, scale_b, expected) in [
        (15, 136, "scale_a of shape [16] or [1]: found [15]"),
        (16, 2, "scale_b of shape [136] or [1]: found [2]"),
    ] {
        let (x, y) = (vector(scale_a)?, vector(scale_b)?);
        let (a, b, x, y) = (a.view(), b.view(), x.view(), y.view());
        let error = gemm_scaled(&device, &a, &x, &b, &y, &mut d.view_mut()).unwrap_err();
        assert_eq!(error.to_string(), format!("gemm_scaled needs {expected}"));
    }
    for (scale_a, scale_b, expected) in [
        ([16, 2], [2, 3], "scale_a of shape [16, 3]: found [16, 2]"),
        ([16, 3], [136, 3], "scale_b of shape [2, 3]: found [136, 3]"),
    ] {
        let (x, y) = (blocks(scale_a)?, blocks(scale_b)?);
        let (a, b, x, y) = (a.view(), b.view(), x.view(), y.view());
        let error = gemm_block_scaled(&device, &a, &x, &b, &y, &mut d.view_mut()).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("gemm_block_scaled needs {expected}")
        );
    }
    // Scales that are contiguous along neither mode, and D along M.
    let (x, y) = (blocks([16, 16])?, blocks([2, 3])?);
    let apart = x.buffer().view(0, [16, 3], [16, 2])?;
    let error = gemm_block_scaled(
        &device,
        &a.view(),
        &apart,
        &b.view(),
        &y.view(),
        &mut d.view_mut(),
    );
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("argument scale_a") && error.contains("stride"),
        "{error}"
    );
    let one = vector(1)?;
    let mut turned = Tensor::<bf16, 2>::zeros(&device, [136, 16])?;
    let mut turned = turned.view_mut().select([1, 0])?;
    let error = gemm_scaled(
        &device,
        &a.view(),
        &one.view(),
        &b.view(),
        &one.view(),
        &mut turned,
    );
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("argument d") && error.contains("stride"),
        "{error}"
    );
    let error = gemm_scaled(
        &device,
        &b.view(),
        &one.view(),
        &a.view(),
        &one.view(),
        &mut d.view_mut(),
    );
    assert!(matches!(error, Err(Error::GemmShapes { .. })), "{error:?}");
    Ok(())
}
