//! Products that are scaled and added to a matrix, compared with float64.

use std::sync::Once;

use cute_kernels::reference::normal;
use cute_kernels::{Error, LinearInput, gemm_linear, gemm_update};
use cute_runtime::{Device, Element, Tensor, bf16, e4m3, f16};

use crate::covering::Cover;
use crate::device;

const ALPHA: f32 = 0.125;
const BETA: f32 = -1.5;

const BF16: f64 = 1.0 / 128.0;
const F16: f64 = 1.0 / 1024.0;
const F32: f64 = f32::EPSILON as f64;
/// See the products that are not scaled.
const OF_E4M3: f64 = 4.0 / 8192.0;

/// Batches, M, N and K, elements between rows of C and of D, and whether C and D are contiguous along M.
struct Case {
    extents: [usize; 4],
    pads: [usize; 2],
    along_m: bool,
}

/// By TMA, by TMA with several tiles of each CTA, by TMA along M, and by element.
const CASES: [Case; 4] = [
    Case {
        extents: [1, 70, 144, 200],
        pads: [3, 8],
        along_m: false,
    },
    Case {
        extents: [3, 130, 264, 72],
        pads: [0, 8],
        along_m: false,
    },
    Case {
        extents: [2, 136, 70, 40],
        pads: [1, 8],
        along_m: true,
    },
    Case {
        extents: [2, 37, 45, 19],
        pads: [0, 2],
        along_m: false,
    },
];

/// What stands between rows, and stays there.
const GUARD: f32 = 113.0;

impl Case {
    /// Shape, strides, and elements of the buffer of C or D.
    fn place(&self, pad: usize) -> ([usize; 3], [usize; 3], usize) {
        let [batches, m, n, _] = self.extents;
        let (rows, ld) = match self.along_m {
            true => (n, m + pad),
            false => (m, n + pad),
        };
        let inner = if self.along_m { [1, ld] } else { [ld, 1] };
        let strides = [rows * ld, inner[0], inner[1]];
        ([batches, m, n], strides, batches * rows * ld)
    }

    /// Computes both. `unit` is the distance from 1 to the next number of D's type, and `loss` the relative error of the sum after an
    /// instruction, besides that of f32.
    fn check<T, D>(
        &self,
        device: &Device,
        (unit, loss): (f64, f64),
        to_t: fn(f32) -> T,
        to_d: fn(f32) -> D,
    ) -> Result<(), Error>
    where
        T: LinearInput<D> + Into<f64>,
        D: Element + Into<f64> + PartialEq,
    {
        let [batches, m, n, k] = self.extents;
        let floats = |seed, n| normal(seed, n).into_iter().map(|x| x.to_f32());
        let numbers = |seed, n| -> Vec<T> { floats(seed, n).map(to_t).collect() };
        let (a, b) = (numbers(1, batches * m * k), numbers(2, batches * n * k));
        let at = Tensor::from_slice(device, &a, [batches, m, k])?;
        let bt = Tensor::from_slice(device, &b, [batches, n, k])?;
        let guard = to_d(GUARD);

        let (shape, strides, len) = self.place(self.pads[0]);
        let c: Vec<D> = floats(3, len).map(to_d).collect();
        let buffer_c = device.upload(&c)?;
        let c_view = buffer_c.view(0, shape, strides)?;
        let element = |strides: [usize; 3], [g, i, j]: [usize; 3]| {
            g * strides[0] + i * strides[1] + j * strides[2]
        };
        // Of each element the sum, and the typical size of such a sum with random signs.
        let products = (0..batches * m * n).map(|at| {
            let (g, i, j) = (at / n / m, at / n % m, at % n);
            let pairs = a[(g * m + i) * k..][..k]
                .iter()
                .zip(&b[(g * n + j) * k..][..k]);
            let products: Vec<f64> = pairs.map(|(a, b)| (*a).into() * (*b).into()).collect();
            let product: f64 = products.iter().sum();
            let squares = products.iter().map(|x| x * x).sum::<f64>();
            (product, squares.sqrt() + product.abs())
        });
        let products: Vec<(f64, f64)> = products.collect();
        let check = |d: &[D], d_strides: [usize; 3], what: &str| {
            let mut rest = d.to_vec();
            for (at, &(product, size)) in products.iter().enumerate() {
                let at = [at / n / m, at / n % m, at % n];
                let lost = f64::from(ALPHA) * loss * k.div_ceil(32) as f64 * size;
                let added = f64::from(BETA) * c[element(strides, at)].into();
                let exact = f64::from(ALPHA) * product + added;
                let found: f64 = d[element(d_strides, at)].into();
                // The errors of f32 are those of the larger summand.
                let error = exact.abs() * unit / 2.0 + lost + 1e-5;
                assert!(
                    (found - exact).abs() <= error,
                    "{what} at {at:?}: {found}, not {exact}"
                );
                rest[element(d_strides, at)] = guard;
            }
            rest
        };

        let (_, d_strides, len_d) = self.place(self.pads[1]);
        let mut buffer_d = device.upload(&vec![guard; len_d])?;
        let mut d = buffer_d.view_mut(0, shape, d_strides)?;
        gemm_linear(device, ALPHA, &at.view(), &bt.view(), BETA, &c_view, &mut d)?;
        let rest = check(&buffer_d.download()?, d_strides, "C beside D");
        assert!(rest.iter().all(|x| *x == guard), "written outside of D");

        // The gaps of C stay, too.
        let mut buffer = device.upload(&c)?;
        let mut d = buffer.view_mut(0, shape, strides)?;
        gemm_update(device, ALPHA, &at.view(), &bt.view(), BETA, &mut d)?;
        let d = buffer.download()?;
        let rest = check(&d, strides, "C in place");
        for at in (0..len).filter(|&at| rest[at] != guard) {
            assert!(d[at] == c[at], "a gap at {at} was written");
        }
        Ok(())
    }
}

/// A case for elements of A and B, and elements of D.
type Check = fn(&Case, &Device) -> Result<(), Error>;

const TYPES: [(&str, Check); 7] = [
    ("bf16 bf16", |case, device| {
        case.check(device, (BF16, 0.0), bf16::from_f32, bf16::from_f32)
    }),
    ("bf16 f32", |case, device| {
        case.check(device, (F32, 0.0), bf16::from_f32, |x| x)
    }),
    ("f16 f16", |case, device| {
        case.check(device, (F16, 0.0), f16::from_f32, f16::from_f32)
    }),
    ("f16 f32", |case, device| {
        case.check(device, (F32, 0.0), f16::from_f32, |x| x)
    }),
    // Numbers of bf16, which are numbers of tf32.
    ("f32 f32", |case, device| {
        case.check::<f32, f32>(device, (F32, 0.0), |x| x, |x| x)
    }),
    ("e4m3 bf16", |case, device| {
        case.check(device, (BF16, OF_E4M3), e4m3::from_f32, bf16::from_f32)
    }),
    ("e4m3 f32", |case, device| {
        case.check(device, (F32, OF_E4M3), e4m3::from_f32, |x| x)
    }),
];

/// All types in each case, or each type once by each kind of store.
#[test]
pub(crate) fn products_are_scaled_and_added() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let device = device();
        for cases in [&CASES[..3], &CASES[3..]] {
            let mut cover = Cover::new(&device, cases.len());
            for case in cases {
                for name in cover.choose_any(&TYPES.map(|(name, _)| name)) {
                    let (_, check) = TYPES.iter().find(|(it, _)| *it == name).unwrap();
                    check(case, &device).unwrap();
                }
            }
            cover.finish();
        }
    });
}

#[test]
fn what_is_added_has_the_shape_of_d() -> Result<(), Error> {
    let device = Device::emulator();
    let matrix = |rows, columns| Tensor::<bf16, 2>::zeros(&device, [rows, columns]);
    let (a, b, mut d) = (matrix(16, 24)?, matrix(8, 24)?, matrix(16, 8)?);
    let (a, b) = (a.view(), b.view());
    let c = matrix(8, 16)?;
    let added = gemm_linear(&device, 1.0, &a, &b, 1.0, &c.view(), &mut d.view_mut());
    let text = "gemm_linear needs c of the shape of d: found c [8, 16] and d [16, 8]";
    assert_eq!(added.unwrap_err().to_string(), text);
    // C along M, and D along N.
    let turned = device.zeros::<bf16>(16 * 8)?;
    let turned = turned.view(0, [16, 8], [1, 16])?;
    let added = gemm_linear(&device, 1.0, &a, &b, 1.0, &turned, &mut d.view_mut());
    assert_eq!(
        added.unwrap_err().to_string(),
        "gemm_linear needs c contiguous along N: found strides [1, 16] along rows and columns"
    );
    // The other way around.
    let mut along_m = matrix(8, 16)?;
    let mut along_m = along_m.view_mut().select([1, 0])?;
    let added = gemm_linear(&device, 1.0, &a, &b, 1.0, &d.view(), &mut along_m);
    assert_eq!(
        added.unwrap_err().to_string(),
        "gemm_linear needs c contiguous along M: found strides [8, 1] along rows and columns"
    );
    let error = gemm_update(&device, 1.0, &a, &a, 1.0, &mut d.view_mut());
    assert!(matches!(error, Err(Error::Shapes { .. })), "{error:?}");
    Ok(())
}

/// As in BLAS, so that memory of any content can be C or D.
#[test]
fn what_is_multiplied_by_zero_is_not_read() -> Result<(), Error> {
    let device = device();
    let a = Tensor::from_slice(&device, &[bf16::ONE; 16 * 24], [16, 24])?;
    let b = Tensor::from_slice(&device, &[bf16::ONE; 8 * 24], [8, 24])?;
    let nan = Tensor::from_slice(&device, &[f32::NAN; 16 * 8], [16, 8])?;
    let mut d = Tensor::from_slice(&device, &[f32::NAN; 16 * 8], [16, 8])?;
    let (a, b) = (a.view(), b.view());
    gemm_linear(&device, 2.0, &a, &b, 0.0, &nan.view(), &mut d.view_mut())?;
    assert_eq!(d.download()?, [48.0; 16 * 8]);
    let mut d = nan;
    gemm_update(&device, 2.0, &a, &b, 0.0, &mut d.view_mut())?;
    assert_eq!(d.download()?, [48.0; 16 * 8]);
    Ok(())
}
