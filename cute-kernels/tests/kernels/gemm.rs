//! The product compared with float64, on shapes near every multiple of the tile.

use cute_kernels::reference::{self, Matrix, normal};
use cute_kernels::{Error, GemmOutput, gemm};
use cute_runtime::{Device, Tensor, bf16};

use crate::device;

/// Multiplies with padded rows of A and D, so that a wrong stride or a store past the end of a row is found.
fn check_gemm<D>(device: &Device, [m, n, k]: [usize; 3], pad: usize, epsilon: f64)
where
    D: GemmOutput + Into<f64> + From<u8> + PartialEq + std::fmt::Debug,
{
    let lda = k.next_multiple_of(8) + 8;
    let ldd = n + pad;
    // The padding of A and D is NaN: a result is NaN if the padding of A was read, and that of D changes if it was written.
    let mut a = vec![bf16::NAN; m * lda];
    let values = normal(1, m * k);
    for i in 0..m {
        a[i * lda..][..k].copy_from_slice(&values[i * k..][..k]);
    }
    let ldb = k.next_multiple_of(8);
    let mut b = vec![bf16::NAN; n * ldb];
    let values = normal(2, n * k);
    for j in 0..n {
        b[j * ldb..][..k].copy_from_slice(&values[j * k..][..k]);
    }
    let guard = D::from(113);
    let buffer_a = device.upload(&a).unwrap();
    let buffer_b = device.upload(&b).unwrap();
    let mut buffer_d = device.upload(&vec![guard; m * ldd]).unwrap();
    gemm(
        device,
        &buffer_a.view(0, [m, k], [lda, 1]).unwrap(),
        &buffer_b.view(0, [n, k], [ldb, 1]).unwrap(),
        &mut buffer_d.view_mut(0, [m, n], [ldd, 1]).unwrap(),
    )
    .unwrap();

    let d = buffer_d.download().unwrap();
    let found = reference::gemm(
        Matrix {
            data: &a,
            rows: m,
            cols: k,
            stride: lda,
        },
        Matrix {
            data: &b,
            rows: n,
            cols: k,
            stride: ldb,
        },
        Matrix {
            data: &d,
            rows: m,
            cols: n,
            stride: ldd,
        },
    );
    assert!(
        found.is_rounding(epsilon, k.div_ceil(16)),
        "{m} x {n} x {k}, rows of {ldd} {}: {found:?}",
        D::TYPE
    );
    for (i, row) in d.chunks(ldd).enumerate() {
        assert!(
            row[n..].iter().all(|x| *x == guard),
            "{m} x {n} x {k}: row {i} written past column {n}"
        );
    }
}

const BF16: f64 = 1.0 / 128.0;
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
        check_gemm::<bf16>(&device, [m, whole, k], 8, BF16);
        check_gemm::<f32>(&device, [m, whole, k], 4, F32);
        check_gemm::<bf16>(&device, [m, n, k], 3 - n % 2, BF16);
        check_gemm::<f32>(&device, [m, n, k], 2 - n % 2, F32);
    }
}

#[test]
fn gemm_does_not_notice_the_schedule() {
    for seed in 1..4 {
        check_gemm::<bf16>(&Device::emulator_with_seed(seed), [130, 264, 328], 8, BF16);
    }
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
