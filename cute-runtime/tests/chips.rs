//! Kernels for chips other than the default one, from the source to their results.

#![cfg(all(feature = "kernels", feature = "emulator"))]

use cute_ptxas::Ptxas;
use cute_runtime::__private::launch_safe;
use cute_runtime::{Device, Error, Kernel, LaunchRule, Param, Target, Tensor, bf16, kernels};

/// Products by `mma.sync` of tiles that `cp.async` loads, and the extrema of their rows.
#[kernels]
mod ampere {
    /// d = a · bᵀ for 32 rows of b, and top has the largest element of each row of d.
    #[kernel(threads = 128, target = "sm_80")]
    pub fn product(
        #[facts(aligned(a, 16), extent(a, 1) % 8 == 0)] a: Global<bf16, 2>,
        #[facts(aligned(b, 16), extent(b, 1) == extent(a, 1))] b: Global<bf16, 2>,
        d: Global<f32, 2>,
        top: Global<f32, 1>,
    ) {
        let sa = smem::<bf16>(tile_to_shape(smem_atom::<bf16>(K, SW64), (64, 32)));
        let sb = smem::<bf16>(tile_to_shape(smem_atom::<bf16>(K, SW64), (32, 32)));
        let out = smem::<f32>(64);
        // Each thread loads 8 elements in a row at a time.
        let loads_a = composition(
            make_identity_layout((64, 32)),
            layout!(((4,32),(8,2)):((512,1),(64,32))),
        );
        let loads_b = composition(
            make_identity_layout((32, 32)),
            layout!(((4,32),8):((256,1),32)),
        );
        // Four warps, one below another.
        let x = fragment::<bf16>(composition(
            make_identity_layout((64, 32)),
            tiled_mma(
                SM80_16x8x16_F32BF16BF16F32_TN,
                (4, 1, 1),
                (64, 32, 32),
                layoutA_TV,
            ),
        ));
        let y = fragment::<bf16>(composition(
            make_identity_layout((32, 32)),
            tiled_mma(
                SM80_16x8x16_F32BF16BF16F32_TN,
                (4, 1, 1),
                (64, 32, 32),
                layoutB_TV,
            ),
        ));
        let acc = fragment::<f32>(composition(
            make_identity_layout((64, 32)),
            tiled_mma(
                SM80_16x8x16_F32BF16BF16F32_TN,
                (4, 1, 1),
                (64, 32, 32),
                layoutC_TV,
            ),
        ));
        for v in 0..size(acc) {
            acc[v] = 0.0;
        }
        let i = block_idx().0;
        for k in 0..ceil_div(extent(a, 1), 32) {
            copy_async(local_tile(a, (64, 32), (i, k)), sa, loads_a);
            copy_async(local_tile(b, (32, 32), (0, k)), sb, loads_b);
            cp_async_commit();
            cp_async_wait(0);
            sync_threads();
            copy(sa, x);
            copy(sb, y);
            mma(acc, x, y);
            sync_threads();
        }
        copy_inside(acc, local_tile(d, (64, 32), (i, 0)));
        let best = reduce(acc, 1, max);
        // Four lanes have the maximum of a row.
        if lane() % 4 == 0 {
            for v in 0..size(best) {
                out[best.coordinate(v).0] = best[v];
            }
        }
        sync_threads();
        let row = i * 64 + thread();
        if thread() < 64 && row < extent(top, 0) {
            top[row] = out[thread()];
        }
    }
}

/// TMA and clusters, which `sm_90` has as well as `sm_90a`.
#[kernels]
mod hopper {
    /// y = x, in tiles of 8 × 32.
    #[kernel(threads = 32, target = "sm_90", cluster = (2, 1, 1))]
    pub fn copied(x: TmaLoad<f32, 2>, y: TmaStore<f32, 2>) {
        let (tile, ready) = (smem::<f32>(layout!((8,32):(32,1))), mbarriers(1, 1));
        let row = block_idx().0 * 8;
        if thread() == 0 {
            expect_tx(ready[0], bytes(tile));
            tma_load(x, (row, 0), tile, ready[0]);
            wait(ready[0], 0);
            tma_store(tile, y, (row, 0));
            tma_commit();
            tma_wait(0);
        }
        sync_cluster();
    }
}

/// A small integer without pattern.
fn element(i: usize, seed: usize) -> i32 {
    ((i * 37 + seed * 53 + i / 7) % 9) as i32 - 4
}

#[test]
fn a_product_for_an_older_chip() -> Result<(), Error> {
    let device = Device::default();
    let (m, n, k) = (100, 32, 72);
    let fill = |rows: usize, seed: usize| -> Vec<bf16> {
        let values = (0..rows * k).map(|i| bf16::from_f32(element(i, seed) as f32));
        values.collect()
    };
    let a = Tensor::from_slice(&device, &fill(m, 1), [m, k])?;
    let b = Tensor::from_slice(&device, &fill(n, 2), [n, k])?;
    let mut d = Tensor::<f32, 2>::zeros(&device, [m, n])?;
    let mut top = Tensor::<f32, 1>::zeros(&device, [m])?;
    let (a, b) = (a.view(), b.view());
    ampere::product::launch(&device, 2, &a, &b, &mut d.view_mut(), &mut top.view_mut())?;
    let expected: Vec<f32> = (0..m * n)
        .map(|at| {
            let (i, j) = (at / n, at % n);
            let products = (0..k).map(|l| element(i * k + l, 1) * element(j * k + l, 2));
            products.sum::<i32>() as f32
        })
        .collect();
    assert_eq!(d.download()?, expected);
    let tops = expected
        .chunks(n)
        .map(|row| row.iter().copied().fold(f32::MIN, f32::max));
    assert_eq!(top.download()?, tops.collect::<Vec<_>>());
    Ok(())
}

#[test]
fn clusters_and_tma_of_every_hopper() -> Result<(), Error> {
    let device = Device::default();
    let values: Vec<f32> = (0..16 * 32).map(|i| i as f32).collect();
    let x = Tensor::from_slice(&device, &values, [16, 32])?;
    let mut y = Tensor::<f32, 2>::zeros(&device, [16, 32])?;
    hopper::copied::launch(&device, 2, &x.view(), &mut y.view_mut())?;
    assert_eq!(y.download()?, values);
    Ok(())
}

/// The PTX says the target, and the assembler accepts it for this target.
#[test]
fn the_ptx_is_for_the_chip() {
    let Some(ptxas) = Ptxas::find() else { return };
    for (ptx, target) in [
        (ampere::product::PTX, "sm_80"),
        (hopper::copied::PTX, "sm_90"),
    ] {
        assert_eq!(Target::of_ptx(ptx), Target::from_name(target));
        let report = ptxas.assemble(ptx, target).expect("a run of ptxas");
        assert_eq!(report.complaints(), Vec::<String>::new(), "{ptx}");
    }
    let instructions = ["cp.async.cg.", "ldmatrix.", "mma.sync.", "shfl.sync."];
    for instruction in instructions {
        assert!(ampere::product::PTX.contains(instruction), "{instruction}");
    }
}

macro_rules! by_hand {
    ($name:ident, $target:literal, $bytes:literal, $cluster:expr) => {
        struct $name;

        // SAFETY: the entry does nothing.
        unsafe impl Kernel for $name {
            const NAME: &'static str = "nothing";
            const PTX: &'static str = concat!(
                ".version 8.0\n.target ",
                $target,
                "\n.address_size 64\n.visible .entry nothing() { ret; }\n"
            );
            const THREADS: u32 = 32;
            const CLUSTER: [u32; 3] = $cluster;
            const SMEM_BYTES: u32 = $bytes;
            const PARAMS: &'static [Param] = &[];
            const IS_SAFE: bool = true;
        }
    };
}

by_hand!(Full, "sm_80", 166_912, [1, 1, 1]);
by_hand!(TooLarge, "sm_80", 166_913, [1, 1, 1]);
by_hand!(TooLargeForAll, "sm_89", 232_449, [1, 1, 1]);
by_hand!(Clustered, "sm_80", 0, [2, 1, 1]);

/// A launch is held to the limits of the chip that the PTX names. A target without a row has those of the default.
#[test]
fn launches_are_held_to_the_limits_of_the_chip() {
    let device = Device::emulator();
    launch_safe::<Full>(&device, 1.into(), &[]).expect("all of the shared memory");
    let rule = |launched: Result<(), Error>| match launched {
        Err(Error::Launch { rule, .. }) => rule,
        other => panic!("{other:?}"),
    };
    let refused = [
        rule(launch_safe::<TooLarge>(&device, 1.into(), &[])),
        rule(launch_safe::<TooLargeForAll>(&device, 1.into(), &[])),
        rule(launch_safe::<Clustered>(&device, 2.into(), &[])),
    ];
    assert!(matches!(
        refused,
        [
            LaunchRule::SharedMemory {
                bytes: 166_913,
                limit: 166_912
            },
            LaunchRule::SharedMemory {
                bytes: 232_449,
                limit: 232_448
            },
            LaunchRule::ClusterSize {
                cluster: 2,
                limit: 1
            },
        ]
    ));
}
