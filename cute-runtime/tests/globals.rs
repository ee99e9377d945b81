//! Kernels on tiles of tensors in global memory, launched from safe code, and the facts that launches check.
//!
//! Every test of results runs on the emulator, and with `CUTE_GPU=1` also on the first GPU; then a missing GPU is a failure.

mod devices;

use devices::devices;

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
            bf16::NEG_INFINITY,
        );
        let v = convert::<f32>(row);
        let e = exp_fast(v - reduce(v, 1, max));
        let p = e * rcp_fast(reduce(e, 1, add));
        copy_inside(
            convert::<bf16>(p),
            local_tile(y, (4, 1024), (block_idx().0, 0)),
        );
    }

    /// y[j, i] = x[i, j], by way of shared memory.
    #[kernel(threads = 128)]
    pub fn transposed(
        #[facts(aligned(x, 16), extent(x, 1) % 4 == 0)] x: Global<f32, 2>,
        #[facts(extent(y, 0) == extent(x, 1), extent(y, 1) == extent(x, 0))] y: Global<f32, 2>,
    ) {
        let (i, j) = (block_idx().0, block_idx().1);
        let tile = smem::<f32>(layout!((32,32):(36,1)));
        // A row of eight threads, four elements each, and two such tiles.
        copy_async(
            local_tile(x, (32, 32), (i, j)),
            tile,
            layout!(((8,16),(4,2)):((4@1,1@0),(1@1,16@0))),
        );
        cp_async_commit();
        cp_async_wait(0);
        sync_threads();
        let column = fragment::<f32>(layout!(((32,4),8):((1@1,1@0),4@0)));
        copy(select(tile, 1, 0), column);
        copy_inside(column, local_tile(y, (32, 32), (j, i)), STREAMING);
    }

    /// y[i, j] = x[index[i], j], and 0 where x has no such row.
    #[kernel(threads = 32)]
    pub fn gathered(
        x: Global<f32, 2>,
        #[facts(extent(index, 0) == extent(y, 0))] index: Global<i32, 1>,
        #[facts(extent(y, 1) == extent(x, 1))] y: Global<f32, 2>,
    ) {
        let i = block_idx().0;
        if i < extent(index, 0) {
            let part = fragment::<f32>(layout!((32,4):(4@0,1@0)));
            for j in 0..ceil_div(extent(x, 1), 128) {
                copy_or(local_tile(x[(index[i], _)], 128, j), part, 0.0);
                copy_inside(part, local_tile(y[(i, _)], 128, j));
            }
        }
    }

    /// y[i] = Σⱼ x[i, j], where i is inside, element by element.
    #[kernel(threads = 64)]
    pub fn sums(#[facts(extent(x, 0) <= extent(y, 0))] x: Global<f32, 2>, y: Global<f32, 1>) {
        let i = block_idx().0 * 64 + thread();
        if i >= extent(x, 0) {
            return;
        }
        let mut sum = 0.0;
        for j in 0..extent(x, 1) {
            sum += x[(i, j)];
        }
        y[i] = sum;
    }

    /// Tiles of ranges of ranges are stored to y and read from x.
    #[kernel(threads = 32)]
    pub fn ranges(
        x: Global<f32, 1>,
        y: Global<f32, 1>,
        z: Global<f32, 1>,
        a: u64,
        c: u32,
        tile: u32,
    ) {
        let held = fragment::<f32>(layout!((32,1):(1@0,0)));
        fill(held, 1.0);
        copy_inside(held, local_tile(y[a..a + 1][0..1], 32, tile));
        sync_threads();
        copy_inside(held, local_tile(y[c..c + 40][3..c][1..30], 32, tile));
        copy_or(local_tile(x[c..c + 9][1..c], 32, tile), held, 0.0);
        copy_inside(held, local_tile(z, 32, 0));
    }

    /// The first elements of tiles of 1 and of 4 that are moved, or 7 where these are outside.
    #[kernel(threads = 1)]
    pub fn moved(
        x: Global<f32, 1>,
        #[facts(extent(y, 0) == 2)] y: Global<f32, 1>,
        tile: i32,
        by: i32,
    ) {
        let one = fragment::<f32>(1);
        copy_or(domain_offset((by,), local_tile(x, (1,), (tile,))), one, 7.0);
        y[0] = one[0];
        let four = fragment::<f32>(4);
        copy_or(
            domain_offset((by,), local_tile(x, (4,), (tile,))),
            four,
            7.0,
        );
        y[1] = four[0];
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

#[kernels]
mod firsts {
    /// Elements that every launch has.
    #[kernel(threads = 32)]
    pub fn firsts(
        x: Global<f32, 1>,
        #[facts(list.len() >= 1)] list: [Global<f32, 2>; 2],
        y: Global<f32, 1>,
    ) {
        if thread() == 0 {
            y[0] = x[0] + list[0][(0, 0)];
        }
    }
}

/// So that a first element needs no check.
#[test]
fn a_launch_with_a_tensor_without_elements_is_refused() -> Result<(), Error> {
    for (device, ()) in on_devices([()]) {
        let full = Tensor::from_slice(&device, &[1.0f32; 4], [2, 2])?;
        let line = Tensor::from_slice(&device, &[2.0f32; 2], [2])?;
        for [x, first, second, y] in [
            [1, 1, 1, 1],
            [0, 1, 1, 1],
            [1, 0, 1, 1],
            [1, 1, 0, 1],
            [1, 1, 1, 0],
        ] {
            let rows = |rows| full.view().slice(0, 0..rows);
            let list = [rows(first)?, rows(second)?];
            let mut out = Tensor::<f32, 1>::zeros(&device, [1])?;
            let of_y = &mut out.view_mut().slice(0, 0..y)?;
            let result =
                firsts::firsts::launch(&device, 1, &line.view().slice(0, 0..x)?, &list, of_y);
            if [x, first, second, y] == [1; 4] {
                result?;
                assert_eq!(out.download()?, [3.0]);
            } else {
                let error = result.expect_err("no elements").to_string();
                assert!(error.contains("the extent of mode 0 is 0"), "{error}");
            }
        }
    }
    Ok(())
}

#[test]
fn softmax_of_rows() -> Result<(), Error> {
    for (device, (rows, columns)) in on_devices([(1, 8), (5, 200), (4, 1024), (9, 264)]) {
        let value = |at: usize| ((at / columns * 37 + at % columns * 11) % 29) as f32 / 4.0 - 3.0;
        let data: Vec<bf16> = (0..rows * columns).map(value).map(bf16::from_f32).collect();
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
                let error = (found - expected).abs();
                assert!(error <= expected / 128.0, "{found} {expected}");
            }
        }
    }
    Ok(())
}

#[test]
fn transposes_of_views() -> Result<(), Error> {
    for (device, (rows, columns)) in on_devices([(1, 4), (31, 36), (64, 64), (33, 100)]) {
        let data: Vec<f32> = (0..rows * columns).map(|at| at as f32).collect();
        let x = Tensor::from_slice_strided(&device, &data, [rows, columns], [columns + 8, 1])?;
        // y is a part of a larger tensor, of which nothing else changes.
        let mut whole = Tensor::from_slice(
            &device,
            &vec![-1.0f32; (columns + 2) * (rows + 3)],
            [columns + 2, rows + 3],
        )?;
        let grid = (
            rows.div_ceil(32) as u32 + 1,
            columns.div_ceil(32) as u32 + 1,
        );
        let mut y = whole
            .view_mut()
            .slice(0, 1..columns + 1)?
            .slice(1, 1..rows + 1)?;
        rows::transposed::launch(&device, grid, &x.view(), &mut y)?;
        for (at, found) in whole.download()?.into_iter().enumerate() {
            let (j, i) = (at / (rows + 3), at % (rows + 3));
            let inside = (1..columns + 1).contains(&j) && (1..rows + 1).contains(&i);
            let expected = match inside {
                true => ((i - 1) * columns + j - 1) as f32,
                false => -1.0,
            };
            assert_eq!(found, expected, "({j}, {i}) of {rows} by {columns}");
        }
    }
    Ok(())
}

#[test]
fn sums_of_rows() -> Result<(), Error> {
    for (device, (rows, columns)) in on_devices([(1, 1), (64, 3), (100, 7)]) {
        let data: Vec<f32> = (0..rows * columns).map(|at| (at % 13) as f32).collect();
        let x = Tensor::from_slice(&device, &data, [rows, columns])?;
        let mut y = Tensor::from_slice(&device, &vec![-1.0f32; rows + 1], [rows + 1])?;
        rows::sums::launch(&device, 3, &x.view(), &mut y.view_mut())?;
        let mut expected: Vec<f32> = data.chunks(columns).map(|row| row.iter().sum()).collect();
        expected.push(-1.0);
        assert_eq!(y.download()?, expected);
    }
    Ok(())
}

#[test]
fn rows_by_their_indices() -> Result<(), Error> {
    for (device, columns) in on_devices([1, 5, 128, 200]) {
        let data: Vec<f32> = (0..4 * columns).map(|at| at as f32 + 1.0).collect();
        let x = Tensor::from_slice(&device, &data, [4, columns])?;
        let indices = [3, -1, 0, 4, i32::MIN, 0, 2];
        let index = Tensor::from_slice(&device, &indices, [7])?;
        let mut y = Tensor::from_slice(&device, &vec![-1.0f32; 7 * columns], [7, columns])?;
        rows::gathered::launch(&device, 9, &x.view(), &index.view(), &mut y.view_mut())?;
        let found = y.download()?;
        for (index, found) in indices.into_iter().zip(found.chunks(columns)) {
            let row = usize::try_from(index).ok().filter(|row| *row < 4);
            match row {
                Some(row) => assert_eq!(found, &data[row * columns..][..columns]),
                None => assert!(found.iter().all(|found| *found == 0.0), "{index}"),
            }
        }
    }
    Ok(())
}

/// A range of a part may begin beyond its end, by more than 32 bits. What a tile of it reaches is inside of the tensor nevertheless.
#[test]
fn no_range_reaches_out_of_its_tensor() -> Result<(), Error> {
    const EXTENT: usize = 24;
    let near = |middle: u64| (0..3).map(move |i| middle.wrapping_add(i).wrapping_sub(1));
    let starts = [
        1,
        EXTENT as u64,
        1 << 31,
        (1 << 32) - 32,
        (1 << 32) + 2,
        u64::MAX,
    ];
    for device in devices(1) {
        // Around the views lies memory that is not of the tensors.
        let mut around = [f32::NAN; 3 * EXTENT];
        around[EXTENT..2 * EXTENT].fill(1.0);
        let around = device.upload(&around)?;
        let x = around.view(EXTENT, [EXTENT], [1])?;
        let mut z = Tensor::<f32, 1>::zeros(&device, [32])?;
        for a in starts.into_iter().flat_map(near) {
            for tile in [0, 1, 2, 3, 1 << 26, u32::MAX] {
                let mut buffer = device.upload(&[0.0f32; 8 * EXTENT])?;
                let mut y = buffer.view_mut(EXTENT, [EXTENT], [1])?;
                rows::ranges::launch(&device, 1, &x, &mut y, &mut z.view_mut(), a, a as u32, tile)?;
                let read = z.download()?;
                assert!(
                    read.iter().all(|value| !value.is_nan()),
                    "{a} {tile}: {read:?}"
                );
                let found = buffer.download()?;
                let outside = found[..EXTENT].iter().chain(&found[2 * EXTENT..]);
                assert!(
                    outside.copied().all(|value| value == 0.0),
                    "{a} {tile}: {found:?}"
                );
            }
        }
    }
    Ok(())
}

/// Tiles before the first one are moved into the tensor, and those far before it are not.
#[test]
fn tiles_are_moved_by_signed_distances() -> Result<(), Error> {
    const FAR: i32 = i32::MIN + 6;
    let moves = [
        (0, 0),
        (-1, 1),
        (-1, 4),
        (-3, 5),
        (-3, 14),
        (2, -3),
        (FAR, -i32::MAX),
        (FAR, i32::MAX),
        (FAR, i32::MIN),
        (i32::MIN, i32::MIN),
        (i32::MAX, i32::MIN),
        (i32::MAX, -5),
    ];
    for (device, (tile, by)) in on_devices(moves) {
        let x = device.upload(&[0.0f32, 1.0, 2.0, 3.0, 4.0, 5.0])?;
        let mut y = Tensor::<f32, 1>::zeros(&device, [2])?;
        let view = x.view(0, [6], [1])?;
        rows::moved::launch(&device, 1, &view, &mut y.view_mut(), tile, by)?;
        let expected = [1, 4].map(|size| {
            let index = i64::from(tile) * size + i64::from(by);
            if (0..6).contains(&index) {
                index as f32
            } else {
                7.0
            }
        });
        assert_eq!(y.download()?, expected, "{tile} {by}");
    }
    Ok(())
}

/// Each of these on each device.
fn on_devices<T: Copy, const N: usize>(each: [T; N]) -> impl Iterator<Item = (Device, T)> {
    devices(1)
        .into_iter()
        .flat_map(move |device| each.map(|one| (device.clone(), one)))
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
