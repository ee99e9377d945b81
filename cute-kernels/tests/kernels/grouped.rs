//! Products of groups of rows, each compared with float64.

use std::ops::Range;
use std::sync::Once;

use cute_kernels::gemm::grouped::kernels::{self, gemm_grouped_CFG as Config};
use cute_kernels::reference::{self, Matrix, normal};
use cute_kernels::{Error, GroupedInput, check_group_ends, gemm_grouped};
use cute_runtime::{Buffer, Device, Element, Tensor, TensorView, TensorViewMut, bf16, f16};

use crate::covering::Cover;
use crate::device;
use crate::number::Number;

/// Ends of groups, and M, N and K.
type Case = (&'static [i32], [usize; 3]);

/// Groups that are empty, of one row, and with ends inside of tiles; one group; one row; all rows in the last; rows of no group; ends
/// that go backwards, below 0 and beyond M.
const CASES: [Case; 6] = [
    (&[0, 1, 1, 70, 198, 230], [230, 264, 72]),
    (&[131], [131, 136, 200]),
    (&[1], [1, 8, 16]),
    (&[0, 0, 0, 150], [150, 64, 64]),
    (&[10, 30], [64, 40, 24]),
    (&[50, 20, 90, -3, 400, 100], [120, 72, 40]),
];

/// What the product is launched with.
type Operands<'v, T> = (
    &'v TensorView<'v, T, 2>,
    &'v TensorView<'v, T, 3>,
    &'v TensorView<'v, i32, 1>,
);

/// The matrices A and B of a case, and for each group its rows and their product in float64. Beside the rows of A and B are NaNs.
struct Groups<'d, T: Element> {
    device: &'d Device,
    case: Case,
    a: Buffer<T>,
    b: Buffer<T>,
    ends: Tensor<i32, 1>,
    expected: Vec<(Range<usize>, Option<reference::Product>)>,
}

/// Elements from a row of A or B to the next.
fn stride(k: usize) -> usize {
    k.next_multiple_of(8) + 8
}

impl<'d, T: Number + GroupedInput<T>> Groups<'d, T> {
    fn new(device: &'d Device, case: Case) -> Self {
        let (ends, [m, n, k]) = case;
        let (groups, ld) = (ends.len(), stride(k));
        let random = |seed, rows: usize| -> Vec<T> {
            let mut elements = vec![T::of(f32::NAN); rows * ld];
            let numbers = normal(seed, rows * k);
            for (row, numbers) in elements.chunks_mut(ld).zip(numbers.chunks(k)) {
                for (element, number) in row.iter_mut().zip(numbers) {
                    *element = T::of(number.to_f32());
                }
            }
            elements
        };
        let (a, b) = (random(1, m), random(2, groups * n));
        let mut first = 0;
        let mut expected = Vec::new();
        for (group, &end) in ends.iter().enumerate() {
            let last = usize::try_from(end).unwrap_or(0).clamp(first, m);
            let matrix = |data, rows| Matrix {
                data,
                rows,
                cols: k,
                stride: ld,
            };
            let product = (last > first).then(|| {
                reference::Product::new(
                    matrix(&a[first * ld..], last - first),
                    matrix(&b[group * n * ld..], n),
                )
            });
            expected.push((first..last, product));
            first = last;
        }
        Self {
            device,
            case,
            a: device.upload(&a).unwrap(),
            b: device.upload(&b).unwrap(),
            ends: Tensor::from_slice(device, ends, [groups]).unwrap(),
            expected,
        }
    }

    /// Compares each group with the product of its rows. What stands beside the rows of D, `pad` elements for each, and in rows of no
    /// group must stay.
    fn check(&self, pad: usize, launch: impl Fn(Operands<'_, T>, &mut TensorViewMut<'_, T, 2>)) {
        let (ends, [m, n, k]) = self.case;
        let (groups, ld, ldd) = (ends.len(), stride(k), n + pad);
        let guard = T::of(113.0);
        let mut d_buffer = self.device.upload(&vec![guard; m * ldd]).unwrap();
        launch(
            (
                &self.a.view(0, [m, k], [ld, 1]).unwrap(),
                &self.b.view(0, [groups, n, k], [n * ld, ld, 1]).unwrap(),
                &self.ends.view(),
            ),
            &mut d_buffer.view_mut(0, [m, n], [ldd, 1]).unwrap(),
        );

        let mut d = d_buffer.download().unwrap();
        for (group, (rows, product)) in self.expected.iter().enumerate() {
            if let Some(product) = product {
                let found = product.compare(Matrix {
                    data: &d[rows.start * ldd..],
                    rows: rows.len(),
                    cols: n,
                    stride: ldd,
                });
                let instructions = k.div_ceil(16);
                assert!(
                    found.is_rounding(T::UNIT, instructions),
                    "{ends:?} of {m} x {n} x {k}, group {group}: {found:?}"
                );
            }
            for row in rows.clone() {
                d[row * ldd..][..n].fill(guard);
            }
        }
        let guard: f64 = guard.into();
        let kept = d.into_iter().all(|x| x.into() == guard);
        assert!(kept, "{ends:?} of {m} x {n} x {k}: written elsewhere");
    }

    /// By each tile, or by those that the cover wants, on three CTAs.
    fn check_tiles(&self, cover: &mut Cover<Config>) {
        for config in cover.choose_any(&Config::ALL) {
            self.check(8, |(a, b, ends), d| {
                let k = self.case.1[2] as u32;
                kernels::gemm_grouped::launch(config, self.device, 3, a, b, ends, d, k).unwrap();
            });
        }
    }

    /// By the function, stored by vectors if there are 8 elements beside rows of D, else by elements.
    fn check_function(&self, pad: usize) {
        self.check(pad, |(a, b, ends), d| {
            gemm_grouped(self.device, a, b, ends, d).unwrap();
        });
    }
}

#[test]
pub(crate) fn every_group_agrees_with_float64() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let device = device();
        let mut cover = Cover::new(&device, CASES.len());
        for case in CASES {
            let groups = Groups::<bf16>::new(&device, case);
            groups.check_tiles(&mut cover);
            for pad in [8, 3] {
                groups.check_function(pad);
            }
        }
        cover.finish();
    });
}

#[test]
pub(crate) fn groups_of_f16_are_multiplied() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let device = device();
        let groups = Groups::<f16>::new(&device, CASES[0]);
        groups.check_tiles(&mut Cover::new(&device, 1));
        Groups::<f16>::new(&device, CASES[5]).check_function(1);
    });
}

/// Several tiles for each CTA, which take more stages than the ring has.
#[test]
fn groups_do_not_notice_the_schedule() {
    let mut cover = Cover::new(&Device::emulator(), 2);
    for seed in 1..3 {
        let device = Device::emulator_with_seed(seed);
        let case = (&[3, 3, 140, 150][..], [150, 264, 200]);
        Groups::<bf16>::new(&device, case).check_tiles(&mut cover);
    }
    cover.finish();
}

/// Large groups, which take too long on the emulator.
#[test]
fn large_groups_agree_with_float64() {
    let device = device();
    if device.is_emulator() {
        return;
    }
    let case: Case = (&[700, 701, 1500, 1500, 4000], [4096, 2056, 1032]);
    let mut cover = Cover::new(&device, 2);
    let groups = Groups::<bf16>::new(&device, case);
    groups.check_tiles(&mut cover);
    groups.check_function(3);
    Groups::<f16>::new(&device, case).check_tiles(&mut cover);
}

/// Weights of shape (groups, K, N), and tokens along M.
#[test]
fn matrices_along_m_and_n_are_copied() {
    let device = device();
    let (groups, [m, n, k]) = (2, [20, 24, 16]);
    let (a, b) = (normal(1, m * k), normal(2, groups * n * k));
    let along_m = Tensor::from_slice(&device, &a, [k, m]).unwrap();
    let along_n = Tensor::from_slice(&device, &b, [groups, k, n]).unwrap();
    let ends = Tensor::from_slice(&device, &[7, 20], [groups]).unwrap();
    let mut d = Tensor::<bf16, 2>::zeros(&device, [m, n]).unwrap();
    gemm_grouped(
        &device,
        &along_m.view().select([1, 0]).unwrap(),
        &along_n.view().select([0, 2, 1]).unwrap(),
        &ends.view(),
        &mut d.view_mut(),
    )
    .unwrap();
    let transposed = |x: &[bf16], rows: usize, columns: usize| -> Vec<bf16> {
        let element = |i: usize| x[i % columns * rows + i / columns];
        (0..rows * columns).map(element).collect()
    };
    let (a, d) = (transposed(&a, m, k), d.download().unwrap());
    for (group, rows) in [0..7, 7..20].into_iter().enumerate() {
        let b = transposed(&b[group * n * k..], n, k);
        let found = reference::gemm(
            Matrix::packed(&a[rows.start * k..], rows.len(), k),
            Matrix::packed(&b, n, k),
            Matrix::packed(&d[rows.start * n..], rows.len(), n),
        );
        assert!(found.is_rounding(1.0 / 128.0, 1), "{group}: {found:?}");
    }
}

#[test]
fn groups_are_refused_before_the_launch() {
    let device = Device::emulator();
    let matrix = |rows, cols| Tensor::<bf16, 2>::zeros(&device, [rows, cols]).unwrap();
    let (a, mut d) = (matrix(16, 16), matrix(16, 24));
    let b = Tensor::<bf16, 3>::zeros(&device, [2, 24, 16]).unwrap();
    let ends = |count| Tensor::<i32, 1>::zeros(&device, [count]).unwrap();
    let error = gemm_grouped(
        &device,
        &a.view(),
        &b.view(),
        &ends(3).view(),
        &mut d.view_mut(),
    );
    assert_eq!(
        error.unwrap_err().to_string(),
        "gemm_grouped needs a of shape (M, K), b of (groups, N, K), ends of (groups) and d of (M, N): \
         found a [16, 16], b [2, 24, 16], ends [3] and d [16, 24]"
    );
    let mut along_m = matrix(24, 16);
    let mut along_m = along_m.view_mut().select([1, 0]).unwrap();
    let error = gemm_grouped(&device, &a.view(), &b.view(), &ends(2).view(), &mut along_m);
    let error = error.unwrap_err().to_string();
    assert!(
        error.starts_with("gemm_grouped needs d contiguous along N"),
        "{error}"
    );

    assert!(check_group_ends(&[0, 0, 5, 16], 16).is_ok());
    for (ends, group) in [
        (&[0, 5, 4, 16], 2),
        (&[-1, 0, 0, 0], 0),
        (&[1, 2, 3, 17], 3),
    ] {
        let error = check_group_ends(ends, 16).unwrap_err();
        assert!(
            matches!(error, Error::GroupEnd { group: found, .. } if found == group),
            "{error}"
        );
    }
}
