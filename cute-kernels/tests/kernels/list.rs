//! Lists of products of any shapes, each compared with float64.

use std::sync::Once;

use cute_kernels::gemm::list::kernels::{self, PROBLEMS, gemm_list_CFG as Config};
use cute_kernels::reference::{self, Matrix, normal};
use cute_kernels::{Error, ListInput, gemm_list};
use cute_runtime::{Device, Element, Tensor, TensorView, TensorViewMut, bf16, f16};

use crate::covering::Cover;
use crate::device;
use crate::number::Number;

/// M, N and K of each product.
type Shapes = &'static [[usize; 3]];

/// One product; products of fewer elements than a tile, of several tiles, and of fewer stages than others; K that is no multiple of a
/// stage; several tiles for each CTA.
const SHAPES: [Shapes; 3] = [
    &[[70, 72, 72]],
    &[
        [1, 8, 8],
        [130, 264, 200],
        [64, 64, 64],
        [5, 136, 328],
        [200, 16, 24],
    ],
    &[[129, 128, 136]; 3],
];

/// The matrices A and B of a list, and the products in float64. Beside the rows of A and B are NaNs.
struct List<'d, T: Element> {
    device: &'d Device,
    shapes: Vec<[usize; 3]>,
    a: Vec<Tensor<T, 2>>,
    b: Vec<Tensor<T, 2>>,
    expected: Vec<reference::Product>,
}

/// What D holds outside of the product.
const GUARD: f32 = 113.0;

/// Elements from a row of A or B to the next.
fn stride(k: usize) -> usize {
    k.next_multiple_of(8) + 8
}

impl<'d, T: Number> List<'d, T> {
    fn new(device: &'d Device, shapes: &[[usize; 3]]) -> Self {
        let (mut a, mut b, mut expected) = (Vec::new(), Vec::new(), Vec::new());
        for (i, &[m, n, k]) in shapes.iter().enumerate() {
            let [of_a, of_b] = [(2 * i, m), (2 * i + 1, n)].map(|(seed, rows)| {
                let mut elements = vec![T::of(f32::NAN); rows * stride(k)];
                let numbers = normal(seed as u64, rows * k);
                for (row, numbers) in elements.chunks_mut(stride(k)).zip(numbers.chunks(k)) {
                    for (element, number) in row.iter_mut().zip(numbers) {
                        *element = T::of(number.to_f32());
                    }
                }
                elements
            });
            let matrix = |data, rows| Matrix {
                data,
                rows,
                cols: k,
                stride: stride(k),
            };
            expected.push(reference::Product::new(matrix(&of_a, m), matrix(&of_b, n)));
            let on_device = |elements: &[T], rows| {
                let buffer = device.upload(elements).unwrap();
                Tensor::new(buffer, [rows, k], [stride(k), 1]).unwrap()
            };
            a.push(on_device(&of_a, m));
            b.push(on_device(&of_b, n));
        }
        Self {
            device,
            shapes: shapes.to_vec(),
            a,
            b,
            expected,
        }
    }

    /// Launches the products, and compares each. There are so many elements beside the rows of D, which must stay.
    fn check<D: Number>(
        &self,
        pad: usize,
        launch: impl FnOnce(
            &[TensorView<'_, T, 2>],
            &[TensorView<'_, T, 2>],
            &mut [TensorViewMut<'_, D, 2>],
        ),
    ) where
        T: ListInput<D>,
    {
        let guard = |[m, n, _]: &[usize; 3]| vec![D::of(GUARD); m * (n + pad)];
        let buffers = self.shapes.iter().map(guard);
        let mut buffers: Vec<_> = buffers.map(|d| self.device.upload(&d).unwrap()).collect();
        let mut d: Vec<_> = (buffers.iter_mut().zip(&self.shapes))
            .map(|(d, [m, n, _])| d.view_mut(0, [*m, *n], [n + pad, 1]).unwrap())
            .collect();
        launch(&views(&self.a), &views(&self.b), &mut d);
        for (i, (&[m, n, k], expected)) in self.shapes.iter().zip(&self.expected).enumerate() {
            let d = buffers[i].download().unwrap();
            let found = expected.compare(Matrix {
                data: &d,
                rows: m,
                cols: n,
                stride: n + pad,
            });
            let instructions = k.div_ceil(16);
            assert!(
                found.is_rounding(D::UNIT, instructions),
                "product {i} of {:?}: {found:?}",
                self.shapes
            );
            let kept = d.chunks(n + pad).all(|row| {
                let mut beside = row[n..].iter().map(|x| (*x).into());
                beside.all(|x| x == f64::from(GUARD))
            });
            assert!(kept, "product {i} of {:?}: written elsewhere", self.shapes);
        }
    }

    /// By each tile, or by those that the cover wants, on three CTAs.
    fn check_tiles<D: Number>(&self, cover: &mut Cover<Config>)
    where
        T: ListInput<D>,
    {
        let depths: Vec<u32> = self.shapes.iter().map(|shape| shape[2] as u32).collect();
        let by_vector = Config::ALL.iter().filter(|it| !it.value().by_element);
        let by_vector: Vec<Config> = by_vector.copied().collect();
        for config in cover.choose_any(&by_vector) {
            self.check::<D>(8, |a, b, d| {
                kernels::gemm_list::launch(config, self.device, 3, a, b, d, &depths).unwrap();
            });
        }
        self.check::<D>(3, |a, b, d| {
            let config = Config::SQUARE_BY_ELEMENT;
            kernels::gemm_list::launch(config, self.device, 3, a, b, d, &depths).unwrap();
        });
    }

    /// By the function, stored by vectors if there are 8 elements beside rows of D, and by elements if there are 3.
    fn check_function<D: Number>(&self, pad: usize)
    where
        T: ListInput<D>,
    {
        self.check::<D>(pad, |a, b, d| gemm_list(self.device, a, b, d).unwrap());
    }
}

fn views<T: Element>(matrices: &[Tensor<T, 2>]) -> Vec<TensorView<'_, T, 2>> {
    matrices.iter().map(Tensor::view).collect()
}

#[test]
pub(crate) fn every_product_agrees_with_float64() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let device = device();
        let mut cover = Cover::new(&device, SHAPES.len());
        for shapes in SHAPES {
            let list = List::<bf16>::new(&device, shapes);
            list.check_tiles::<bf16>(&mut cover);
            for pad in [8, 3] {
                list.check_function::<bf16>(pad);
            }
        }
        cover.finish();
    });
}

#[test]
pub(crate) fn products_of_other_types_agree_with_float64() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let device = device();
        let mut cover = Cover::new(&device, 2);
        let of_f16 = List::<f16>::new(&device, SHAPES[1]);
        let of_bf16 = List::<bf16>::new(&device, SHAPES[1]);
        of_f16.check_tiles::<f16>(&mut cover);
        of_bf16.check_tiles::<f32>(&mut cover);
        cover.finish();
        for pad in [8, 3] {
            of_f16.check_function::<f16>(pad);
            of_bf16.check_function::<f32>(pad);
        }
    });
}

#[test]
fn a_list_does_not_notice_the_schedule() {
    let mut cover = Cover::new(&Device::emulator(), 2);
    for seed in 1..3 {
        let device = Device::emulator_with_seed(seed);
        List::<bf16>::new(&device, SHAPES[1]).check_tiles::<bf16>(&mut cover);
    }
    cover.finish();
}

/// More products than a launch takes; some of them have D whose rows do not begin at multiples of 16 bytes.
#[test]
fn long_lists_take_several_launches() {
    let device = device();
    let shapes: Vec<[usize; 3]> = (0..PROBLEMS as usize + 5)
        .map(|i| [1 + i % 7, 8 + i % 9, 8 * (1 + i % 3)])
        .collect();
    List::<bf16>::new(&device, &shapes).check_function::<f32>(0);
}

/// Large products, which take too long on the emulator.
#[test]
fn large_products_agree_with_float64() {
    let device = device();
    if device.is_emulator() {
        return;
    }
    let shapes = [
        [4096, 2056, 1032],
        [700, 5000, 4096],
        [1, 8192, 2048],
        [3000, 64, 8192],
    ];
    let mut cover = Cover::new(&device, 2);
    let of_bf16 = List::<bf16>::new(&device, &shapes);
    of_bf16.check_tiles::<bf16>(&mut cover);
    of_bf16.check_function::<f32>(3);
    List::<f16>::new(&device, &shapes).check_tiles::<f16>(&mut cover);
}

/// A along M, B along N, and D along M; rows that do not begin at multiples of 16 bytes.
#[test]
fn matrices_lie_in_any_way() {
    let device = device();
    let (m, n, k) = (20, 24, 16);
    let (a, b) = (normal(1, m * k), normal(2, n * k));
    let transposed = |x: &[bf16], rows: usize, columns: usize| -> Vec<bf16> {
        let element = |i: usize| x[i % columns * rows + i / columns];
        (0..rows * columns).map(element).collect()
    };
    let odd = |x: &[bf16], rows: usize| {
        let mut elements = vec![bf16::NAN; rows * (k + 1)];
        for (row, numbers) in elements.chunks_mut(k + 1).zip(x.chunks(k)) {
            row[..k].copy_from_slice(numbers);
        }
        let buffer = device.upload(&elements).unwrap();
        Tensor::new(buffer, [rows, k], [k + 1, 1]).unwrap()
    };
    let along_m = Tensor::from_slice(&device, &transposed(&a, k, m), [k, m]).unwrap();
    let along_n = Tensor::from_slice(&device, &transposed(&b, k, n), [k, n]).unwrap();
    let (odd_a, odd_b) = (odd(&a, m), odd(&b, n));
    let mut rows = Tensor::<f32, 2>::zeros(&device, [m, n]).unwrap();
    let mut columns = Tensor::<f32, 2>::zeros(&device, [n, m]).unwrap();
    gemm_list(
        &device,
        &[along_m.view().select([1, 0]).unwrap(), odd_a.view()],
        &[along_n.view().select([1, 0]).unwrap(), odd_b.view()],
        &mut [rows.view_mut(), columns.view_mut().select([1, 0]).unwrap()],
    )
    .unwrap();
    let turned = columns.view().select([1, 0]).unwrap().download().unwrap();
    for (i, d) in [rows.download().unwrap(), turned].into_iter().enumerate() {
        let found = reference::gemm(
            Matrix::packed(&a, m, k),
            Matrix::packed(&b, n, k),
            Matrix::packed(&d, m, n),
        );
        assert!(found.is_rounding(f32::UNIT, 1), "{i}: {found:?}");
    }
}

#[test]
fn a_list_is_captured() {
    let device = device();
    let list = List::<bf16>::new(&device, SHAPES[1]);
    list.check::<bf16>(8, |a, b, d| {
        let graph = device.capture(|| gemm_list(&device, a, b, d)).unwrap();
        graph.launch().unwrap();
    });
}

#[test]
fn a_list_without_work_is_nothing_to_do() {
    let device = device();
    gemm_list::<bf16, bf16>(&device, &[], &[], &mut []).unwrap();
    let matrix = |rows, cols| Tensor::<bf16, 2>::zeros(&device, [rows, cols]).unwrap();
    let (a, b) = ([matrix(0, 8), matrix(4, 8)], [matrix(16, 8), matrix(0, 8)]);
    let mut d = [matrix(0, 16), matrix(4, 0)];
    gemm_list(
        &device,
        &a.each_ref().map(Tensor::view),
        &b.each_ref().map(Tensor::view),
        &mut d.each_mut().map(Tensor::view_mut),
    )
    .unwrap();
}

#[test]
fn lists_are_refused_before_the_launch() {
    let device = Device::emulator();
    let matrix =
        |[rows, cols]: [usize; 2]| Tensor::<bf16, 2>::zeros(&device, [rows, cols]).unwrap();
    // The first product could be computed, and must not be.
    let refused = |a: [usize; 2], b: [usize; 2], d: [usize; 2]| {
        let a = [
            Tensor::from_slice(&device, &[bf16::ONE; 64], [8, 8]).unwrap(),
            matrix(a),
        ];
        let b = [
            Tensor::from_slice(&device, &[bf16::ONE; 64], [8, 8]).unwrap(),
            matrix(b),
        ];
        let mut d = [matrix([8, 8]), matrix(d)];
        let error = gemm_list(
            &device,
            &a.each_ref().map(Tensor::view),
            &b.each_ref().map(Tensor::view),
            &mut d.each_mut().map(Tensor::view_mut),
        );
        let kept = d[0].download().unwrap().iter().all(|x| *x == bf16::ZERO);
        assert!(kept, "something was launched");
        error.unwrap_err()
    };
    let error = refused([16, 8], [24, 16], [16, 24]);
    assert_eq!(
        error.to_string(),
        "product 1: a product needs a of shape (M, K), b of (N, K) and d of (M, N), or all three with a mode of batches before: \
         found a [16, 8], b [24, 16] and d [16, 24]"
    );
    assert!(matches!(error, Error::ListProblem { problem: 1, .. }));

    let (x, mut d) = (matrix([64, 64]), matrix([4, 4]));
    let error = gemm_list(&device, &[x.view(); 2], &[x.view(); 3], &mut [d.view_mut()]);
    assert_eq!(
        error.unwrap_err().to_string(),
        "gemm_list needs as many of a, b and d: found 2 a, 3 b and 1 d"
    );
    // Every second column.
    let scattered = x.buffer().view(0, [4, 8], [16, 2]).unwrap();
    let plain = x.buffer().view(0, [4, 8], [16, 1]).unwrap();
    let error = gemm_list(&device, &[plain], &[scattered], &mut [d.view_mut()]);
    assert_eq!(
        error.unwrap_err().to_string(),
        "product 0: b has strides [16, 2] along rows and columns: one of them must be 1, unless its extent is 1"
    );
    let mut wide = matrix([4, 8]).into_buffer();
    let mut scattered = [wide.view_mut(0, [4, 4], [8, 2]).unwrap()];
    let error = gemm_list(&device, &[plain], &[plain], &mut scattered);
    let error = error.unwrap_err().to_string();
    assert!(
        error.starts_with("product 0: d has strides [8, 2]"),
        "{error}"
    );
}
