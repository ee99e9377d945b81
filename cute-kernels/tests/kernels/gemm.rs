//! The product compared with float64, on shapes near every multiple of the tile.

use cute_kernels::reference::{self, Matrix, normal};
use cute_kernels::{Error, GemmInput, Plan, Tile, gemm};
use cute_runtime::{Device, Element, Tensor, bf16, e4m3, f16};

use crate::device;

/// Elements of A and B.
trait Input: Element + Into<f64> {
    /// What stands beside the rows of a matrix. Where there is a NaN, it is one: a result is NaN if it was read.
    const PADDING: Self;
    /// The relative error of a sum after that many instructions, besides that of f32.
    fn error(_instructions: usize) -> f64 {
        0.0
    }
    /// An element near to a normally distributed number.
    fn random(number: f32) -> Self;
}

impl Input for bf16 {
    const PADDING: Self = bf16::NAN;
    fn random(number: f32) -> Self {
        bf16::from_f32(number)
    }
}

impl Input for f16 {
    const PADDING: Self = f16::NAN;
    fn random(number: f32) -> Self {
        f16::from_f32(number * 1.1)
    }
}

/// As tf32, whose bits are the first 19.
impl Input for f32 {
    const PADDING: Self = f32::NAN;
    fn random(number: f32) -> Self {
        f32::from_bits((number * 1.1).to_bits() & !0x1fff)
    }
}

impl Input for e4m3 {
    const PADDING: Self = e4m3::from_bits(0x7f);
    /// Each instruction truncates its 33 summands to 13 bits of fraction of the largest one (MMA-Sim, arXiv 2511.10909). The
    /// errors have random signs, and together are about √33 / 2 < 4 times 2⁻¹³.
    fn error(instructions: usize) -> f64 {
        instructions as f64 * 4.0 / 8192.0
    }
    fn random(number: f32) -> Self {
        e4m3::from_f32(number)
    }
}

impl Input for i8 {
    const PADDING: Self = 101;
    fn random(number: f32) -> Self {
        (number * 50.0) as i8
    }
}

/// A matrix whose rows are `stride` elements apart, with padding between them.
fn padded<T: Input>(seed: u64, rows: usize, cols: usize, stride: usize) -> Vec<T> {
    let mut matrix = vec![T::PADDING; rows * stride];
    let numbers = normal(seed, rows * cols);
    for (row, numbers) in matrix.chunks_mut(stride).zip(numbers.chunks(cols)) {
        for (element, number) in row.iter_mut().zip(numbers) {
            *element = T::random(number.to_f32());
        }
    }
    matrix
}

/// Multiplies with padded rows of A, B and D, so that a wrong stride or a store past the end of a row is found. `epsilon` is the
/// relative error of D's type.
fn check_gemm<T, D>(device: &Device, shape: [usize; 3], pad: usize, epsilon: f64)
where
    T: Input + GemmInput<D>,
    D: Element + Into<f64> + From<i8> + PartialEq + std::fmt::Debug,
{
    check_tile::<T, D>(device, None, shape, pad, epsilon);
}

/// The same by a tile, or by that of the plan.
fn check_tile<T, D>(
    device: &Device,
    tile: Option<Tile>,
    [m, n, k]: [usize; 3],
    pad: usize,
    epsilon: f64,
) where
    T: Input + GemmInput<D>,
    D: Element + Into<f64> + From<i8> + PartialEq + std::fmt::Debug,
{
    let unit = 16 / size_of::<T>();
    let (lda, ldb, ldd) = (
        k.next_multiple_of(unit) + unit,
        k.next_multiple_of(unit),
        n + pad,
    );
    let (a, b) = (padded::<T>(1, m, k, lda), padded::<T>(2, n, k, ldb));
    // The padding of D changes if it is written.
    let guard = D::from(113);
    let buffer_a = device.upload(&a).unwrap();
    let buffer_b = device.upload(&b).unwrap();
    let mut buffer_d = device.upload(&vec![guard; m * ldd]).unwrap();
    let (a_view, b_view) = (
        buffer_a.view(0, [m, k], [lda, 1]).unwrap(),
        buffer_b.view(0, [n, k], [ldb, 1]).unwrap(),
    );
    let mut d_view = buffer_d.view_mut(0, [m, n], [ldd, 1]).unwrap();
    let mut plan = Plan::new(device, &a_view, &b_view, &d_view).unwrap();
    if let Some(tile) = tile {
        plan = plan.with_tile(tile).unwrap();
    }
    plan.launch(device, &a_view, &b_view, &mut d_view).unwrap();

    let d = buffer_d.download().unwrap();
    let matrix = |data, rows, cols, stride| Matrix {
        data,
        rows,
        cols,
        stride,
    };
    let found = reference::gemm(
        matrix(&a, m, k, lda),
        matrix(&b, n, k, ldb),
        Matrix {
            data: &d,
            rows: m,
            cols: n,
            stride: ldd,
        },
    );
    let instructions = (k * size_of::<T>()).div_ceil(32);
    assert!(
        found.is_rounding(epsilon + T::error(instructions), instructions),
        "rows of {ldd} {}, of {}: {found:?} by {plan}",
        D::TYPE,
        T::TYPE
    );
    for (i, row) in d.chunks(ldd).enumerate() {
        assert!(
            row[n..].iter().all(|x| *x == guard),
            "{m} x {n} x {k}: row {i} written past column {n}"
        );
    }
}

const BF16: f64 = 1.0 / 128.0;
const F16: f64 = 1.0 / 1024.0;
const F32: f64 = f32::EPSILON as f64;

/// Extents just below, at and above the multiples of the tile of 128 × 256 × 64, and numbers of K steps around the 4 stages.
const SHAPES: &[[usize; 3]] = &[
    [1, 1, 1],
    [1, 8, 8],
    [63, 64, 16],
    [64, 63, 64],
    [65, 65, 65],
    [127, 255, 63],
    [128, 256, 64],
    [129, 257, 72],
    [128, 256, 192],
    [128, 256, 256],
    [128, 256, 264],
    [128, 256, 320],
    [200, 300, 100],
    [17, 511, 40],
    [257, 31, 136],
    [300, 520, 72],
    [255, 513, 33],
];

/// Larger products, which take too long on the emulator.
const LARGE_SHAPES: &[[usize; 3]] = &[
    [1000, 1000, 1000],
    [1023, 1025, 1031],
    [4096, 4096, 64],
    [64, 8192, 4096],
    [8192, 64, 4096],
    [2049, 4095, 777],
    [3000, 5000, 1111],
    [132, 33792, 256],
    [16896, 256, 128],
    [16897, 257, 129],
    [4097, 4097, 4097],
    [128, 256, 16384],
    [1, 4096, 4096],
    [4096, 1, 4096],
    [5, 7, 32768],
    [2176, 2304, 2240],
];

#[test]
fn gemm_agrees_with_float64() {
    let device = device();
    let large = if device.is_emulator() {
        &[]
    } else {
        LARGE_SHAPES
    };
    for &[m, n, k] in SHAPES.iter().chain(large) {
        // D is stored by TMA if its rows are whole 16-byte units at multiples of 16 bytes, else element by element.
        let whole = n.next_multiple_of(8);
        for tile in Tile::ALL {
            check_tile::<bf16, bf16>(&device, Some(tile), [m, whole, k], 8, BF16);
        }
        check_gemm::<bf16, f32>(&device, [m, whole, k], 4, F32);
        check_gemm::<bf16, bf16>(&device, [m, n, k], 3 - n % 2, BF16);
        check_gemm::<bf16, f32>(&device, [m, n, k], 2 - n % 2, F32);
    }
}

#[test]
fn gemm_multiplies_every_type() {
    let device = device();
    let large: &[[usize; 3]] = if device.is_emulator() {
        &[]
    } else {
        &LARGE_SHAPES[..6]
    };
    for &[m, n, k] in [[129, 257, 72], [63, 40, 280]].iter().chain(large) {
        let whole = n.next_multiple_of(8);
        for tile in Tile::ALL {
            check_tile::<f16, f16>(&device, Some(tile), [m, whole, k], 8, F16);
        }
        check_gemm::<f16, f32>(&device, [m, n, k], 1, F32);
        check_gemm::<f32, f32>(&device, [m, whole, k], 4, F32);
        check_gemm::<f32, f32>(&device, [m, n, k], 1, F32);
        check_gemm::<e4m3, bf16>(&device, [m, whole, k], 8, BF16);
        check_gemm::<e4m3, f32>(&device, [m, n, k], 1, F32);
        check_gemm::<i8, i32>(&device, [m, whole, k], 4, 0.0);
        check_gemm::<i8, i32>(&device, [m, n, k], 1, 0.0);
    }
}

#[test]
fn gemm_does_not_notice_the_schedule() {
    for seed in 1..4 {
        for tile in Tile::ALL {
            let device = Device::emulator_with_seed(seed);
            check_tile::<bf16, bf16>(&device, Some(tile), [130, 392, 328], 8, BF16);
        }
    }
}

/// A ring of eight stages that is filled more than twice, where rows of A that do not exist are not loaded.
#[test]
fn gemm_multiplies_few_rows() {
    let device = device();
    for m in [1, 16, 17, 64, 97] {
        for tile in [Tile::Thin, Tile::Few] {
            check_tile::<bf16, bf16>(&device, Some(tile), [m, 136, 2500], 8, BF16);
        }
    }
}

#[test]
fn a_plan_takes_what_it_was_made_for() {
    let device = Device::emulator();
    let matrix = |rows, cols| Tensor::<bf16, 2>::zeros(&device, [rows, cols]).unwrap();
    let (a, b, mut d) = (matrix(16, 16), matrix(24, 16), matrix(16, 24));
    let plan = Plan::new(&device, &a.view(), &b.view(), &d.view_mut()).unwrap();
    let text = plan.to_string();
    assert!(text.starts_with("16 x 24 x 16: tiles of "), "{text}");
    assert_eq!(text.lines().count(), 1 + Tile::ALL.len(), "{text}");

    let other = matrix(32, 16);
    let error = plan.launch(&device, &other.view(), &b.view(), &mut d.view_mut());
    let error = error.unwrap_err();
    assert!(matches!(error, Error::GemmPlan { .. }), "{error}");

    // D without alignment has one tile, and a plan for TMA does not take it.
    let mut d = device.zeros::<bf16>(16 * 25).unwrap();
    let mut d = d.view_mut(0, [16, 24], [25, 1]).unwrap();
    let error = plan.launch(&device, &a.view(), &b.view(), &mut d);
    assert!(matches!(error, Err(Error::GemmTile { .. })), "{error:?}");
    let plan = Plan::new(&device, &a.view(), &b.view(), &d).unwrap();
    assert_eq!(plan.tile(), Tile::Pair);
    let error = plan.with_tile(Tile::Thin).unwrap_err();
    assert!(matches!(error, Error::GemmTile { .. }), "{error}");
}

/// The emulator models the rounding of the tensor core, so that its results and a GPU's are equal in every bit.
#[test]
fn gemm_is_the_same_on_every_device_bit_for_bit() {
    let other = match device() {
        gpu if !gpu.is_emulator() => gpu,
        _ => Device::emulator_with_seed(7),
    };
    let [m, n, k] = [130, 260, 328];
    let (a, b) = (normal(3, m * k), normal(4, n * k));
    let bits = |device: &Device| -> Vec<u32> {
        let a = Tensor::from_slice(device, &a, [m, k]).unwrap();
        let b = Tensor::from_slice(device, &b, [n, k]).unwrap();
        let mut d = Tensor::<f32, 2>::zeros(device, [m, n]).unwrap();
        gemm(device, &a.view(), &b.view(), &mut d.view_mut()).unwrap();
        d.download()
            .unwrap()
            .into_iter()
            .map(f32::to_bits)
            .collect()
    };
    let (expected, found) = (bits(&Device::emulator()), bits(&other));
    let differing = expected.iter().zip(&found).filter(|(a, b)| a != b).count();
    assert_eq!(differing, 0, "of {} elements", expected.len());
}

#[test]
fn gemm_refuses_before_it_launches() {
    let device = Device::emulator();
    let matrix = |rows, cols| Tensor::<bf16, 2>::zeros(&device, [rows, cols]).unwrap();
    let (a, b, mut d) = (matrix(16, 16), matrix(24, 8), matrix(16, 24));
    let error = gemm(&device, &a.view(), &b.view(), &mut d.view_mut()).unwrap_err();
    assert!(matches!(error, Error::GemmShapes { .. }), "{error}");

    // Rows of 12 elements start at multiples of 24 bytes.
    let (a, b) = (matrix(16, 12), matrix(24, 12));
    let error = gemm(&device, &a.view(), &b.view(), &mut d.view_mut())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("argument a") && error.contains("16"),
        "{error}"
    );

    let (a, b) = (matrix(16, 0), matrix(24, 0));
    let error = gemm(&device, &a.view(), &b.view(), &mut d.view_mut())
        .unwrap_err()
        .to_string();
    assert!(error.contains("argument a"), "{error}");

    // One element, as a row of 2³¹.
    let one = matrix(1, 1);
    let row = one.buffer().view(0, [1, 1 << 31], [1, 0]).unwrap();
    let mut d = matrix(1, 1);
    let error = gemm(&device, &row, &row, &mut d.view_mut()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "an extent is 2147483648: at most 2147483647 is possible"
    );
}
