//! Kernels on tiles of tensors in global memory, launched from safe code, and the facts that launches check.

use cute_runtime::{Device, Error, Tensor, bf16, kernels};

#[kernels]
mod rows {
    /// y[i, j] = exp(x[i, j]) / Σₖ exp(x[i, k]), for rows of at most 1024 elements.
    #[kernel(threads = 128)]
    pub fn softmax(
        #[facts(aligned(x, 16), extent(x, 1) % 8 == 0, extent(x, 1) <= 1024)] x: Global<bf16, 2>,
        #[facts(aligned(y, 16), extent(y, 0) == extent(x, 0), extent(y, 1) == extent(x, 1))]
        y: Global<bf16, 2>,
    ) {
        // A warp holds a row; a thread holds four times eight consecutive elements of it.
        let held = layout!(((32,4),(8,4)):((8@1,1@0),(1@1,256@1)));
        let row = fragment::<bf16>(held);
        copy_or(
            local_tile(x, (4, 1024), (block_idx().0, 0)),
            row,
            f32::NEG_INFINITY,
        );
        let v = convert::<f32>(row);
        let e = map(v - reduce(v, 1, max), |v| exp2_fast(v * 1.442695));
        let p = e * map(reduce(e, 1, add), |sum| rcp_fast(sum));
        copy_inside(
            convert::<bf16>(p),
            local_tile(y, (4, 1024), (block_idx().0, 0)),
        );
    }

    /// x[i] *= a for i below n.
    #[kernel(threads = 32)]
    #[instance(scale_by_4: V = 4)]
    pub fn scale<const V: u32>(
        #[facts(n % V == 0, extent(x, 0) == n, V * 8 <= extent(x, 0) + 4, aligned(x, 4 * V))]
        x: Global<f32, 1>,
        a: f32,
        n: u32,
    ) {
        let held = composition(make_identity_layout((32 * V,)), layout!((32,V):(V,1)));
        let v = fragment::<f32>(held);
        for i in 0..ceil_div(n, 32 * V) {
            let tile = local_tile(x, (32 * V,), (i,));
            copy_or(tile, v, 0.0);
            v *= a;
            copy_inside(v, tile);
        }
    }
}

#[test]
fn softmax_of_rows() -> Result<(), Error> {
    let device = Device::emulator();
    for (rows, columns) in [(1, 8), (5, 200), (4, 1024), (9, 264)] {
        let value =
            |i: usize, j: usize| bf16::from_f32(((i * 37 + j * 11) % 29) as f32 / 4.0 - 3.0);
        let data: Vec<bf16> = (0..rows * columns)
            .map(|at| value(at / columns, at % columns))
            .collect();
        let x = Tensor::from_slice_strided(&device, &data, [rows, columns], [columns + 8, 1])?;
        let mut y = Tensor::<bf16, 2>::zeros(&device, [rows, columns])?;
        let grid = rows.div_ceil(4) as u32;
        rows::softmax::launch(&device, grid, &x.view(), &mut y.view_mut())?;
        let found = y.download()?;
        for (row, found) in data.chunks(columns).zip(found.chunks(columns)) {
            let exp = |x: &bf16| f64::from(x.to_f32()).exp();
            let sum: f64 = row.iter().map(exp).sum();
            for (x, found) in row.iter().zip(found) {
                let (found, expected) = (f64::from(found.to_f32()), exp(x) / sum);
                assert!(
                    (found - expected).abs() <= expected / 128.0,
                    "{found} {expected}"
                );
            }
        }
    }
    Ok(())
}

#[test]
fn facts_are_checked_at_launch() -> Result<(), Error> {
    let device = Device::emulator();
    let scale = |len: usize, n: u32, offset: usize| -> Result<Vec<f32>, Error> {
        let mut buffer = device.upload(&vec![1.0f32; len + offset])?;
        rows::scale_by_4::launch(
            &device,
            1,
            &mut buffer.view_mut(offset, [len], [1])?,
            3.0,
            n,
        )?;
        buffer.download()
    };
    assert_eq!(scale(140, 140, 0)?, [3.0; 140]);
    for (len, n, offset, expected) in [
        (
            140,
            139,
            0,
            "kernel scale_by_4: `n % V == 0` does not hold: n = 139",
        ),
        (
            140,
            136,
            0,
            "kernel scale_by_4: `extent(x, 0) == n` does not hold: extent(x, 0) = 140, n = 136",
        ),
        (
            24,
            24,
            0,
            "kernel scale_by_4: `V * 8 <= extent(x, 0) + 4` does not hold: extent(x, 0) = 24",
        ),
    ] {
        let error = scale(len, n, offset).expect_err("a broken fact");
        assert_eq!(error.to_string(), expected);
    }
    let error = scale(140, 140, 1)
        .expect_err("an address that is not aligned")
        .to_string();
    let expected = "kernel scale_by_4: `aligned(x, 4 * V)` does not hold: address of x = ";
    assert!(error.starts_with(expected), "{error}");

    let x = Tensor::<bf16, 2>::zeros(&device, [4, 64])?;
    let mut y = Tensor::<bf16, 2>::zeros(&device, [3, 64])?;
    let error =
        rows::softmax::launch(&device, 1, &x.view(), &mut y.view_mut()).expect_err("other extents");
    let expected = "kernel softmax: `extent(y, 0) == extent(x, 0)` does not hold: extent(y, 0) = 3, extent(x, 0) = 4";
    assert_eq!(error.to_string(), expected);
    Ok(())
}

#[test]
fn extents_are_of_32_bits() -> Result<(), Error> {
    let device = Device::emulator();
    // With a stride of 0, all rows are one.
    let buffer = device.upload(&[bf16::ONE; 8])?;
    let x = buffer.view(0, [(1 << 31) + 1, 8], [0, 1])?;
    let mut y = Tensor::<bf16, 2>::zeros(&device, [4, 8])?;
    let error = rows::softmax::launch(&device, 1, &x, &mut y.view_mut()).expect_err("too large");
    let expected = "kernel softmax, argument x: the extent of mode 0 is 2147483649: the kernel takes at most 2147483648";
    assert_eq!(error.to_string(), expected);
    Ok(())
}
