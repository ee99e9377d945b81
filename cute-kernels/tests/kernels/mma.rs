//! Products of warpgroups, as a library has them.

use crate::device;
use cute_runtime::{Tensor, bf16};

#[cute_runtime::kernels]
mod kernels {
    use cute_kernels::lib::TiledMma;

    /// D = A · Bᵀ for A of 128 × 64 and B of 32 × 64, by warpgroups of M rows each.
    #[kernel(threads = 128 * 128 / M)]
    #[instances(M in [64, 128])]
    pub fn product<const M: u32>(a: TmaLoad<bf16, 2>, b: TmaLoad<bf16, 2>, d: TmaStore<f32, 2>) {
        let atom = smem_atom::<bf16>(K, SW128);
        let sa = smem::<bf16>(tile_to_shape(atom, (128, 64)));
        let sb = smem::<bf16>(tile_to_shape(atom, (32, 64)));
        let sd = smem::<f32>(tile_to_shape(smem_atom::<f32>(K, SW128), (128, 32)));
        let ready = mbarriers(1, 1);
        if thread() == 0 {
            expect_tx(ready[0], bytes(sa) + bytes(sb));
            tma_load(a, (0, 0), sa, ready[0]);
            tma_load(b, (0, 0), sb, ready[0]);
        }
        wait(ready[0], 0);
        let mma = TiledMma::<f32, M, 32>::new(warpgroup());
        let acc = mma.fragment_c();
        mma.gemm(acc, mma.partition_a(sa), sb, false);
        wgmma_wait(0);
        copy(acc, mma.partition_c(sd));
        fence_proxy_async();
        sync_threads();
        if thread() == 0 {
            tma_store(sd, d, (0, 0));
            tma_commit();
            tma_wait_read(0);
        }
    }

    /// The same, where each thread loads its part of D and stores what it has added to it.
    #[kernel(threads = 128 * 128 / M)]
    #[instances(M in [64, 128])]
    pub fn update<const M: u32>(a: TmaLoad<bf16, 2>, b: TmaLoad<bf16, 2>, d: Global<f32, 2>) {
        let atom = smem_atom::<bf16>(K, SW128);
        let sa = smem::<bf16>(tile_to_shape(atom, (128, 64)));
        let sb = smem::<bf16>(tile_to_shape(atom, (32, 64)));
        let ready = mbarriers(1, 1);
        if thread() == 0 {
            expect_tx(ready[0], bytes(sa) + bytes(sb));
            tma_load(a, (0, 0), sa, ready[0]);
            tma_load(b, (0, 0), sb, ready[0]);
        }
        let mma = TiledMma::<f32, M, 32>::new(warpgroup());
        let acc = mma.fragment_c();
        let part = mma.partition_c(local_tile(d, (128, 32), (0, 0)));
        copy_or(part, acc, 0.0);
        wait(ready[0], 0);
        mma.gemm(acc, mma.partition_a(sa), sb, true);
        wgmma_wait(0);
        copy_inside(acc, part);
    }

    /// The same, where D is transposed: its columns are contiguous in the accumulators' rows.
    #[kernel(threads = 128 * 128 / M)]
    #[instances(M in [64, 128])]
    pub fn transposed<const M: u32>(a: TmaLoad<bf16, 2>, b: TmaLoad<bf16, 2>, d: Global<f32, 2>) {
        let atom = smem_atom::<bf16>(K, SW128);
        let sa = smem::<bf16>(tile_to_shape(atom, (128, 64)));
        let sb = smem::<bf16>(tile_to_shape(atom, (32, 64)));
        let ready = mbarriers(1, 1);
        if thread() == 0 {
            expect_tx(ready[0], bytes(sa) + bytes(sb));
            tma_load(a, (0, 0), sa, ready[0]);
            tma_load(b, (0, 0), sb, ready[0]);
        }
        wait(ready[0], 0);
        let mma = TiledMma::<f32, M, 32>::new(warpgroup());
        let acc = mma.fragment_c();
        mma.gemm(acc, mma.partition_a(sa), sb, false);
        wgmma_wait(0);
        copy_inside(
            acc,
            mma.partition_c(transpose(local_tile(d, (32, 128), (0, 0)))),
        );
    }
}

#[test]
fn a_product_of_one_warpgroup_or_two() -> Result<(), cute_runtime::Error> {
    let device = device();
    let number = |i: usize| ((i * 37 + 11) % 17) as f32 - 8.0;
    let numbers = |count: usize| (0..count).map(|i| bf16::from_f32(number(i)));
    let a = Tensor::from_slice(&device, &numbers(128 * 64).collect::<Vec<_>>(), [128, 64])?;
    let b = Tensor::from_slice(&device, &numbers(32 * 64).collect::<Vec<_>>(), [32, 64])?;
    for rows in kernels::product_M::ALL {
        let mut d = Tensor::<f32, 2>::zeros(&device, [128, 32])?;
        kernels::product::launch(rows, &device, 1, &a.view(), &b.view(), &mut d.view_mut())?;
        for (at, found) in d.download()?.into_iter().enumerate() {
            let (i, j) = (at / 32, at % 32);
            let products = (0..64).map(|k| number(i * 64 + k) * number(j * 64 + k));
            assert_eq!(found, products.sum::<f32>(), "({i}, {j}) by {rows:?}");
        }
    }
    let product = |i: usize, j: usize| -> f32 {
        let products = (0..64).map(|k| number(i * 64 + k) * number(j * 64 + k));
        products.sum()
    };
    // A tensor that ends within the tile, too.
    for (rows, columns) in [(128, 32), (100, 31)] {
        let old: Vec<f32> = (0..rows * columns).map(|i| number(i) * 0.5).collect();
        for m in kernels::update_M::ALL {
            let mut d = Tensor::from_slice(&device, &old, [rows, columns])?;
            kernels::update::launch(m, &device, 1, &a.view(), &b.view(), &mut d.view_mut())?;
            for (at, found) in d.download()?.into_iter().enumerate() {
                let (i, j) = (at / columns, at % columns);
                assert_eq!(found, old[at] + product(i, j), "({i}, {j}) by {m:?}");
            }
        }
        for m in kernels::transposed_M::ALL {
            let mut d = Tensor::<f32, 2>::zeros(&device, [columns, rows])?;
            kernels::transposed::launch(m, &device, 1, &a.view(), &b.view(), &mut d.view_mut())?;
            for (at, found) in d.download()?.into_iter().enumerate() {
                let (j, i) = (at / rows, at % rows);
                assert_eq!(found, product(i, j), "({i}, {j}) by {m:?}");
            }
        }
    }
    Ok(())
}
