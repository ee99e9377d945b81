//! D[m, n] = Σₖ A[m, k] · B[n, k], for floating-point numbers of 8, 16 and 32 bits and for integers of 8.

use cute_runtime::{Device, Element, TensorView, TensorViewMut};
use kernels::{PAIR, SINGLE, gemm_CFG, gemm_unaligned_CFG};

use crate::Error;
use crate::extent::extent;
use crate::store::can_store_by_tma;

/// D = A · Bᵀ for A of shape (M, K), B of shape (N, K) and D of shape (M, N), all with their last mode contiguous.
///
/// | A and B | sums | D |
/// |---|---|---|
/// | `bf16` | `f32` | `bf16`, `f32` |
/// | `f16` | `f32` | `f16`, `f32` |
/// | `f32`, of which the tensor core reads the 19 highest bits, as tf32 | `f32` | `f32` |
/// | `e4m3` | `f32`, of which each instruction keeps 13 bits after the point | `bf16`, `f32` |
/// | `i8` | `i32` | `i32` |
///
/// M, N and K are arbitrary, up to 2³¹ − 1. The rows of A and of B must start at
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
pub fn gemm<T: GemmInput<D>, D: Element>(
    device: &Device,
    a: &TensorView<'_, T, 2>,
    b: &TensorView<'_, T, 2>,
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
    let paired = !(has_whole_lines(a) && has_whole_lines(b));
    let config = if paired { PAIR } else { SINGLE };
    let tiles = u64::from(m.div_ceil(config.bm)) * u64::from(n.div_ceil(config.bn));
    let most = (device.multiprocessor_count() / config.ctas).max(1);
    let clusters = tiles.div_ceil(config.ctas.into()).clamp(1, most.into()) as u32;
    let grid = clusters * config.ctas;
    if can_store_by_tma(d) {
        let config = if paired {
            gemm_CFG::PAIR
        } else {
            gemm_CFG::SINGLE
        };
        kernels::gemm::launch(config, device, grid, a, b, d, m, n, k)?;
    } else {
        let config = if paired {
            gemm_unaligned_CFG::PAIR
        } else {
            gemm_unaligned_CFG::SINGLE
        };
        kernels::gemm_unaligned::launch(config, device, grid, a, b, d, m, n, k)?;
    }
    Ok(())
}

/// Whether each 128-byte row of a tile is one cache line. If rows straddle two lines, the L2 cache moves twice the bytes, and a
/// cluster of two CTAs that share their loads saves more time than it costs.
fn has_whole_lines<T: Element>(a: &TensorView<'_, T, 2>) -> bool {
    let row = a.strides()[0] as u64 * size_of::<T>() as u64;
    [a.address(), row].iter().all(|n| n.is_multiple_of(128))
}

/// Element types of A and B whose products [`fn@gemm`] rounds to `D`.
pub trait GemmInput<D: Element>: kernels::gemm_types<D> + kernels::gemm_unaligned_types<D> {}

impl<T: kernels::gemm_types<D> + kernels::gemm_unaligned_types<D>, D: Element> GemmInput<D> for T {}

/// The kernels and their instances.
#[cute_runtime::kernels]
pub mod kernels {
    use crate::epilogue::kernels::{store_by_element, store_by_tma};
    use crate::mma::kernels::TiledMma;
    use crate::pipeline::kernels::Ring;
    use crate::tile_scheduler::kernels::Tiles;

    /// Sizes of a GEMM.
    pub struct Config {
        /// Rows of the tile of D that a CTA computes: 128, 64 for each of two warpgroups.
        pub bm: u32,
        /// Columns of that tile.
        pub bn: u32,
        /// Bytes along K of a stage.
        pub bk: u32,
        /// Stages of the ring.
        pub stages: u32,
        /// Tile rows of a band of `Tiles`.
        pub group: u32,
        /// CTAs of a cluster: they compute neighbouring tiles and share their loads of B.
        pub ctas: u32,
    }

    /// One CTA a cluster.
    pub const SINGLE: Config = Config {
        bm: 128,
        bn: 256,
        bk: 128,
        stages: 4,
        group: 16,
        ctas: 1,
    };

    /// Two CTAs a cluster.
    pub const PAIR: Config = Config { ctas: 2, ..SINGLE };

    /// The product with D stored by TMA: rows of D start at multiples of 16 bytes and are multiples of 16 bytes long.
    #[kernel(threads = 384, cluster = (CFG.ctas, 1, 1))]
    #[instances(
        (T, D) in [(bf16, bf16), (bf16, f32), (f16, f16), (f16, f32), (tf32, f32), (e4m3, bf16), (e4m3, f32), (i8, i32)],
        CFG in [SINGLE, PAIR],
    )]
    pub fn gemm<T: Element, D: Element, const CFG: Config>(
        a: TmaLoad<T, 2>,
        b: TmaLoad<T, 2>,
        d: TmaStore<D, 2>,
        m: u32,
        n: u32,
        k: u32,
    ) {
        gemm_with::<_, _, CFG>(a, b, d, (m, n, k), |x, _| x);
    }

    /// D = `epilogue` of each element of A · Bᵀ and its coordinate (row, column), stored by TMA. It is called for elements
    /// outside of D, too, if D's extents are not multiples of those of a tile; their values go nowhere.
    pub fn gemm_with<T: Element, D: Element, const CFG: Config>(
        a: TmaLoad<T, 2>,
        b: TmaLoad<T, 2>,
        d: TmaStore<D, 2>,
        extents: (u32, u32, u32),
        epilogue: impl Fn(T::Accumulator, (u32, u32)) -> T::Accumulator,
    ) {
        multiply::<_, CFG>(a, b, extents, |acc, consumer, row, column| {
            let result = map(acc, |x, (i, j)| epilogue(x, (row + i, column + j)));
            store_by_tma(result, d, consumer, row, column);
        });
    }

    /// The product with D stored element by element, where the element lies inside D: rows of D may have any stride and any
    /// alignment.
    #[kernel(threads = 384, cluster = (CFG.ctas, 1, 1))]
    #[instances(
        (T, D) in [(bf16, bf16), (bf16, f32), (f16, f16), (f16, f32), (tf32, f32), (e4m3, bf16), (e4m3, f32), (i8, i32)],
        CFG in [SINGLE, PAIR],
    )]
    pub fn gemm_unaligned<T: Element, D: Element, const CFG: Config>(
        a: TmaLoad<T, 2>,
        b: TmaLoad<T, 2>,
        d: Global<D, 2>,
        m: u32,
        n: u32,
        k: u32,
    ) {
        multiply::<_, CFG>(a, b, (m, n, k), |acc, _, row, column| {
            store_by_element(acc, d, row, column);
        });
    }

    /// A persistent, warp-specialised product of A and B. `store(acc, consumer, row, column)` gets the 64 × `CFG.bn`
    /// accumulators of warpgroup number `consumer`, 0 or 1, which belong at (row, column) of D.
    ///
    /// Warpgroup 0 loads tiles of A and B by TMA into a ring of stages in shared memory, and warpgroups 1 and 2 multiply.
    pub fn multiply<T: Element, const CFG: Config>(
        a: TmaLoad<T, 2>,
        b: TmaLoad<T, 2>,
        (m, n, k): (u32, u32, u32),
        store: impl Fn(Fragment, u32, u32, u32),
    ) {
        let bk = CFG.bk * 8 / bits::<T>();
        let atom = smem_atom::<T>(K, SW128);
        let sa = smem::<T>(tile_to_shape(atom, (CFG.bm, bk, CFG.stages)));
        let sb = smem::<T>(tile_to_shape(atom, (CFG.bn, bk, CFG.stages)));
        let ring = Ring::<{ CFG.stages }, { CFG.ctas }>::new(2);
        let tiles = Tiles::<{ CFG.bm }, { CFG.bn }, { CFG.group }, { CFG.ctas }>::new(m, n);
        if warpgroup() == 0 {
            setmaxnreg_dec(40);
            if thread() == 0 {
                let mut producer = ring.producer();
                for tile in tiles {
                    for kt in 0..ceil_div(k, bk) {
                        let slot = producer.acquire(bytes(sa[(_, _, 0)]) + bytes(sb[(_, _, 0)]));
                        slot.load(a, (tile.row, kt * bk), sa[(_, _, slot.stage)]);
                        let columns = (tile.column, kt * bk);
                        slot.load_same(b, columns, sb[(_, _, slot.stage)], tile.same_columns);
                    }
                }
            }
        } else {
            setmaxnreg_inc(232);
            let index = warpgroup() - 1;
            let mma = TiledMma::<T::Accumulator, { CFG.bn }>::new(index);
            let acc = mma.fragment_c();
            let mut consumer = ring.consumer();
            for tile in tiles {
                let mut previous = 0;
                for kt in 0..ceil_div(k, bk) {
                    let stage = consumer.wait();
                    let a = mma.partition_a(sa[(_, _, stage)]);
                    mma.gemm(acc, a, sb[(_, _, stage)], kt > 0);
                    // One batch of wgmma stays in flight. The batch before it has finished, so its stage can be released.
                    wgmma_wait(1);
                    if kt > 0 {
                        consumer.release(previous);
                    }
                    previous = stage;
                }
                wgmma_wait(0);
                consumer.release(previous);
                store(acc, index, tile.row + index * 64, tile.column);
            }
            // A CTA must not end while TMA still reads its shared memory.
            if warpgroup_thread() == 0 {
                tma_wait_read(0);
            }
        }
        // A CTA must not end while the other one may still write to its shared memory or arrive at its barriers.
        if CFG.ctas > 1 {
            sync_cluster();
        }
    }
}
