//! Softmax, norms, sums, histograms and maps compared with float64, for lengths around those at which the kernels change.

use std::sync::Once;

use cute_kernels::{
    histogram, layer_norm, reference::normal, rms_norm, saxpy, softmax, sum, sum_rows,
};
use cute_runtime::{Buffer, Device, Element, Tensor, bf16, f16};

use crate::device;
use crate::whole::whole;

/// An element of the kernels, and its relative error.
trait Number: Element + Into<f64> {
    const UNIT: f64;
    fn from(x: f64) -> Self;
}

impl Number for bf16 {
    const UNIT: f64 = 1.0 / 128.0;
    fn from(x: f64) -> Self {
        bf16::from_f64(x)
    }
}

impl Number for f16 {
    const UNIT: f64 = 1.0 / 1024.0;
    fn from(x: f64) -> Self {
        f16::from_f64(x)
    }
}

impl Number for f32 {
    const UNIT: f64 = 1e-5;
    fn from(x: f64) -> Self {
        x as f32
    }
}

fn numbers<T: Number>(seed: u64, count: usize) -> Vec<T> {
    let numbers = normal(seed, count).into_iter();
    numbers.map(|x| T::from(x.to_f64() * 1.1)).collect()
}

/// A matrix whose rows are `stride` elements apart, with a number between them that no result may depend on.
struct Padded<T> {
    rows: usize,
    columns: usize,
    stride: usize,
    elements: Vec<T>,
}

impl<T: Number> Padded<T> {
    fn random(seed: u64, rows: usize, columns: usize, stride: usize) -> Self {
        let mut elements = vec![T::from(77.0); rows * stride];
        let numbers = numbers::<T>(seed, rows * columns);
        for (row, numbers) in elements.chunks_mut(stride).zip(numbers.chunks(columns)) {
            row[..columns].copy_from_slice(numbers);
        }
        Self {
            rows,
            columns,
            stride,
            elements,
        }
    }

    fn upload(&self, device: &Device) -> Buffer<T> {
        device.upload(&self.elements).unwrap()
    }

    fn row(&self, i: usize) -> Vec<f64> {
        let row = &self.elements[i * self.stride..][..self.columns];
        row.iter().map(|&x| x.into()).collect()
    }

    /// Runs a kernel from this matrix into one like it, and compares each row with what `expected` makes of the row of this
    /// matrix, where summands of a result are as large as `size`. The padding must stay as it is.
    fn check(
        &self,
        device: &Device,
        size: f64,
        run: impl FnOnce(&Buffer<T>, &mut Buffer<T>),
        expected: impl Fn(&[f64]) -> Vec<f64>,
    ) {
        let source = self.upload(device);
        let mut destination = device
            .upload(&vec![T::from(55.0); self.elements.len()])
            .unwrap();
        run(&source, &mut destination);
        let found = destination.download().unwrap();
        for i in 0..self.rows {
            let (row, padding) = found[i * self.stride..][..self.stride].split_at(self.columns);
            for (j, (&found, expected)) in row.iter().zip(expected(&self.row(i))).enumerate() {
                let found: f64 = found.into();
                let difference = (found - expected).abs();
                let place = format!("({i}, {j}) of {} x {} {}", self.rows, self.columns, T::TYPE);
                assert!(
                    difference <= T::UNIT * (expected.abs() + size),
                    "{place}: {found} instead of {expected}"
                );
            }
            assert!(
                padding.iter().all(|&x| x.into() == 55.0),
                "the padding of row {i}"
            );
        }
    }
}

/// Rows, columns, and elements from one row to the next.
fn shapes(device: &Device) -> Vec<[usize; 3]> {
    let mut shapes = vec![
        [1, 1, 1],
        [5, 3, 3],
        [9, 40, 48],
        [4, 100, 101],
        [2, 1024, 1024],
        [3, 1025, 1025],
        [2, 1032, 1040],
        [3, 2048, 2056],
        [1, 3064, 3072],
        [2, 4088, 4096],
        [2, 2049, 2050],
        [1, 4104, 4104],
        [1, 8192, 8192],
        [1, 8193, 8193],
        [1, 12_288, 12_288],
        [1, 12_296, 12_296],
        [2, 16392, 16400],
        [1, 4095, 4095],
        [2, 12_000, 12_003],
        [3, 33_000, 33_000],
        [2, 40_001, 40_001],
    ];
    if !device.is_emulator() {
        shapes.extend([
            [1000, 4096, 4096],
            [300, 50_257, 50_257],
            [300, 50_304, 50_304],
            [140, 200_008, 200_008],
            [133, 8191, 8200],
        ]);
    }
    shapes
}

/// The types of elements of which there are kernels that work on rows.
pub(crate) trait OfRows:
    cute_kernels::softmax::kernels::softmax_types
    + cute_kernels::softmax::kernels::softmax_long_types
    + cute_kernels::norm::kernels::layer_norm_types
    + cute_kernels::norm::kernels::layer_norm_long_types
    + cute_kernels::norm::kernels::rms_norm_types
    + cute_kernels::norm::kernels::rms_norm_long_types
    + cute_kernels::sum::kernels::sum_rows_types
{
}

impl OfRows for bf16 {}
impl OfRows for f16 {}
impl OfRows for f32 {}

fn check_rows<T>(device: &Device)
where
    T: Number + OfRows,
{
    for [rows, columns, stride] in shapes(device) {
        let x = Padded::<T>::random(1, rows, columns, stride);
        let (shape, strides) = ([rows, columns], [stride, 1]);
        let (gamma, beta) = (numbers::<T>(2, columns), numbers::<T>(3, columns));
        let gamma_on = Tensor::from_slice(device, &gamma, [columns]).unwrap();
        let beta_on = Tensor::from_slice(device, &beta, [columns]).unwrap();
        let mean = |row: &[f64]| row.iter().sum::<f64>() / columns as f64;
        let squares = |row: &[f64]| row.iter().map(|x| x * x).sum::<f64>() / columns as f64;
        x.check(
            device,
            1e-4,
            |x, y| {
                let x = x.view(0, shape, strides).unwrap();
                softmax(device, &x, &mut y.view_mut(0, shape, strides).unwrap()).unwrap();
            },
            |row| {
                let sum: f64 = row.iter().map(|x| x.exp()).sum();
                row.iter().map(|x| x.exp() / sum).collect()
            },
        );
        x.check(
            device,
            1.0,
            |x, y| {
                let x = x.view(0, shape, strides).unwrap();
                let mut y = y.view_mut(0, shape, strides).unwrap();
                layer_norm(device, &x, &gamma_on.view(), &beta_on.view(), 1e-2, &mut y).unwrap();
            },
            |row| {
                let mean = mean(row);
                let centred: Vec<f64> = row.iter().map(|x| x - mean).collect();
                let scale = (squares(&centred) + 1e-2).sqrt();
                let weights = gamma.iter().zip(&beta);
                let weights =
                    weights.map(|(&gamma, &beta)| -> [f64; 2] { [gamma.into(), beta.into()] });
                let pairs = centred.iter().zip(weights);
                pairs
                    .map(|(x, [gamma, beta])| x / scale * gamma + beta)
                    .collect()
            },
        );
        x.check(
            device,
            1.0,
            |x, y| {
                let x = x.view(0, shape, strides).unwrap();
                let mut y = y.view_mut(0, shape, strides).unwrap();
                rms_norm(device, &x, &gamma_on.view(), 1e-2, &mut y).unwrap();
            },
            |row| {
                let scale = (squares(row) + 1e-2).sqrt();
                let pairs = row.iter().zip(&gamma);
                pairs.map(|(x, &gamma)| x / scale * gamma.into()).collect()
            },
        );
        let source = x.upload(device);
        let mut sums = Tensor::<f32, 1>::zeros(device, [rows]).unwrap();
        let view = source.view(0, shape, strides).unwrap();
        sum_rows(device, &view, &mut sums.view_mut()).unwrap();
        for (i, found) in sums.download().unwrap().into_iter().enumerate() {
            let row = x.row(i);
            let (sum, magnitudes) = (
                row.iter().sum::<f64>(),
                row.iter().map(|x| x.abs()).sum::<f64>(),
            );
            assert!(
                (f64::from(found) - sum).abs() <= 1e-6 * magnitudes,
                "sum of row {i}: {found}, {sum}"
            );
        }
    }
}

#[test]
pub(crate) fn rows_of_bf16_agree_with_float64() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        check_rows::<bf16>(&device());
    });
}

#[test]
pub(crate) fn rows_of_f16_agree_with_float64() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        check_rows::<f16>(&device());
    });
}

#[test]
pub(crate) fn rows_of_f32_agree_with_float64() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        check_rows::<f32>(&device());
    });
}

#[test]
fn softmax_does_not_notice_the_schedule() {
    let x = Padded::<f32>::random(4, 2, 2000, 2000);
    let run = |device: &Device| {
        let source = x.upload(device);
        let mut y = Tensor::<f32, 2>::zeros(device, [2, 2000]).unwrap();
        let view = source.view(0, [2, 2000], [2000, 1]).unwrap();
        softmax(device, &view, &mut y.view_mut()).unwrap();
        y.download().unwrap()
    };
    let expected = run(&Device::emulator());
    assert!((1..4).all(|seed| run(&Device::emulator_with_seed(seed)) == expected));
}

/// The softmax of a row, and how far its elements may be from that of float64, relatively. Exponentials below 2⁻¹²⁶ are 0.
fn check_softmax(device: &Device, name: &str, x: &[f32]) {
    let n = x.len();
    let on_device = Tensor::from_slice(device, x, [1, n]).unwrap();
    let mut y = Tensor::<f32, 2>::zeros(device, [1, n]).unwrap();
    softmax(device, &on_device.view(), &mut y.view_mut()).unwrap();
    let y = y.download().unwrap();
    let top = x.iter().copied().fold(f32::MIN, f32::max);
    let exp = |x: &f32| (f64::from(*x) - f64::from(top)).exp();
    let sum: f64 = x.iter().map(exp).sum();
    let unit = 2f64.powi(-22);
    let bound = unit * (32.0 + (n as f64).log2());
    for (i, (x, y)) in x.iter().zip(&y).enumerate() {
        let (expected, found) = (exp(x) / sum, f64::from(*y));
        // The second summand is the rounding to f32.
        let possible = expected * (bound + unit / 4.0) + 2f64.powi(-126);
        assert!(
            (found - expected).abs() <= possible,
            "{name} of {n}: element {i} is {found:e}, not {expected:e}: off by {:.1} units of 2^-22",
            (found / expected - 1.0).abs() / unit
        );
    }
    let found: f64 = y.iter().map(|&y| f64::from(y)).sum();
    assert!((found - 1.0).abs() <= bound, "{name} of {n}: {found}");
    // The exponential of the largest is exactly 1.
    if sum == 1.0 {
        assert!(y.contains(&1.0), "{name} of {n}: {y:?}");
    }
}

/// However large its numbers are, and however long it is.
#[test]
fn softmax_of_any_finite_row_agrees_with_float64() {
    let device = device();
    let all = [
        -0.0,
        1e-40,
        50.3,
        -3e4,
        1e6,
        -1e7,
        1.6e9,
        -1e10,
        1e30,
        1.8e38,
        f32::MAX,
        f32::MIN,
    ];
    // The last three take a tile after another; the rows of the last two begin anywhere.
    for n in [2, 40, 41, 1000, 20_000, 20_001, 70_001] {
        let of = |f: &dyn Fn(f32) -> f32| -> Vec<f32> { (0..n).map(|i| f(i as f32)).collect() };
        let tops = if n > 1000 && !whole() {
            &all[5..7]
        } else {
            &all
        };
        for &top in tops {
            check_softmax(&device, &format!("all {top:e}"), &of(&|_| top));
            // Differences that are seen, as far as numbers of this size have them.
            for below in [0.001, 1.0, 30.7, 87.0, 1e3, f32::MAX] {
                let other = (top - below).max(f32::MIN);
                let mut x = of(&|_| other);
                x[n / 2] = top;
                check_softmax(&device, &format!("{top:e} among {other:e}"), &x);
            }
        }
        // Each tile has a larger number than those before, by much or by little.
        let far = (n as f32).max(200.0);
        check_softmax(&device, "to 80", &of(&|i| 80.0 * i / n as f32));
        check_softmax(&device, "to n", &of(&|i| i * (far / n as f32)));
        check_softmax(&device, "to -1e7", &of(&|i| -1e7 - n as f32 + i));
        check_softmax(&device, "from 80", &of(&|i| -80.0 * i / n as f32));
        for size in [1.0, 20.0, 1e4, 1e9] {
            let x: Vec<f32> = numbers(n as u64, n);
            let x: Vec<f32> = x.iter().map(|x| x * size).collect();
            check_softmax(&device, &format!("normal times {size:e}"), &x);
        }
    }
}

#[test]
fn softmax_refuses_another_shape() {
    let device = Device::emulator();
    let x = Tensor::<f32, 2>::zeros(&device, [3, 4]).unwrap();
    let mut y = Tensor::<f32, 2>::zeros(&device, [3, 5]).unwrap();
    let error = softmax(&device, &x.view(), &mut y.view_mut()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "softmax needs y of the shape of x: found x [3, 4] and y [3, 5]"
    );
}

fn check_sum<T: Number + cute_kernels::sum::kernels::sum_types>(device: &Device, x: &[T]) {
    let n = x.len();
    let on_device = Tensor::from_slice(device, x, [n]).unwrap();
    let mut total = Tensor::<f32, 1>::zeros(device, [1]).unwrap();
    sum(device, &on_device.view(), &mut total.view_mut()).unwrap();
    let numbers = x.iter().map(|&x| x.into());
    let (expected, magnitudes): (f64, f64) =
        (numbers.clone().sum(), numbers.map(|x: f64| x.abs()).sum());
    let found = f64::from(total.download().unwrap()[0]);
    assert!(
        (found - expected).abs() <= 1e-6 * magnitudes,
        "{n} {}: {found}, {expected}",
        T::TYPE
    );
}

#[test]
pub(crate) fn arrays_agree_with_float64() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let device = device();
        let mut lengths = vec![1, 7, 2048, 2052, 8192, 40_000, 100_001];
        if !device.is_emulator() {
            lengths.extend([5_000_000, 30_000_001]);
        }
        for n in lengths {
            let (x, y) = (numbers::<f32>(5, n), numbers::<f32>(6, n));
            check_sum(&device, &x);
            check_sum(&device, &numbers::<bf16>(5, n));
            check_sum(&device, &numbers::<f16>(5, n));

            let x_on = Tensor::from_slice(&device, &x, [n]).unwrap();
            let mut y_on = Tensor::from_slice(&device, &y, [n]).unwrap();
            saxpy(&device, 0.5, &x_on.view(), &mut y_on.view_mut()).unwrap();
            let found = y_on.download().unwrap();
            let pairs = x.iter().zip(&y).zip(found);
            assert!(
                pairs
                    .into_iter()
                    .all(|((x, y), found)| found == 0.5f32.mul_add(*x, *y) || found == 0.5 * x + y),
                "{n}"
            );

            let bytes: Vec<u8> = x.iter().map(|x| (x * 30.0) as i8 as u8).collect();
            let data = Tensor::from_slice(&device, &bytes, [n]).unwrap();
            let mut counts = Tensor::<u32, 1>::zeros(&device, [256]).unwrap();
            histogram(&device, &data.view(), &mut counts.view_mut()).unwrap();
            let mut expected = vec![0; 256];
            bytes
                .iter()
                .for_each(|&byte| expected[usize::from(byte)] += 1);
            assert_eq!(counts.download().unwrap(), expected, "{n}");
        }
    });
}
