//! Bulk copies and TMA, launched from safe code: pieces of memory, clusters, reductions, edges below 0 and boxes of rank 5.
//!
//! Every test runs on the emulator, and with `CUTE_GPU=1` also on the first GPU; then a missing GPU is a failure.

mod devices;

use devices::devices;

use cute_runtime::{Device, Element, Error, Tensor, bf16, kernels};

#[kernels]
mod bulk {
    /// y[i] = 2 · x[i], by way of shared memory.
    #[kernel(threads = 64)]
    pub fn doubled(
        #[facts(aligned(x, 16), extent(x, 0) % 512 == 0)] x: Global<f32, 1>,
        #[facts(aligned(y, 16), extent(y, 0) == extent(x, 0))] y: Global<f32, 1>,
    ) {
        let (tile, ready) = (smem::<f32>((512,)), mbarriers(1, 1));
        let i = block_idx().0;
        if 512 * i >= extent(x, 0) {
            return;
        }
        let source = local_tile(x, 512, i);
        if thread() == 0 {
            prefetch(source);
            expect_tx(ready[0], bytes(tile));
            copy_async(source, tile, ready[0]);
        }
        wait(ready[0], 0);
        let part = fragment::<f32>(layout!((64,8):(8@0,1@0)));
        copy(tile, part);
        copy(part * 2.0, tile);
        fence_proxy_async();
        sync_threads();
        if thread() == 0 {
            copy_async(tile, local_tile(y, 512, i));
            tma_commit();
            tma_wait_read(0);
        }
    }

    /// y[i, j] += Σₖ x[k, i, j], where each CTA adds one k, a tile at a time.
    #[kernel(threads = 32)]
    #[instances(T in [bf16, f32])]
    pub fn added<T: Element>(
        #[facts(aligned(x, 16), extent(x, 1) % 8 == 0, extent(x, 2) % 32 == 0)] x: Global<T, 3>,
        #[facts(aligned(y, 16), extent(y, 0) == extent(x, 1), extent(y, 1) == extent(x, 2))]
        y: Global<T, 2>,
    ) {
        // Rows of 32 elements, with 16 bytes between them.
        let padded = 32 + 128 / bits::<T>();
        let tile = smem::<T>(layout!((8,32):(padded,1)));
        let ready = mbarriers(1, 1);
        let mut parity = 0;
        let k = block_idx().0;
        if k >= extent(x, 0) {
            return;
        }
        if thread() == 0 {
            for i in 0..extent(x, 1) / 8 {
                for j in 0..extent(x, 2) / 32 {
                    if 8 * i < extent(x, 1) && 32 * j < extent(x, 2) {
                        expect_tx(ready[0], bytes(tile));
                        copy_async(local_tile(x[(k, _, _)], (8, 32), (i, j)), tile, ready[0]);
                        wait(ready[0], parity);
                        parity ^= 1;
                        reduce_async(tile, local_tile(y, (8, 32), (i, j)), add);
                        tma_commit();
                        tma_wait_read(0);
                    }
                }
            }
        }
    }

    /// y[r] is x, and z[r] the tile of the other CTA, whose elements are those of x plus its rank.
    #[kernel(threads = 32, cluster = (2, 1, 1))]
    pub fn exchanged(
        #[facts(aligned(x, 16), extent(x, 0) == 64)] x: Global<u32, 1>,
        #[facts(aligned(y, 16), extent(y, 0) == 2, extent(y, 1) == 64, stride(y, 0) == 64)]
        y: Global<u32, 2>,
        #[facts(aligned(z, 16), extent(z, 0) == 2, extent(z, 1) == 64)] z: Global<u32, 2>,
    ) {
        let (whole, own, other) = (smem::<u32>((64,)), smem::<u32>((64,)), smem::<u32>((64,)));
        let ready = mbarriers(2, 1);
        let rank = cluster_ctarank();
        if thread() == 0 {
            expect_tx(ready[0], bytes(whole));
            expect_tx(ready[1], bytes(other));
        }
        sync_cluster();
        if thread() == 0 && rank == 0 {
            copy_async(local_tile(x, 64, 0), whole, ready[0], 0b11);
        }
        wait(ready[0], 0);
        let part = fragment::<u32>(layout!((32,2):(2@0,1@0)));
        copy(whole, part);
        copy(part + rank, own);
        fence_proxy_async();
        sync_threads();
        if thread() == 0 {
            copy_async_at(own, other, ready[1], 1 - rank);
            if rank < 2 {
                copy_async(whole, local_tile(y[(rank, _)], 64, 0));
                tma_commit();
            }
        }
        wait(ready[1], 0);
        if thread() == 0 && rank < 2 {
            copy_async(other, local_tile(z[(rank, _)], 64, 0));
            tma_commit();
            tma_wait_read(0);
        }
        sync_cluster();
    }

    /// The CTAs combine tiles of x with y, which has the extents of one.
    #[kernel(threads = 32)]
    #[instances(T in [bf16, f32, i32, u32])]
    pub fn summed<T: Element>(x: TmaLoad<T, 3>, y: TmaStore<T, 2>) {
        let tile = smem::<T>(tile_to_shape(
            smem_atom::<T>(K, SW64),
            (16, 512 / bits::<T>()),
        ));
        reduced(x, y, tile, add);
    }

    /// The same with the largest elements.
    #[kernel(threads = 32)]
    #[instances(T in [bf16, i32])]
    pub fn largest<T: Element>(x: TmaLoad<T, 3>, y: TmaStore<T, 2>) {
        let tile = smem::<T>(tile_to_shape(
            smem_atom::<T>(K, INTER),
            (16, 512 / bits::<T>()),
        ));
        reduced(x, y, tile, max);
    }

    fn reduced<T: Element>(x: TmaLoad<T, 3>, y: TmaStore<T, 2>, tile: Tensor, operation: _) {
        let ready = mbarriers(1, 1);
        if thread() == 0 {
            tma_prefetch_map(x);
            tma_prefetch_map(y);
            tma_prefetch(x, (block_idx().0, 0, 0), tile);
            expect_tx(ready[0], bytes(tile));
            tma_load(x, (block_idx().0, 0, 0), tile, ready[0]);
            wait(ready[0], 0);
            tma_reduce(tile, y, (0, 0), operation);
            tma_commit();
            tma_wait_read(0);
        }
    }

    /// y[i, j] is the sum of the 3 × 3 elements of x around (i, j). Those outside of x are 0.
    #[kernel(threads = 64)]
    pub fn around(x: TmaLoad<i32, 2>, y: Global<i32, 2>) {
        // A row of a box starts at a multiple of 16 bytes: four columns before the first, of which one is needed.
        let tile = smem::<i32>(layout!((10,16):row));
        let ready = mbarriers(1, 1);
        let (i, j) = (block_idx().0, block_idx().1);
        if thread() == 0 {
            expect_tx(ready[0], bytes(tile));
            let corner = (8 * i as i32 - 1, 8 * j as i32 - 4);
            tma_load(x, corner, tile, ready[0]);
        }
        wait(ready[0], 0);
        let (row, column) = (thread() / 8, thread() % 8);
        let mut sum = 0i32;
        for di in 0..3 {
            for dj in 0..3 {
                sum += tile[(row + di, column + dj + 3)];
            }
        }
        let (i, j) = (8 * i + row, 8 * j + column);
        if i < extent(y, 0) && j < extent(y, 1) {
            y[(i, j)] = sum;
        }
    }

    /// y is x, moved by known numbers: element (i, j) of x is at (i + 3, j + 4) of y.
    #[kernel(threads = 32)]
    pub fn moved(x: TmaLoad<f32, 2>, y: TmaStore<f32, 2>) {
        let tile = smem::<f32>(layout!((16,32):row));
        let ready = mbarriers(1, 1);
        if thread() == 0 {
            expect_tx(ready[0], bytes(tile));
            tma_load(x, (-3, -4), tile, ready[0]);
            wait(ready[0], 0);
            tma_store(tile, y, (0, 0));
            tma_commit();
            tma_wait_read(0);
        }
    }

    /// y is x, a box of rank 5 at a time.
    #[kernel(threads = 32)]
    pub fn boxes(x: TmaLoad<u16, 5>, y: TmaStore<u16, 5>) {
        let tile = smem::<u16>(layout!((2,3,2,5,8):row));
        let ready = mbarriers(1, 1);
        if thread() == 0 {
            let (i, j) = (block_idx().0, block_idx().1);
            expect_tx(ready[0], bytes(tile));
            tma_load(x, (2 * i, 3 * j, 0, 0, 0), tile, ready[0]);
            wait(ready[0], 0);
            tma_store(tile, y, (2 * i, 3 * j, 0, 0, 0));
            tma_commit();
            tma_wait_read(0);
        }
    }
}

#[test]
fn pieces_of_memory() -> Result<(), Error> {
    for device in devices(1) {
        let data: Vec<f32> = (0..4 * 512).map(|i| i as f32).collect();
        let x = Tensor::from_slice(&device, &data, [data.len()])?;
        let mut y = Tensor::<f32, 1>::zeros(&device, [data.len()])?;
        // More CTAs than tiles.
        bulk::doubled::launch(&device, 6, &x.view(), &mut y.view_mut())?;
        let expected: Vec<f32> = data.iter().map(|x| 2.0 * x).collect();
        assert_eq!(y.download()?, expected);
    }
    Ok(())
}

/// Small integers, which all types of these tests hold, and sums of eight of which are exact.
fn small(at: usize) -> i32 {
    (at * 7919 % 23) as i32 - 11
}

#[test]
fn pieces_that_are_added() -> Result<(), Error> {
    fn check<T: Element + PartialEq + bulk::added_types>(
        number: impl Fn(i32) -> T,
    ) -> Result<(), Error> {
        for device in devices(1) {
            let (count, rows, columns, stride) = (8, 16, 96, 104);
            let data: Vec<T> = (0..count * rows * columns)
                .map(|at| number(small(at)))
                .collect();
            let x = Tensor::from_slice_strided(
                &device,
                &data,
                [count, rows, columns],
                [rows * stride, stride, 1],
            )?;
            let start: Vec<T> = (0..rows * columns).map(|_| number(1)).collect();
            let mut y = Tensor::from_slice(&device, &start, [rows, columns])?;
            bulk::added::launch::<T>(&device, count as u32, &x.view(), &mut y.view_mut())?;
            let sum = |at: usize| {
                (0..count)
                    .map(|k| small(k * rows * columns + at))
                    .sum::<i32>()
            };
            let expected: Vec<T> = (0..rows * columns).map(|at| number(1 + sum(at))).collect();
            assert!(y.download()? == expected);
        }
        Ok(())
    }
    check(|x| x as f32)?;
    check(|x| bf16::from_f32(x as f32))
}

#[test]
fn pieces_in_a_cluster() -> Result<(), Error> {
    for device in devices(1) {
        let data: Vec<u32> = (0..64).map(|i| 100 * i).collect();
        let x = Tensor::from_slice(&device, &data, [64])?;
        let mut y = Tensor::<u32, 2>::zeros(&device, [2, 64])?;
        let mut z = Tensor::<u32, 2>::zeros(&device, [2, 64])?;
        bulk::exchanged::launch(&device, 2, &x.view(), &mut y.view_mut(), &mut z.view_mut())?;
        assert_eq!(y.download()?, [&data[..], &data[..]].concat());
        let other = [1, 0].map(|rank| data.iter().map(move |x| x + rank));
        let other: Vec<u32> = other.into_iter().flatten().collect();
        assert_eq!(z.download()?, other);
    }
    Ok(())
}

#[test]
fn reductions_by_tma() -> Result<(), Error> {
    fn check<T: Element + PartialEq>(
        number: impl Fn(i32) -> T,
        combine: impl Fn(i32, i32) -> i32,
        launch: impl Fn(&Device, &Tensor<T, 3>, &mut Tensor<T, 2>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        for device in devices(1) {
            let (count, rows, columns) = (8, 16, 64 / size_of::<T>());
            let data: Vec<T> = (0..count * rows * columns)
                .map(|at| number(small(at)))
                .collect();
            let x = Tensor::from_slice(&device, &data, [count, rows, columns])?;
            let start: Vec<T> = (0..rows * columns).map(|_| number(1)).collect();
            let mut y = Tensor::from_slice(&device, &start, [rows, columns])?;
            launch(&device, &x, &mut y)?;
            let all = |at: usize| (0..count).map(move |k| small(k * rows * columns + at));
            let expected: Vec<T> = (0..rows * columns)
                .map(|at| number(all(at).fold(1, &combine)))
                .collect();
            assert!(y.download()? == expected);
        }
        Ok(())
    }
    macro_rules! check {
        ($kernel:ident, $combine:expr, $($T:ty: $number:expr),*) => {$(
            check::<$T>($number, $combine, |device, x, y| {
                bulk::$kernel::launch::<$T>(device, 8, &x.view(), &mut y.view_mut())
            })?;
        )*};
    }
    let half = |x: i32| bf16::from_f32(x as f32);
    check!(summed, |x, y| x + y, bf16: half, f32: |x| x as f32, i32: |x| x, u32: |x| x as u32);
    check!(largest, |x, y| x.max(y), bf16: half, i32: |x| x);
    Ok(())
}

#[test]
fn coordinates_below_zero() -> Result<(), Error> {
    for device in devices(1) {
        let (rows, columns) = (13, 20);
        let data: Vec<i32> = (0..rows * columns).map(small).collect();
        let x = Tensor::from_slice(&device, &data, [rows, columns])?;
        let mut y = Tensor::<i32, 2>::zeros(&device, [rows, columns])?;
        bulk::around::launch(&device, (2, 3), &x.view(), &mut y.view_mut())?;
        for (at, found) in y.download()?.into_iter().enumerate() {
            let (i, j) = (at / columns, at % columns);
            let near = |at: usize, end: usize| at.saturating_sub(1)..(at + 2).min(end);
            let all = near(i, rows).flat_map(|i| near(j, columns).map(move |j| i * columns + j));
            assert_eq!(found, all.map(|at| data[at]).sum::<i32>(), "({i}, {j})");
        }

        let data: Vec<f32> = (0..16 * 32).map(|at| at as f32 + 1.0).collect();
        let x = Tensor::from_slice(&device, &data, [16, 32])?;
        let mut y = Tensor::<f32, 2>::zeros(&device, [16, 32])?;
        bulk::moved::launch(&device, 1, &x.view(), &mut y.view_mut())?;
        for (at, found) in y.download()?.into_iter().enumerate() {
            let (i, j) = (at / 32, at % 32);
            let expected = match i >= 3 && j >= 4 {
                true => data[(i - 3) * 32 + j - 4],
                false => 0.0,
            };
            assert_eq!(found, expected, "({i}, {j})");
        }
    }
    Ok(())
}

#[test]
fn boxes_of_rank_five() -> Result<(), Error> {
    for device in devices(1) {
        let shape = [5, 7, 2, 5, 8];
        let data: Vec<u16> = (0..shape.iter().product::<usize>() as u16).collect();
        let x = Tensor::from_slice(&device, &data, shape)?;
        let mut y = Tensor::<u16, 5>::zeros(&device, shape)?;
        bulk::boxes::launch(&device, (3, 3), &x.view(), &mut y.view_mut())?;
        assert_eq!(y.download()?, data);
    }
    Ok(())
}
