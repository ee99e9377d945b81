//! Products with scales, compared with float64, and the epilogues that scale.

use std::sync::Once;

use cute_kernels::gemm::scaled::{BlockScaledInput, ScaledInput};
use cute_kernels::reference::{self, Matrix, normal};
use cute_kernels::{Error, gemm_block_scaled, gemm_scaled};
use cute_runtime::{Buffer, Device, Element, Tensor, TensorView, bf16, e4m3, e5m2, f16};

use crate::covering::Cover;
use crate::device;
use crate::whole::whole;

/// Elements of A and B.
trait Input: Element + Into<f64> {
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

impl Input for e5m2 {
    const ERROR: f64 = e4m3::ERROR;
    fn random(number: f32) -> Self {
        e5m2::from_f32(number)
    }
}

impl Input for i8 {
    const ERROR: f64 = 0.0;
    fn random(number: f32) -> Self {
        (number * 50.0) as i8
    }
}

impl Input for u8 {
    const ERROR: f64 = 0.0;
    fn random(number: f32) -> Self {
        (number * 50.0 + 128.0) as u8
    }
}

/// Elements of D.
trait Output: Element + Into<f64> + PartialEq {
    /// The distance from 1 to the next number.
    const UNIT: f64;
    /// What lies beside the rows of D, and stays there.
    const GUARD: Self;
    /// The binary logarithm of a scale, from a normally distributed number.
    fn logarithm(number: f32) -> f32 {
        2.0 * number
    }
}

impl Output for bf16 {
    const UNIT: f64 = 1.0 / 128.0;
    const GUARD: Self = bf16::from_bits(0x42e2);
}

impl Output for f16 {
    const UNIT: f64 = 1.0 / 1024.0;
    const GUARD: Self = f16::from_bits(0x5710);
    /// So that no product is beyond 65,504.
    fn logarithm(number: f32) -> f32 {
        0.25 * number - 6.0
    }
}

impl Output for f32 {
    const UNIT: f64 = f32::EPSILON as f64;
    const GUARD: Self = 113.0;
}

fn random<T: Input>(seed: u64, n: usize) -> Vec<T> {
    let numbers = normal(seed, n);
    numbers.into_iter().map(|x| T::random(x.to_f32())).collect()
}

/// Scales of either sign, of several magnitudes.
fn scales<D: Output>(seed: u64, n: usize) -> Vec<f32> {
    let numbers = normal(seed, n).into_iter().map(|x| x.to_f32());
    numbers
        .map(|x| D::logarithm(x).exp2().copysign(x))
        .collect()
}

/// Matrices of rows of `k` elements in float64, whose elements are multiplied by a factor for each batch, row and column.
fn scaled<T: Copy + Into<f64>>(
    x: &[T],
    (rows, k): (usize, usize),
    factor: impl Fn(usize, usize, usize) -> f32,
) -> Vec<f64> {
    let element = |(at, x): (usize, &T)| {
        let (batch, row, column) = (at / k / rows, at / k % rows, at % k);
        (*x).into() * f64::from(factor(batch, row, column))
    };
    x.iter().enumerate().map(element).collect()
}

/// A product: how many matrices have tensors with three modes, 0 for tensors with two; M, N and K; elements between rows of D, or
/// between columns if D is contiguous along M; and whether all matrices of a batch have the same scales.
#[derive(Clone, Copy)]
struct Case {
    batches: usize,
    shape: [usize; 3],
    pad: usize,
    along_m: bool,
    shared: bool,
}

impl Case {
    fn new(shape: [usize; 3], pad: usize) -> Self {
        Self {
            batches: 0,
            shape,
            pad,
            along_m: false,
            shared: false,
        }
    }

    fn batches(self) -> usize {
        self.batches.max(1)
    }

    /// How many matrices have scales of their own.
    fn scaled(&self) -> usize {
        if self.shared { 1 } else { self.batches() }
    }

    /// The place of D: shape, strides and elements.
    fn place(&self) -> ([usize; 3], [usize; 3], usize) {
        let [m, n, _] = self.shape;
        let (rows, ld) = match self.along_m {
            true => (n, m + self.pad),
            false => (m, n + self.pad),
        };
        let [row, column] = if self.along_m { [1, ld] } else { [ld, 1] };
        let shape = [self.batches(), m, n];
        (shape, [rows * ld, row, column], self.batches() * rows * ld)
    }

    /// D by a launch, held against the product of matrices. `error` is that of sums, besides that of f32.
    fn check<D: Output>(
        self,
        device: &Device,
        (a, b): (&[f64], &[f64]),
        error: f64,
        launch: impl FnOnce(&mut Buffer<D>),
    ) {
        let ([m, n, k], (_, strides, len)) = (self.shape, self.place());
        let mut buffer = device.upload(&vec![D::GUARD; len]).unwrap();
        launch(&mut buffer);
        let mut d = buffer.download().unwrap();
        let index = |batch, i, j| batch * strides[0] + i * strides[1] + j * strides[2];
        for batch in 0..self.batches() {
            let of_batch = (0..m * n).map(|at| d[index(batch, at / n, at % n)]);
            let of_batch: Vec<D> = of_batch.collect();
            let found = reference::gemm(
                Matrix::packed(&a[batch * m * k..][..m * k], m, k),
                Matrix::packed(&b[batch * n * k..][..n * k], n, k),
                Matrix::packed(&of_batch, m, n),
            );
            assert!(
                found.is_rounding(D::UNIT + error, k.div_ceil(32)),
                "{m} x {n} x {k} in {batch}, {} beside rows: {found:?}",
                self.pad
            );
            (0..m * n).for_each(|at| d[index(batch, at / n, at % n)] = D::GUARD);
        }
        assert!(d.iter().all(|x| *x == D::GUARD), "written outside of D");
    }

    /// A scale for each row of A and of B, or `one` for all.
    fn check_rows<A, B, D>(self, device: &Device, one: [bool; 2])
    where
        A: Input + ScaledInput<D, B>,
        B: Input + ScaledInput<D, A>,
        D: Output,
    {
        let ([m, n, k], batches, scaled_batches) = (self.shape, self.batches(), self.scaled());
        let (a, b) = (
            random::<A>(1, batches * m * k),
            random::<B>(2, batches * n * k),
        );
        let count = |rows, one| if one { 1 } else { rows };
        let (high, wide) = (count(m, one[0]), count(n, one[1]));
        let rows = scales::<D>(3, scaled_batches * high);
        let columns = scales::<D>(4, scaled_batches * wide);
        let scale = |scales: &[f32], each: usize, batch: usize, row: usize| {
            scales[batch.min(scaled_batches - 1) * each + row.min(each - 1)]
        };
        let exact_a = scaled(&a, (m, k), |batch, i, _| scale(&rows, high, batch, i));
        let exact_b = scaled(&b, (n, k), |batch, j, _| scale(&columns, wide, batch, j));
        let (a, b) = (device.upload(&a).unwrap(), device.upload(&b).unwrap());
        let (rows, columns) = (
            device.upload(&rows).unwrap(),
            device.upload(&columns).unwrap(),
        );
        let error = f64::max(A::ERROR, B::ERROR) * k.div_ceil(32) as f64;
        let operands = ((&a, &rows, high), (&b, &columns, wide));
        self.check::<D>(device, (&exact_a, &exact_b), error, |d| {
            match (self.batches, self.shared) {
                (0, _) => self.launch_rows::<A, B, D, 2, 1>(device, operands, d),
                (_, true) => self.launch_rows::<A, B, D, 3, 1>(device, operands, d),
                (_, false) => self.launch_rows::<A, B, D, 3, 2>(device, operands, d),
            }
            .unwrap();
        });
    }

    fn launch_rows<A, B, D, const R: usize, const S: usize>(
        self,
        device: &Device,
        ((a, rows, high), (b, columns, wide)): (Scaled<'_, A>, Scaled<'_, B>),
        d: &mut Buffer<D>,
    ) -> Result<(), Error>
    where
        A: ScaledInput<D, B>,
        B: ScaledInput<D, A>,
        D: Output,
    {
        let ([m, n, k], (shape, strides, _)) = (self.shape, self.place());
        let of = |rows| [self.batches(), rows, k];
        gemm_scaled(
            device,
            &view::<_, R>(a, of(m))?,
            &view::<_, S>(rows, [1, self.scaled(), high])?,
            &view::<_, R>(b, of(n))?,
            &view::<_, S>(columns, [1, self.scaled(), wide])?,
            &mut d.view_mut(0, last::<R>(shape), last::<R>(strides))?,
        )
    }

    /// Scales of blocks, those of A along K or along M.
    fn check_blocks<A, B, D>(self, device: &Device, along_m: bool)
    where
        A: Input + BlockScaledInput<D, B>,
        B: Input + BlockScaledInput<D, A>,
        D: Output,
    {
        let ([m, n, k], batches, scaled_batches) = (self.shape, self.batches(), self.scaled());
        let (a, b) = (
            random::<A>(1, batches * m * k),
            random::<B>(2, batches * n * k),
        );
        let (high, wide) = (n.div_ceil(128), k.div_ceil(128));
        let rows = scales::<D>(3, scaled_batches * m * wide);
        let blocks = scales::<D>(4, scaled_batches * high * wide);
        let inner = if along_m { [1, m] } else { [wide, 1] };
        let strides = [m * wide, inner[0], inner[1]];
        let last_batch = scaled_batches - 1;
        let exact_a = scaled(&a, (m, k), |batch, i, k| {
            rows[batch.min(last_batch) * strides[0] + i * strides[1] + k / 128 * strides[2]]
        });
        let exact_b = scaled(&b, (n, k), |batch, j, k| {
            blocks[(batch.min(last_batch) * high + j / 128) * wide + k / 128]
        });
        let (a, b) = (device.upload(&a).unwrap(), device.upload(&b).unwrap());
        let (rows, blocks) = (
            device.upload(&rows).unwrap(),
            device.upload(&blocks).unwrap(),
        );
        let operands = ((&a, &rows, wide), (&b, &blocks, high));
        self.check::<D>(device, (&exact_a, &exact_b), 4.0 * A::ERROR, |d| {
            match (self.batches, self.shared) {
                (0, _) => self.launch_blocks::<A, B, D, 2, 2>(device, operands, strides, d),
                (_, true) => self.launch_blocks::<A, B, D, 3, 2>(device, operands, strides, d),
                (_, false) => self.launch_blocks::<A, B, D, 3, 3>(device, operands, strides, d),
            }
            .unwrap();
        });
    }

    fn launch_blocks<A, B, D, const R: usize, const S: usize>(
        self,
        device: &Device,
        ((a, rows, wide), (b, blocks, high)): (Scaled<'_, A>, Scaled<'_, B>),
        strides_a: [usize; 3],
        d: &mut Buffer<D>,
    ) -> Result<(), Error>
    where
        A: BlockScaledInput<D, B>,
        B: BlockScaledInput<D, A>,
        D: Output,
    {
        let ([m, n, k], (shape, strides, _)) = (self.shape, self.place());
        let of = |rows| [self.batches(), rows, k];
        gemm_block_scaled(
            device,
            &view::<_, R>(a, of(m))?,
            &rows.view(0, last::<S>([self.scaled(), m, wide]), last::<S>(strides_a))?,
            &view::<_, R>(b, of(n))?,
            &view::<_, S>(blocks, [self.scaled(), high, wide])?,
            &mut d.view_mut(0, last::<R>(shape), last::<R>(strides))?,
        )
    }
}

/// Elements, scales, and an extent of these.
type Scaled<'v, T> = (&'v Buffer<T>, &'v Buffer<f32>, usize);

/// The last of three numbers.
fn last<const R: usize>(of: [usize; 3]) -> [usize; R] {
    std::array::from_fn(|i| of[i + 3 - R])
}

/// A view without gaps.
fn view<T: Element, const R: usize>(
    buffer: &Buffer<T>,
    shape: [usize; 3],
) -> Result<TensorView<'_, T, R>, cute_runtime::Error> {
    let [_, rows, columns] = shape;
    buffer.view(0, last(shape), last([rows * columns, columns, 1]))
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
        // Stored by TMA, and by elements.
        let by_tma = Case::new([m, n.next_multiple_of(8), k], 8);
        by_tma.check_rows::<e4m3, e4m3, bf16>(&device, [false; 2]);
        let by_element = Case::new([m, n, k], 1);
        by_element.check_rows::<e4m3, e4m3, bf16>(&device, [true, false]);
        by_element.check_rows::<i8, i8, bf16>(&device, [false, true]);
    }
    Case::new([300, 520, 72], 0).check_rows::<i8, i8, bf16>(&device, [true; 2]);
}

/// A product for which the largest tile is the fastest, and the padding of its rows.
const LARGE: ([usize; 3], usize) = ([512, 1024, 1032], 8);

/// Into each type of D, by the larger and the smaller tile, and stored by elements.
#[test]
pub(crate) fn each_type_is_scaled_with_each() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        fn outputs<A, B>(device: &Device)
        where
            A: Input + ScaledInput<bf16, B> + ScaledInput<f16, B> + ScaledInput<f32, B>,
            B: Input + ScaledInput<bf16, A> + ScaledInput<f16, A> + ScaledInput<f32, A>,
        {
            let small = [([130, 264, 72], 8), ([40, 72, 67], 8), ([37, 45, 50], 1)];
            let large = whole().then_some(LARGE);
            for (shape, pad) in small.into_iter().chain(large) {
                let case = Case::new(shape, pad);
                case.check_rows::<A, B, bf16>(device, [false; 2]);
                case.check_rows::<A, B, f16>(device, [false; 2]);
                case.check_rows::<A, B, f32>(device, [false; 2]);
            }
        }
        let device = device();
        outputs::<e4m3, e4m3>(&device);
        outputs::<e4m3, e5m2>(&device);
        outputs::<e5m2, e4m3>(&device);
        outputs::<e5m2, e5m2>(&device);
        outputs::<i8, i8>(&device);
        outputs::<i8, u8>(&device);
        outputs::<u8, i8>(&device);
        outputs::<u8, u8>(&device);
        let (shape, pad) = LARGE;
        Case::new(shape, pad).check_rows::<i8, i8, bf16>(&device, [false; 2]);
    });
}

/// Dᵀ is computed then, with the scales and the types of A and B exchanged.
#[test]
fn d_may_lie_along_m() {
    let device = device();
    for (shape, pad) in [([136, 72, 200], 8), ([45, 37, 131], 2)] {
        let case = Case {
            along_m: true,
            ..Case::new(shape, pad)
        };
        case.check_rows::<e4m3, e5m2, bf16>(&device, [false; 2]);
        case.check_rows::<i8, u8, f32>(&device, [false, true]);
    }
}

#[test]
fn blocks_are_scaled() {
    let device = device();
    for [m, n, k] in shapes(&device) {
        let by_tma = Case::new([m, n.next_multiple_of(8), k], 8);
        by_tma.check_blocks::<e4m3, e4m3, bf16>(&device, true);
        let by_element = Case::new([m, n, k], 1);
        by_element.check_blocks::<e4m3, e4m3, bf16>(&device, false);
    }
}

#[test]
pub(crate) fn each_type_is_scaled_by_blocks() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        fn outputs<A, B>(device: &Device)
        where
            A: Input + BlockScaledInput<bf16, B> + BlockScaledInput<f32, B>,
            B: Input + BlockScaledInput<bf16, A> + BlockScaledInput<f32, A>,
        {
            for (case, along_m) in [
                (Case::new([130, 248, 200], 8), true),
                (Case::new([40, 72, 150], 8), true),
                (Case::new([37, 45, 199], 1), false),
            ] {
                case.check_blocks::<A, B, bf16>(device, along_m);
                case.check_blocks::<A, B, f32>(device, along_m);
            }
        }
        let device = device();
        outputs::<e4m3, e4m3>(&device);
        outputs::<e4m3, e5m2>(&device);
        outputs::<e5m2, e4m3>(&device);
        outputs::<e5m2, e5m2>(&device);
    });
}

/// Each matrix with scales of its own, and all with the same.
#[test]
fn batches_are_scaled() {
    let device = device();
    for (shape, pad) in [([40, 72, 300], 8), ([130, 264, 72], 8), ([37, 45, 159], 3)] {
        for shared in [false, true] {
            let case = Case {
                batches: 3,
                shared,
                ..Case::new(shape, pad)
            };
            case.check_rows::<e4m3, e4m3, bf16>(&device, [false; 2]);
            case.check_rows::<u8, i8, f32>(&device, [true, false]);
            case.check_rows::<i8, i8, f16>(&device, [false, true]);
            case.check_blocks::<e4m3, e4m3, bf16>(&device, true);
            case.check_blocks::<e5m2, e4m3, f32>(&device, false);
        }
    }
    let case = Case {
        batches: 2,
        along_m: true,
        ..Case::new([72, 40, 96], 8)
    };
    case.check_rows::<e4m3, e4m3, f32>(&device, [false; 2]);
}

#[test]
fn products_with_scales_do_not_notice_the_schedule() {
    let shapes = [[130, 72, 1100], [130, 264, 900], [200, 136, 900]];
    let mut cover = Cover::new(&Device::emulator(), 3);
    for seed in 1..4 {
        let device = Device::emulator_with_seed(seed);
        for shape in cover.choose_any(&shapes) {
            let case = Case::new(shape, 0);
            case.check_rows::<e4m3, e4m3, bf16>(&device, [false; 2]);
            case.check_blocks::<e4m3, e4m3, bf16>(&device, true);
        }
        let case = Case {
            batches: 2,
            ..Case::new([130, 71, 300], 0)
        };
        case.check_rows::<i8, u8, f32>(&device, [false; 2]);
        case.check_blocks::<e4m3, e5m2, f32>(&device, true);
    }
    cover.finish();
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
