//! D[m, n] = Σₖ A[m, k] · B[n, k]: bf16 in, f32 accumulate, bf16 or f32 out.

use cute_runtime::{Device, Element, TensorView, TensorViewMut, bf16};

use crate::Error;
use crate::extent::extent;
use crate::store::can_store_by_tma;

/// D = A · Bᵀ for A of shape (M, K), B of shape (N, K) and D of shape (M, N), all with their last mode contiguous.
///
/// The tensor core sums up the products in f32. M, N and K are arbitrary, up to 2³¹ − 1. The rows of A and of B must start at
/// multiples of 16 bytes, as TMA demands. The product is fastest if the rows of D start at multiples of 16 bytes and are
/// multiples of 16 bytes long. On a GPU the call returns before the product is complete.
///
/// ```
/// use cute_runtime::{Device, Tensor, bf16};
/// let device = Device::emulator();
/// let a = Tensor::from_slice(&device, &[bf16::ONE; 3 * 8], [3, 8])?;
/// let b = Tensor::from_slice(&device, &[bf16::ONE; 5 * 8], [5, 8])?;
/// let mut d = Tensor::<f32, 2>::zeros(&device, [3, 5])?;
/// cute_kernels::gemm(&device, &a.view(), &b.view(), &mut d.view_mut())?;
/// assert_eq!(d.download()?, [8.0; 15]);
/// # Ok::<(), cute_kernels::Error>(())
/// ```
///
/// # Errors
///
/// If the shapes do not fit together, an extent is 0 or larger than 2³¹ − 1, or TMA cannot address an argument. The
/// error names the argument and the rule that it breaks, and nothing has been launched.
pub fn gemm<D: GemmOutput>(
    device: &Device,
    a: &TensorView<'_, bf16, 2>,
    b: &TensorView<'_, bf16, 2>,
    d: &mut TensorViewMut<'_, D, 2>,
) -> Result<(), Error> {
    let ([m, k], [n, k_of_b]) = (a.shape(), b.shape());
    if k_of_b != k || d.shape() != [m, n] {
        return Err(Error::GemmShapes {
            a: a.shape(),
            b: b.shape(),
            d: d.shape(),
        });
    }
    let (m, n, k) = (extent(m)?, extent(n)?, extent(k)?);
    let tiles = u64::from(m.div_ceil(TILE_M)) * u64::from(n.div_ceil(TILE_N));
    let paired = !(has_whole_lines(a) && has_whole_lines(b));
    let cluster = if paired { 2 } else { 1 };
    let most = (device.multiprocessor_count() / cluster).max(1);
    let clusters = tiles.div_ceil(cluster.into()).clamp(1, most.into()) as u32;
    D::launch(device, clusters * cluster, paired, a, b, d, [m, n, k])?;
    Ok(())
}

/// Whether each 128-byte row of a tile is one cache line. If rows straddle two lines, the L2 cache moves twice the bytes, and a
/// cluster of two CTAs that share their loads saves more time than it costs.
fn has_whole_lines(a: &TensorView<'_, bf16, 2>) -> bool {
    let row = a.strides()[0] as u64 * size_of::<bf16>() as u64;
    [a.address(), row].iter().all(|n| n.is_multiple_of(128))
}

/// Rows and columns of the tile of D that a CTA of the instances below computes.
const TILE_M: u32 = 128;
const TILE_N: u32 = 256;

/// Element types of D, to which [`fn@gemm`] rounds the products: [`bf16`] and `f32`.
pub trait GemmOutput: Element + sealed::Launch {}

mod sealed {
    use super::*;

    pub trait Launch: Sized + Element {
        fn launch(
            device: &Device,
            grid: u32,
            paired: bool,
            a: &TensorView<'_, bf16, 2>,
            b: &TensorView<'_, bf16, 2>,
            d: &mut TensorViewMut<'_, Self, 2>,
            extents: [u32; 3],
        ) -> Result<(), cute_runtime::Error>;
    }
}

macro_rules! outputs {
    ($($ty:ty: $tma:ident, $tma_paired:ident, $unaligned:ident, $unaligned_paired:ident;)*) => { $(
        impl GemmOutput for $ty {}

        impl sealed::Launch for $ty {
            fn launch(
                device: &Device,
                grid: u32,
                paired: bool,
                a: &TensorView<'_, bf16, 2>,
                b: &TensorView<'_, bf16, 2>,
                d: &mut TensorViewMut<'_, Self, 2>,
                [m, n, k]: [u32; 3],
            ) -> Result<(), cute_runtime::Error> {
                use kernels::*;
                // SAFETY: the kernels that are `unsafe` store only elements of D in rows below m and columns below n.
                // `gemm` has checked that D has m rows and n columns, and that both are at most 2³¹ − 1.
                unsafe {
                    match (can_store_by_tma(d), paired) {
                        (true, false) => $tma::launch(device, grid, a, b, d, m, n, k),
                        (true, true) => $tma_paired::launch(device, grid, a, b, d, m, n, k),
                        (false, false) => $unaligned::launch(device, grid, a, b, d, m, n, k),
                        (false, true) => $unaligned_paired::launch(device, grid, a, b, d, m, n, k),
                    }
                }
            }
        }
    )* };
}

outputs! {
    bf16: gemm_bf16_bf16_128x256x64, gemm_bf16_bf16_128x256x64_2x1,
        gemm_bf16_bf16_128x256x64_unaligned, gemm_bf16_bf16_128x256x64_unaligned_2x1;
    f32: gemm_bf16_f32_128x256x64, gemm_bf16_f32_128x256x64_2x1,
        gemm_bf16_f32_128x256x64_unaligned, gemm_bf16_f32_128x256x64_unaligned_2x1;
}

/// The kernels and their instances.
#[cute_runtime::kernels]
pub mod kernels {
    /// The product with D stored by TMA: rows of D start at multiples of 16 bytes and are multiples of 16 bytes long.
    ///
    /// The kernel is persistent and warp-specialised. Warpgroup 0 loads tiles of A and B by TMA into a ring of STAGES stages in
    /// shared memory. Warpgroups 1 and 2 each compute 64 × BN elements of the tile of D and store them in pieces with rows of
    /// 128 bytes. The two CTAs of a cluster of two compute neighbouring tiles; if these have the same columns of D, each CTA
    /// loads half of the rows of B for both.
    #[kernel(threads = 384, cluster = (CTAS, 1, 1))]
    #[instance(gemm_bf16_bf16_128x256x64: D = bf16, BM = 128, BN = 256, BK = 64, STAGES = 4, GROUP = 16, CTAS = 1)]
    #[instance(gemm_bf16_f32_128x256x64: D = f32, BM = 128, BN = 256, BK = 64, STAGES = 4, GROUP = 16, CTAS = 1)]
    #[instance(gemm_bf16_bf16_128x256x64_2x1: D = bf16, BM = 128, BN = 256, BK = 64, STAGES = 4, GROUP = 16, CTAS = 2)]
    #[instance(gemm_bf16_f32_128x256x64_2x1: D = f32, BM = 128, BN = 256, BK = 64, STAGES = 4, GROUP = 16, CTAS = 2)]
    pub fn gemm<
        D: Element,
        const BM: u32,
        const BN: u32,
        const BK: u32,
        const STAGES: u32,
        const GROUP: u32,
        const CTAS: u32,
    >(
        a: TmaLoad<bf16, 2>,
        b: TmaLoad<bf16, 2>,
        d: TmaStore<D, 2>,
        m: u32,
        n: u32,
        k: u32,
    ) {
        run::<D, BM, BN, BK, STAGES, GROUP, CTAS, 1>(a, b, d, m, n, k);
    }

    /// The product with D stored element by element, where the element lies inside D: rows of D may have any stride and any
    /// alignment.
    ///
    /// # Safety
    ///
    /// D has at least `m` rows and `n` columns, and both are at most 2³¹ − 1.
    #[kernel(threads = 384, cluster = (CTAS, 1, 1))]
    #[instance(gemm_bf16_bf16_128x256x64_unaligned: D = bf16, BM = 128, BN = 256, BK = 64, STAGES = 4, GROUP = 16, CTAS = 1)]
    #[instance(gemm_bf16_f32_128x256x64_unaligned: D = f32, BM = 128, BN = 256, BK = 64, STAGES = 4, GROUP = 16, CTAS = 1)]
    #[instance(gemm_bf16_bf16_128x256x64_unaligned_2x1: D = bf16, BM = 128, BN = 256, BK = 64, STAGES = 4, GROUP = 16, CTAS = 2)]
    #[instance(gemm_bf16_f32_128x256x64_unaligned_2x1: D = f32, BM = 128, BN = 256, BK = 64, STAGES = 4, GROUP = 16, CTAS = 2)]
    pub unsafe fn gemm_unaligned<
        D: Element,
        const BM: u32,
        const BN: u32,
        const BK: u32,
        const STAGES: u32,
        const GROUP: u32,
        const CTAS: u32,
    >(
        a: TmaLoad<bf16, 2>,
        b: TmaLoad<bf16, 2>,
        d: Global<D, 2>,
        m: u32,
        n: u32,
        k: u32,
    ) {
        run::<D, BM, BN, BK, STAGES, GROUP, CTAS, 0>(a, b, d, m, n, k);
    }

    /// The body of both kernels. CTAS is the size of a cluster. `d` is a `TmaStore` if BY_TMA is 1, else a `Global`.
    fn run<
        D: Element,
        const BM: u32,
        const BN: u32,
        const BK: u32,
        const STAGES: u32,
        const GROUP: u32,
        const CTAS: u32,
        const BY_TMA: u32,
    >(
        a: TmaLoad<bf16, 2>,
        b: TmaLoad<bf16, 2>,
        d: _,
        m: u32,
        n: u32,
        k: u32,
    ) {
        let sa = smem::<bf16>(tile_to_shape(smem_atom::<bf16>(K, SW128), (BM, BK, STAGES)));
        let sb = smem::<bf16>(tile_to_shape(smem_atom::<bf16>(K, SW128), (BN, BK, STAGES)));
        let full = mbarriers(STAGES, 1);
        // A stage is empty once both consumers of every CTA of the cluster have read it, since a producer may write to
        // all CTAs.
        let empty = mbarriers(STAGES, 2 * CTAS);

        if warpgroup() == 0 {
            setmaxnreg_dec(40);
            if thread() == 0 {
                produce::<BM, BN, BK, STAGES, GROUP, CTAS>(a, b, sa, sb, full, empty, m, n, k);
            }
        } else {
            setmaxnreg_inc(232);
            let consumer = warpgroup() - 1;
            let acc = fragment::<f32>(wgmma_c(BN));
            let mut stage = 0;
            let mut phase = 0;
            let mut tile = block_idx().0;
            while is_left::<BM, BN, CTAS>(tile, m, n) {
                let (tm, tn) = tile_coordinate::<BM, BN, GROUP>(tile, m, n);
                multiply::<BK, STAGES, CTAS>(
                    acc, sa, sb, full, empty, consumer, k, &mut stage, &mut phase,
                );
                let (row, col) = (tm * BM + consumer * 64, tn * BN);
                if BY_TMA == 1 {
                    store_by_tma::<D, BN>(acc, d, consumer, row, col);
                } else {
                    store_by_element::<D>(acc, d, row, col, m, n);
                }
                tile += grid_dim().0;
            }
            if BY_TMA == 1 && warpgroup_thread() == 0 {
                tma_wait_read(0);
            }
        }
        // A CTA must not end while the other one may still write to its shared memory or arrive at its barriers.
        if CTAS > 1 {
            sync_cluster();
        }
    }

    /// Stores the 64 × BN accumulators of a consumer at (row, col) of D, in pieces with rows of 128 bytes.
    fn store_by_tma<D: Element, const BN: u32>(
        acc: Fragment,
        d: TmaStore<D, 2>,
        consumer: u32,
        row: u32,
        col: u32,
    ) {
        let cols = 1024 / bits::<D>();
        let staging = smem::<D>(tile_to_shape(smem_atom::<D>(K, SW128), (64, cols, 2, 2)));
        for piece in 0..BN / cols {
            let out = staging[(_, _, piece % 2, consumer)];
            // There are two buffers. This one is free once at most one store, that of the other buffer, still reads.
            if warpgroup_thread() == 0 {
                tma_wait_read(1);
            }
            bar_sync(consumer + 1, 128);
            copy(convert::<D>(local_tile(acc, (64, cols), (0, piece))), out);
            fence_proxy_async();
            bar_sync(consumer + 1, 128);
            if warpgroup_thread() == 0 {
                tma_store(out, d, (row, col + piece * cols));
                tma_commit();
            }
        }
    }

    /// Stores those accumulators that lie inside the m × n matrix, element by element.
    fn store_by_element<D: Element>(
        acc: Fragment,
        d: Global<D, 2>,
        row: u32,
        col: u32,
        m: u32,
        n: u32,
    ) {
        for v in 0..size(acc) {
            // Row and column of this thread's v-th value in the 64 × BN tile.
            let (i, j) = acc.coordinate(v);
            if row + i < m && col + j < n {
                d[(row + i, col + j)] = convert::<D>(acc[v]);
            }
        }
    }

    /// Fills the ring: for each tile of this CTA, loads A and B in steps of BK columns.
    fn produce<
        const BM: u32,
        const BN: u32,
        const BK: u32,
        const STAGES: u32,
        const GROUP: u32,
        const CTAS: u32,
    >(
        a: TmaLoad<bf16, 2>,
        b: TmaLoad<bf16, 2>,
        sa: Tensor,
        sb: Tensor,
        full: Barriers,
        empty: Barriers,
        m: u32,
        n: u32,
        k: u32,
    ) {
        let mut stage = 0;
        // All stages are empty at first: a wait for parity 1 of a fresh barrier passes at once.
        let mut phase = 1;
        let mut tile = block_idx().0;
        let rank = cluster_ctarank();
        while is_left::<BM, BN, CTAS>(tile, m, n) {
            let (tm, tn) = tile_coordinate::<BM, BN, GROUP>(tile, m, n);
            let (_, neighbour) = tile_coordinate::<BM, BN, GROUP>(tile ^ 1, m, n);
            for kt in 0..ceil_div(k, BK) {
                wait(empty[stage], phase);
                expect_tx(full[stage], bytes(sa[(_, _, 0)]) + bytes(sb[(_, _, 0)]));
                tma_load(a, (tm * BM, kt * BK), sa[(_, _, stage)], full[stage]);
                for part in 0..CTAS {
                    let rows = local_tile(sb[(_, _, stage)], (BN / CTAS, BK), (part, 0));
                    let from = (tn * BN + part * (BN / CTAS), kt * BK);
                    if CTAS == 1 {
                        tma_load(b, from, rows, full[stage]);
                    } else if tn != neighbour {
                        tma_load(b, from, rows, full[stage]);
                    } else if rank == part {
                        tma_load(b, from, rows, full[stage], 0b11);
                    }
                }
                advance::<STAGES>(&mut stage, &mut phase);
            }
            tile += grid_dim().0;
        }
    }

    /// acc = the consumer's 64 rows of A times the BN rows of B, summed over all of K.
    fn multiply<const BK: u32, const STAGES: u32, const CTAS: u32>(
        acc: Fragment,
        sa: Tensor,
        sb: Tensor,
        full: Barriers,
        empty: Barriers,
        consumer: u32,
        k: u32,
        stage: &mut u32,
        phase: &mut u32,
    ) {
        let mut previous = *stage;
        for kt in 0..ceil_div(k, BK) {
            wait(full[*stage], *phase);
            wgmma_fence();
            wgmma(
                acc,
                local_tile(sa[(_, _, *stage)], (64, BK), (consumer, 0)),
                sb[(_, _, *stage)],
                kt > 0,
            );
            wgmma_commit();
            // One batch of wgmma stays in flight. The batch before it has finished, so its stage can be released.
            wgmma_wait(1);
            if kt > 0 {
                release::<CTAS>(empty[previous]);
            }
            previous = *stage;
            advance::<STAGES>(stage, phase);
        }
        wgmma_wait(0);
        release::<CTAS>(empty[previous]);
    }

    /// Tells the producer of each CTA of the cluster that this warpgroup has read a stage.
    fn release<const CTAS: u32>(empty: Barrier) {
        if warpgroup_thread() < CTAS {
            if CTAS == 1 {
                arrive(empty);
            } else {
                arrive_at(empty, warpgroup_thread());
            }
        }
    }

    /// Moves on to the next stage of the ring. The parity flips each time the ring starts again.
    fn advance<const STAGES: u32>(stage: &mut u32, phase: &mut u32) {
        *stage += 1;
        if *stage == STAGES {
            *stage = 0;
            *phase ^= 1;
        }
    }

    /// Whether the cluster has a tile left. If the number of tiles is odd, the second CTA of the last pair has a tile outside
    /// D: its loads give zeros, and it stores nothing.
    fn is_left<const BM: u32, const BN: u32, const CTAS: u32>(tile: u32, m: u32, n: u32) -> bool {
        tile / CTAS * CTAS < ceil_div(m, BM) * ceil_div(n, BN)
    }

    /// Row and column, in tiles, of tile number `tile`. Tiles are numbered in bands of GROUP tile rows, and column by column
    /// within a band, so that tiles that are computed at the same time share rows of A and of B in the L2 cache. GROUP is
    /// even, so tiles 2i and 2i + 1 are in the same column, except in a last band of odd height.
    fn tile_coordinate<const BM: u32, const BN: u32, const GROUP: u32>(
        tile: u32,
        m: u32,
        n: u32,
    ) -> (u32, u32) {
        let rows = ceil_div(m, BM);
        let band = GROUP * ceil_div(n, BN);
        let first = tile / band * GROUP;
        let height = min(rows - first, GROUP);
        let within = tile % band;
        (first + within % height, within / height)
    }
}
