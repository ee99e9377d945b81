//! Bad input of products: a typed error that names argument and rule, before anything is launched, be it a copy of A or B.

use cute_kernels::{
    Error, gemm, gemm_block_scaled, gemm_grouped, gemm_linear, gemm_scaled, gemm_update,
    quantise_rows,
};
use cute_runtime::{Device, Element, Tensor, TensorView, TensorViewMut, bf16, e4m3};

/// M, N and K. Rows of so many elements are copied first, by a launch.
const EXTENTS: [usize; 3] = [16, 136, 301];

/// Holds an error against its text, and the device against launches.
#[track_caller]
fn refused(device: &Device, result: Result<(), Error>, text: &str) {
    assert_eq!(result.unwrap_err().to_string(), text);
    assert_eq!(device.take_counts().unwrap().launches, 0, "{text}");
}

fn tensor<T: Element, const R: usize>(device: &Device, shape: [usize; R]) -> Tensor<T, R> {
    Tensor::zeros(device, shape).unwrap()
}

/// A, B and D of batches of matrices.
struct Operands<T: Element, D: Element>(Tensor<T, 3>, Tensor<T, 3>, Tensor<D, 3>);

impl<T: Element, D: Element> Operands<T, D> {
    fn new(device: &Device, batches: usize) -> Self {
        let [m, n, k] = EXTENTS;
        Self(
            tensor(device, [batches, m, k]),
            tensor(device, [batches, n, k]),
            tensor(device, [batches, m, n]),
        )
    }

    fn views(
        &mut self,
    ) -> (
        TensorView<'_, T, 3>,
        TensorView<'_, T, 3>,
        TensorViewMut<'_, D, 3>,
    ) {
        (self.0.view(), self.1.view(), self.2.view_mut())
    }
}

#[test]
fn scales_of_another_shape() {
    let device = Device::emulator();
    for (batches, scale_a, scale_b, expected) in [
        (
            1,
            vec![15],
            vec![136],
            "scale_a of shape [16] or [1]: found [15]",
        ),
        (
            1,
            vec![16],
            vec![2],
            "scale_b of shape [136] or [1]: found [2]",
        ),
        (
            1,
            vec![2, 16],
            vec![1, 1],
            "scale_a of shape [16] or [1]: found [2, 16]",
        ),
        (
            3,
            vec![2, 16],
            vec![3, 136],
            "scale_a of shape [3, 16] or [3, 1] or [16] or [1]: found [2, 16]",
        ),
        (
            3,
            vec![3, 16],
            vec![3, 16],
            "scale_b of shape [3, 136] or [3, 1] or [136] or [1]: found [3, 16]",
        ),
        (
            3,
            vec![3],
            vec![136],
            "scale_a of shape [3, 16] or [3, 1] or [16] or [1]: found [3]",
        ),
        (
            3,
            vec![1, 3, 16],
            vec![1, 3, 136],
            "scale_a of shape [3, 16] or [3, 1] or [16] or [1]: found [1, 3, 16]",
        ),
    ] {
        let mut operands = Operands::<e4m3, bf16>::new(&device, batches);
        let (a, b, mut d) = operands.views();
        let result = match scale_a.len() {
            1 => of_rows::<1>(&device, &a, &b, &mut d, &scale_a, &scale_b),
            2 => of_rows::<2>(&device, &a, &b, &mut d, &scale_a, &scale_b),
            _ => of_rows::<3>(&device, &a, &b, &mut d, &scale_a, &scale_b),
        };
        refused(&device, result, &format!("gemm_scaled needs {expected}"));
    }
}

fn of_rows<const S: usize>(
    device: &Device,
    a: &TensorView<'_, e4m3, 3>,
    b: &TensorView<'_, e4m3, 3>,
    d: &mut TensorViewMut<'_, bf16, 3>,
    scale_a: &[usize],
    scale_b: &[usize],
) -> Result<(), Error> {
    let [x, y] =
        [scale_a, scale_b].map(|shape| tensor::<f32, S>(device, shape.try_into().unwrap()));
    gemm_scaled(device, a, &x.view(), b, &y.view(), d)
}

#[test]
fn scales_of_blocks_of_another_shape() {
    let device = Device::emulator();
    for (batches, scale_a, scale_b, expected) in [
        (
            1,
            [1, 16, 2],
            [1, 2, 3],
            "scale_a of shape [16, 3]: found [1, 16, 2]",
        ),
        (
            1,
            [1, 16, 3],
            [1, 136, 3],
            "scale_b of shape [2, 3]: found [1, 136, 3]",
        ),
        (
            3,
            [2, 16, 3],
            [3, 2, 3],
            "scale_a of shape [3, 16, 3] or [16, 3]: found [2, 16, 3]",
        ),
        (
            3,
            [3, 16, 3],
            [3, 3, 2],
            "scale_b of shape [3, 2, 3] or [2, 3]: found [3, 3, 2]",
        ),
    ] {
        let mut operands = Operands::<e4m3, bf16>::new(&device, batches);
        let (a, b, mut d) = operands.views();
        let (x, y) = (tensor(&device, scale_a), tensor(&device, scale_b));
        let result = gemm_block_scaled(&device, &a, &x.view(), &b, &y.view(), &mut d);
        refused(
            &device,
            result,
            &format!("gemm_block_scaled needs {expected}"),
        );
    }
}

#[test]
fn scales_that_lie_apart() {
    let device = Device::emulator();
    let mut operands = Operands::<e4m3, bf16>::new(&device, 1);
    let (a, b, mut d) = operands.views();
    let all = device.zeros::<f32>(1000).unwrap();
    let one = all.view(0, [1], [7]).unwrap();
    let apart = all.view(0, [16], [2]).unwrap();
    let result = gemm_scaled(&device, &a, &apart, &b, &one, &mut d);
    let text = "scale_a has a stride of 2 between the scales of neighbouring rows: it must be 1";
    refused(&device, result, text);

    let of_a = all.view(0, [16, 3], [3, 1]).unwrap();
    let of_b = all.view(0, [2, 3], [3, 1]).unwrap();
    let apart = all.view(0, [16, 3], [16, 2]).unwrap();
    let result = gemm_block_scaled(&device, &a, &apart, &b, &of_b, &mut d);
    let text = "scale_a has strides [16, 2] along rows and columns: one of them must be 1, unless its extent is 1";
    refused(&device, result, text);
    let along_n = all.view(0, [2, 3], [1, 2]).unwrap();
    let result = gemm_block_scaled(&device, &a, &of_a, &b, &along_n, &mut d);
    let text = "gemm_block_scaled needs scale_b contiguous along K: found strides [1, 2] along rows and columns";
    refused(&device, result, text);
}

/// D that no function takes, and D that some do not.
#[test]
fn matrices_that_lie_wrong() {
    let device = Device::emulator();
    let [m, n, _] = EXTENTS;
    let Operands(a, b, d) = Operands::<e4m3, bf16>::new(&device, 1);
    let (a, b) = (a.view(), b.view());
    let mut apart = device.zeros::<bf16>(2 * m * n).unwrap();
    let mut apart = apart.view_mut(0, [1, m, n], [0, 2 * n, 2]).unwrap();
    let one = tensor(&device, [1]);
    let (of_a, of_b) = (tensor(&device, [m, 3]), tensor(&device, [2, 3]));
    let text = "d has strides [272, 2] along rows and columns: one of them must be 1, unless its extent is 1";
    refused(&device, gemm(&device, &a, &b, &mut apart), text);
    let result = gemm_scaled(&device, &a, &one.view(), &b, &one.view(), &mut apart);
    refused(&device, result, text);
    let result = gemm_block_scaled(&device, &a, &of_a.view(), &b, &of_b.view(), &mut apart);
    refused(&device, result, text);
    let result = gemm_linear(&device, 1.0, &a, &b, 1.0, &d.view(), &mut apart);
    refused(&device, result, text);
    refused(
        &device,
        gemm_update(&device, 1.0, &a, &b, 1.0, &mut apart),
        text,
    );

    let mut turned = tensor::<bf16, 3>(&device, [1, n, m]);
    let mut turned = turned.view_mut().select([0, 2, 1]).unwrap();
    let result = gemm_block_scaled(&device, &a, &of_a.view(), &b, &of_b.view(), &mut turned);
    let text = "gemm_block_scaled needs d contiguous along N: found strides [1, 16] along rows and columns";
    refused(&device, result, text);
    let text =
        "gemm_linear needs c contiguous along M: found strides [136, 1] along rows and columns";
    let result = gemm_linear(&device, 1.0, &a, &b, 1.0, &d.view(), &mut turned);
    refused(&device, result, text);

    // The rows of a group, with weights that would be copied first.
    let (tokens, weights) = (
        tensor::<bf16, 2>(&device, [m, 16]),
        tensor(&device, [1, n, 17]),
    );
    let weights = weights.view().slice(2, 1..17).unwrap();
    let ends = tensor(&device, [1]);
    let mut turned = tensor::<bf16, 2>(&device, [n, m]);
    let mut turned = turned.view_mut().select([1, 0]).unwrap();
    let result = gemm_grouped(&device, &tokens.view(), &weights, &ends.view(), &mut turned);
    let text =
        "gemm_grouped needs d contiguous along N: found strides [1, 16] along rows and columns";
    refused(&device, result, text);
}

#[test]
fn matrices_of_other_shapes() {
    let device = Device::emulator();
    let [m, n, k] = EXTENTS;
    let mut operands = Operands::<e4m3, bf16>::new(&device, 2);
    let (a, _, mut d) = operands.views();
    // One matrix for all batches has a stride of 0, not an extent of 1.
    let b = tensor::<e4m3, 3>(&device, [1, n, k]);
    let (b, one) = (b.view(), tensor(&device, [1]));
    let text = format!(
        "a product needs a of shape (M, K), b of (N, K) and d of (M, N), or all three with a mode of batches before: found a {:?}, b {:?} and d {:?}",
        [2, m, k],
        [1, n, k],
        [2, m, n]
    );
    refused(&device, gemm(&device, &a, &b, &mut d), &text);
    let result = gemm_scaled(&device, &a, &one.view(), &b, &one.view(), &mut d);
    refused(&device, result, &text);
    refused(
        &device,
        gemm_update(&device, 1.0, &a, &b, 1.0, &mut d),
        &text,
    );
}

/// What a kernel writes is borrowed mutably, so that it overlaps nothing else; that it does not overlap itself is checked when the view
/// is made.
#[test]
fn outputs_that_overlap() {
    let device = Device::emulator();
    let mut d = device.zeros::<bf16>(4096).unwrap();
    let error = d.view_mut(0, [3, 16, 8], [64, 8, 1]).unwrap_err();
    assert_eq!(error.to_string(), OVERLAP);
    // A batch stride of 0 is for matrices that are only read.
    assert!(d.view(0, [3, 16, 8], [0, 8, 1]).is_ok());
    assert!(d.view_mut(0, [3, 16, 8], [0, 8, 1]).is_err());
}

const OVERLAP: &str = "shape [3, 16, 8] with strides [64, 8, 1] is not writable: the stride of mode 0 is 64, but must be at least 128, the span of the modes with smaller strides";

#[test]
fn what_is_quantised_to_another_shape() {
    let device = Device::emulator();
    let (x, mut y) = (
        tensor::<bf16, 2>(&device, [4, 8]),
        tensor::<e4m3, 2>(&device, [4, 8]),
    );
    let (rows, mut scales) = (tensor(&device, [3]), tensor(&device, [4]));
    let (x, mut y, mut scales) = (x.view(), y.view_mut(), scales.view_mut());
    let result = quantise_rows(&device, &x, &rows.view(), &mut y, &mut scales);
    let text = "quantise_rows needs y of the shape of x, (M, N), and largest and scales of (M): found x [4, 8], largest [3], y [4, 8] and scales [4]";
    refused(&device, result, text);
}
