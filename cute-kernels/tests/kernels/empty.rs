//! Extents of 0: an output without elements is nothing to do, and a sum of nothing is 0, as in PyTorch.

use cute_kernels::{
    Error, Plan, attention, gemm, gemm_block_scaled, gemm_grouped, gemm_linear, gemm_list,
    gemm_scaled, gemm_update, histogram, layer_norm, quantise_rows, rms_norm, saxpy, softmax, sum,
    sum_rows, transpose,
};
use cute_runtime::{Device, Element, Tensor, bf16, e4m3};

use crate::device;

fn tensor<T: Element, const R: usize>(
    device: &Device,
    value: T,
    shape: [usize; R],
) -> Tensor<T, R> {
    let elements = vec![value; shape.iter().product()];
    Tensor::from_slice(device, &elements, shape).unwrap()
}

/// Holds a result against one value, and the device against launches where there is nothing to do.
#[track_caller]
fn check<T, const R: usize>(device: &Device, name: &str, d: &Tensor<T, R>, expected: f64)
where
    T: Element + Into<f64>,
{
    let launches = device.take_counts().map(|counts| counts.launches);
    let (shape, found) = (d.shape(), d.download().unwrap());
    assert!(
        found.iter().all(|&x| x.into() == expected),
        "{name} {shape:?}: {:?}, not {expected}",
        found.iter().map(|&x| x.into()).collect::<Vec<f64>>()
    );
    if device.is_emulator() && found.is_empty() {
        assert_eq!(launches, Some(0), "{name} {shape:?}");
    }
}

/// Batches, M, N and K, each of them also 0. Rows of 8 elements are stored by TMA, and those of 3 by elements.
fn products() -> Vec<[usize; 4]> {
    let mut all = Vec::new();
    for (batches, m) in [(0, 3), (1, 0), (1, 3), (2, 3), (2, 40)] {
        for n in [0, 3, 8] {
            all.extend([0, 16].map(|k| [batches, m, n, k]));
        }
    }
    all
}

#[test]
fn products_without_elements_are_zeros() -> Result<(), Error> {
    let device = device();
    let (x, nan) = (bf16::from_f32(0.5), f32::NAN);
    for [batches, m, n, k] in products() {
        let a = tensor(&device, x, [batches, m, k]);
        let b = tensor(&device, x, [batches, n, k]);
        let (a, b) = (a.view(), b.view());
        let product = 0.25 * k as f64;
        device.take_counts();

        let mut d = tensor(&device, nan, [batches, m, n]);
        gemm(&device, &a, &b, &mut d.view_mut())?;
        check(&device, "gemm", &d, product);
        let mut d = tensor(&device, nan, [batches, n, m]);
        let mut along_m = d.view_mut().select([0, 2, 1])?;
        let plan = Plan::autotune(&device, &a, &b, &mut along_m)?;
        plan.launch(&device, &a, &b, &mut along_m)?;
        check(&device, "gemm along M", &d, product);

        // α does not count where there is no product.
        let alpha = if k == 0 { f32::INFINITY } else { 2.0 };
        for (beta, added) in [(-2.0, 3.0), (0.0, nan)] {
            let c = tensor(&device, added, [batches, m, n]);
            let mut d = tensor(&device, nan, [batches, m, n]);
            let result = 2.0 * product + if beta == 0.0 { 0.0 } else { -6.0 };
            gemm_linear(&device, alpha, &a, &b, beta, &c.view(), &mut d.view_mut())?;
            check(&device, "gemm_linear", &d, result);
            let mut d = tensor(&device, added, [batches, m, n]);
            gemm_update(&device, alpha, &a, &b, beta, &mut d.view_mut())?;
            check(&device, "gemm_update", &d, result);
        }

        let (a, b) = (
            tensor(&device, e4m3::from_f32(0.5), [batches, m, k]),
            tensor(&device, e4m3::from_f32(0.5), [batches, n, k]),
        );
        let (a, b) = (a.view(), b.view());
        let scales = |value, shape| tensor::<f32, 3>(&device, value, shape);
        // What is infinite times nothing is nothing.
        let scale = if k == 0 { f32::INFINITY } else { 2.0 };
        let rows = tensor(&device, scale, [batches, m]);
        let one = tensor(&device, 1.0, [1, 1]);
        let mut d = tensor(&device, bf16::NAN, [batches, m, n]);
        gemm_scaled(
            &device,
            &a,
            &rows.view(),
            &b,
            &one.view(),
            &mut d.view_mut(),
        )?;
        check(&device, "gemm_scaled", &d, 2.0 * product);
        let (x, y) = (
            scales(2.0, [batches, m, k.div_ceil(128)]),
            scales(3.0, [batches, n.div_ceil(128), k.div_ceil(128)]),
        );
        let mut d = tensor(&device, bf16::NAN, [batches, m, n]);
        gemm_block_scaled(&device, &a, &x.view(), &b, &y.view(), &mut d.view_mut())?;
        check(&device, "gemm_block_scaled", &d, 6.0 * product);
    }
    Ok(())
}

#[test]
fn groups_and_lists_without_elements_are_zeros() -> Result<(), Error> {
    let device = device();
    let x = bf16::from_f32(0.5);
    for [groups, m, n, k] in products() {
        let (a, b) = (
            tensor(&device, x, [m, k]),
            tensor(&device, x, [groups, n, k]),
        );
        let ends = tensor(&device, m as i32, [groups]);
        let mut d = tensor(&device, bf16::ONE, [m, n]);
        device.take_counts();
        let (of_a, of_d) = (a.view(), &mut d.view_mut());
        gemm_grouped(&device, &of_a, &b.view(), &ends.view(), of_d)?;
        // Without groups, no row belongs to one.
        let expected = if groups == 0 { 1.0 } else { 0.25 * k as f64 };
        check(&device, "gemm_grouped", &d, expected);
    }
    let shapes: Vec<[usize; 3]> = products().iter().map(|&[_, m, n, k]| [m, n, k]).collect();
    let a: Vec<_> = shapes
        .iter()
        .map(|&[m, _, k]| tensor(&device, x, [m, k]))
        .collect();
    let b: Vec<_> = shapes
        .iter()
        .map(|&[_, n, k]| tensor(&device, x, [n, k]))
        .collect();
    let d = shapes
        .iter()
        .map(|&[m, n, _]| tensor(&device, f32::NAN, [m, n]));
    let mut d: Vec<_> = d.collect();
    let (of_a, of_b): (Vec<_>, Vec<_>) = (
        a.iter().map(Tensor::view).collect(),
        b.iter().map(Tensor::view).collect(),
    );
    let mut of_d: Vec<_> = d.iter_mut().map(Tensor::view_mut).collect();
    gemm_list(&device, &of_a, &of_b, &mut of_d)?;
    device.take_counts();
    for ([_, _, k], d) in shapes.iter().zip(&d) {
        check(&device, "gemm_list", d, 0.25 * *k as f64);
        device.take_counts();
    }
    Ok(())
}

#[test]
fn attention_without_keys_is_zero() -> Result<(), Error> {
    let device = device();
    for (heads, queries, keys) in [(0, 3, 3), (2, 0, 3), (2, 3, 0), (0, 0, 0), (2, 300, 0)] {
        for causal in [false, true] {
            let q = tensor(&device, bf16::NAN, [heads, queries, 64]);
            let k = tensor(&device, bf16::NAN, [heads, keys, 64]);
            let mut o = tensor(&device, bf16::NAN, [heads, queries, 64]);
            device.take_counts();
            let (q, k) = (q.view(), k.view());
            attention(&device, &q, &k, &k, &mut o.view_mut(), causal, 1.0)?;
            check(&device, "attention", &o, 0.0);
        }
    }
    Ok(())
}

#[test]
fn rows_without_elements_are_done() -> Result<(), Error> {
    let device = device();
    for [m, n] in [
        [0, 0],
        [0, 5],
        [5, 0],
        [0, 8],
        [8, 0],
        [0, 20_001],
        [300, 0],
    ] {
        let x = tensor(&device, 1.0f32, [m, n]);
        let weights = tensor(&device, 1.0f32, [n]);
        let (x, weights) = (x.view(), weights.view());
        let mut y = tensor(&device, f32::NAN, [m, n]);
        device.take_counts();
        softmax(&device, &x, &mut y.view_mut())?;
        check(&device, "softmax", &y, 0.0);
        layer_norm(&device, &x, &weights, &weights, 1.0, &mut y.view_mut())?;
        check(&device, "layer_norm", &y, 0.0);
        rms_norm(&device, &x, &weights, 1.0, &mut y.view_mut())?;
        check(&device, "rms_norm", &y, 0.0);
        let mut turned = tensor(&device, f32::NAN, [n, m]);
        transpose(&device, &x, &mut turned.view_mut())?;
        check(&device, "transpose", &turned, 0.0);
        let mut sums = tensor(&device, f32::NAN, [m]);
        sum_rows(&device, &x, &mut sums.view_mut())?;
        check(&device, "sum_rows", &sums, 0.0);
        let largest = tensor(&device, 448.0 * 3.0, [m]);
        let (mut y, mut scales) = (
            tensor(&device, e4m3::MAX, [m, n]),
            tensor(&device, f32::NAN, [m]),
        );
        let (of_y, of_scales) = (&mut y.view_mut(), &mut scales.view_mut());
        quantise_rows(&device, &x, &largest.view(), of_y, of_scales)?;
        check(&device, "quantise_rows", &scales, 3.0);
    }
    let x = tensor(&device, 1.0f32, [0]);
    let mut total = tensor(&device, f32::NAN, [1]);
    sum(&device, &x.view(), &mut total.view_mut())?;
    check(&device, "sum", &total, 0.0);
    saxpy(
        &device,
        1.0,
        &x.view(),
        &mut tensor(&device, 1.0, [0]).view_mut(),
    )?;
    let mut counts = tensor(&device, 7, [256]);
    histogram(
        &device,
        &tensor(&device, 0u8, [0]).view(),
        &mut counts.view_mut(),
    )?;
    check(&device, "histogram", &counts, 7.0);
    Ok(())
}

/// What has no elements is checked all the same.
#[test]
fn shapes_without_elements_fit_together() {
    let device = Device::emulator();
    let of = |shape| tensor(&device, 1.0f32, shape);
    let bf16s = |shape| tensor::<bf16, 2>(&device, bf16::ONE, shape);
    let (x, mut y, mut sums) = (of([0, 5]), of([0, 4]), tensor(&device, 1.0f32, [2]));
    let (x, weights) = (x.view(), tensor(&device, 1.0f32, [5]));
    let weights = weights.view();
    let empty = tensor(&device, 1.0f32, [0]);
    let (a, b, mut d) = (bf16s([0, 8]), bf16s([3, 0]), bf16s([0, 3]));
    let (a, b) = (a.view(), b.view());
    let refused = [
        softmax(&device, &x, &mut y.view_mut()),
        layer_norm(&device, &x, &weights, &weights, 1.0, &mut y.view_mut()),
        rms_norm(&device, &x, &weights, 1.0, &mut y.view_mut()),
        sum_rows(&device, &x, &mut sums.view_mut()),
        sum(&device, &empty.view(), &mut sums.view_mut()),
        saxpy(&device, 1.0, &empty.view(), &mut sums.view_mut()),
        transpose(&device, &x, &mut y.view_mut()),
        gemm(&device, &a, &b, &mut d.view_mut()),
        gemm_update(&device, 1.0, &a, &b, 1.0, &mut d.view_mut()),
        gemm_linear(
            &device,
            1.0,
            &a,
            &b,
            1.0,
            &bf16s([3, 0]).view(),
            &mut d.view_mut(),
        ),
    ];
    for (i, result) in refused.into_iter().enumerate() {
        let error = result.unwrap_err();
        assert!(matches!(error, Error::Shapes { .. }), "{i}: {error}");
    }
}
