//! The kernel, and its instances.

/// The parts of the kernel language: import them into a module of kernels.
#[cute_runtime::kernels]
pub mod kernels {
    use crate::epilogue::kernels::{store_by_element, store_by_tma};
    use crate::mma::kernels::TiledMma;
    use crate::pipeline::kernels::Ring;
    use crate::split::kernels::Split;
    use crate::tile_scheduler::kernels::{Tiles, place};

    /// Sizes of a GEMM.
    pub struct Config {
        /// Rows of the tile of D that a CTA computes: 128, 64 for each of two warpgroups, or 64 for both.
        pub bm: u32,
        /// Columns of that tile. If it has 64 rows, each warpgroup has half of them.
        pub bn: u32,
        /// Bytes along K of a stage.
        pub bk: u32,
        /// Rows of A that TMA loads at a time. If they are fewer than those of the tile, rows that do not exist are not
        /// loaded.
        pub rows: u32,
        /// Stages of the ring.
        pub stages: u32,
        /// Tile rows of a band of `Tiles`.
        pub group: u32,
        /// CTAs of a cluster that compute neighbouring tiles and share their loads of B.
        pub ctas: u32,
        /// CTAs of a cluster that compute one tile: each multiplies a part of K, and then they sum up, each a part of the
        /// columns. If there are several, `ctas` is 1.
        pub split: u32,
        /// Whether A is contiguous along M, not K, so that the modes of its tensor are (K, M). Elements have 16 bits then.
        pub a_mn: bool,
        /// Whether B is contiguous along N, not K, so that the modes of its tensor are (K, N). Elements have 16 bits then, and
        /// `ctas` is 1.
        pub b_mn: bool,
        /// Whether the sums of each stage are multiplied by a factor and added to sums in f32, of which each thread then has as
        /// many again. Wgmma's own sums of elements of 8 bits keep 13 bits after the point.
        pub promote: bool,
    }

    /// The largest tile: the most work for each byte that is loaded.
    pub const SINGLE: Config = Config {
        bm: 128,
        bn: 256,
        bk: 128,
        rows: 128,
        stages: 4,
        group: 16,
        ctas: 1,
        split: 1,
        a_mn: false,
        b_mn: false,
        promote: false,
    };

    /// Two CTAs a cluster, for rows that are not whole cache lines.
    pub const PAIR: Config = Config { ctas: 2, ..SINGLE };

    /// Three quarters of the largest tile, for matrices that it does not divide evenly among the multiprocessors.
    pub const WIDE: Config = Config { bn: 192, ..SINGLE };

    /// A little more than half of the largest tile: 1536 × 1536 elements are 132 of them, one for each multiprocessor.
    pub const OBLONG: Config = Config {
        bn: 144,
        stages: 6,
        ..SINGLE
    };

    /// Half of the largest tile.
    pub const SQUARE: Config = Config {
        bn: 128,
        stages: 6,
        ..SINGLE
    };

    /// Three quarters of `SQUARE`: 12,288 columns are 128 of them.
    pub const MEDIUM: Config = Config {
        bn: 96,
        stages: 6,
        ..SINGLE
    };

    /// A quarter of the largest tile.
    pub const NARROW: Config = Config {
        bn: 64,
        stages: 8,
        ..SINGLE
    };

    /// A quarter of the largest tile with 64 rows, for matrices A of few rows, and with K divided in two, so that more
    /// multiprocessors load B.
    pub const THIN: Config = Config {
        bm: 64,
        bn: 128,
        rows: 64,
        stages: 8,
        split: 2,
        ..SINGLE
    };

    /// The same for up to 16 rows.
    pub const FEW: Config = Config { rows: 16, ..THIN };

    /// The same with all of K, for matrices B that have enough tiles for all multiprocessors.
    pub const WHOLE: Config = Config { split: 1, ..FEW };

    /// Three quarters of `WHOLE`.
    pub const WHOLE_96: Config = Config {
        bn: 96,
        stages: 10,
        ..WHOLE
    };

    /// The largest tile for A along M.
    pub const SINGLE_NN: Config = Config {
        a_mn: true,
        ..SINGLE
    };

    /// The largest tile for A along M and B along N.
    pub const SINGLE_NT: Config = Config {
        b_mn: true,
        ..SINGLE_NN
    };

    /// The largest tile for B along N.
    pub const SINGLE_TT: Config = Config {
        b_mn: true,
        ..SINGLE
    };

    /// Half of it for A along M.
    pub const SQUARE_NN: Config = Config {
        a_mn: true,
        ..SQUARE
    };

    /// Half of it for A along M and B along N.
    pub const SQUARE_NT: Config = Config {
        b_mn: true,
        ..SQUARE_NN
    };

    /// Half of it for B along N.
    pub const SQUARE_TT: Config = Config {
        b_mn: true,
        ..SQUARE
    };

    /// Half of the largest tile for factors of each stage. Of the whole, a thread would have 256 sums.
    pub const SQUARE_PROMOTED: Config = Config {
        promote: true,
        ..SQUARE
    };

    /// A quarter of the largest tile for factors of each stage.
    pub const NARROW_PROMOTED: Config = Config {
        promote: true,
        ..NARROW
    };

    /// The products of a batch of matrices, with D stored by TMA: rows of D start at multiples of 16 bytes and are multiples of 16
    /// bytes long. All types have the largest tiles. D of 16 bits, of elements of 16 bits, has smaller ones, too, and those for
    /// matrices that are contiguous along M or N; bf16 into `f32` has those that few rows need.
    #[kernel(threads = 384, cluster = (CFG.ctas * CFG.split, 1, 1))]
    #[instances(
        (A, B, D) in [
            (bf16, bf16, bf16), (bf16, bf16, f32), (f16, f16, f16), (f16, f16, f32), (tf32, tf32, f32),
            (i8, i8, i32), (i8, u8, i32), (u8, i8, i32), (u8, u8, i32),
            (e4m3, e4m3, bf16), (e4m3, e4m3, f32), (e4m3, e5m2, bf16), (e4m3, e5m2, f32),
            (e5m2, e4m3, bf16), (e5m2, e4m3, f32), (e5m2, e5m2, bf16), (e5m2, e5m2, f32),
        ],
        CFG in [SINGLE, PAIR],
    )]
    #[instances(
        (A, B, D) in [(bf16, bf16, bf16), (f16, f16, f16)],
        CFG in [WIDE, OBLONG, SQUARE, MEDIUM, NARROW, THIN, FEW, WHOLE, WHOLE_96, SINGLE_NN, SINGLE_NT, SINGLE_TT, SQUARE_NN, SQUARE_NT, SQUARE_TT],
    )]
    #[instances((A, B, D) in [(bf16, bf16, f32)], CFG in [SQUARE, MEDIUM, NARROW, THIN, FEW, WHOLE, WHOLE_96])]
    pub fn gemm<A: Element, B: Element, D: Element, const CFG: Config>(
        a: TmaLoad<A, 3>,
        b: TmaLoad<B, 3>,
        d: TmaStore<D, 3>,
        batches: u32,
        m: u32,
        n: u32,
        k: u32,
    ) {
        gemm_with::<_, _, _, CFG>(a, b, d, (batches, m, n, k), |x, _| x);
    }

    /// D = `epilogue` of each element of A · Bᵀ and its coordinate, stored by TMA. It is called for elements outside of D, too, if D's
    /// extents are not multiples of those of a tile; their values go nowhere.
    ///
    /// Matrices have two modes: `extents` is (m, n, k), and coordinates are (row, column). Batches of matrices have three: `extents`
    /// is (batches, m, n, k), and coordinates are (batch, row, column). Elements of B have A's type, or another by which wgmma
    /// multiplies that, as it does `e4m3` by `e5m2`.
    pub fn gemm_with<T: Element, D: Element, const R: u32, const CFG: Config>(
        a: TmaLoad<T, R>,
        b: TmaLoad<_, R>,
        d: TmaStore<D, R>,
        extents: _,
        epilogue: impl Fn(T::Accumulator, _) -> T::Accumulator,
    ) {
        if thread() == 0 {
            tma_prefetch_map(d);
        }
        let (batches, m, n, k) = if R == 2 {
            (1, extents.0, extents.1, extents.2)
        } else {
            extents
        };
        let tiles = tiles::<CFG>(batches, m, n);
        multiply::<_, _, _, CFG>(a, b, tiles, k, |acc, consumer, (batch, row, column), _| {
            let result = map(acc, |x, (i, j)| {
                epilogue(x, place::<R>(batch, row + i, column + j))
            });
            store_by_tma(result, d, consumer, (batch, row, column));
        });
        // A CTA must not end while TMA still reads its shared memory.
        tma_wait_read(0);
    }

    /// The products of a batch of matrices, with D stored element by element, where the element lies inside D: rows of D may have any
    /// stride and any alignment.
    #[kernel(threads = 384, cluster = (CFG.ctas * CFG.split, 1, 1))]
    #[instances(
        (A, B, D) in [
            (bf16, bf16, bf16), (bf16, bf16, f32), (f16, f16, f16), (f16, f16, f32), (tf32, tf32, f32),
            (i8, i8, i32), (i8, u8, i32), (u8, i8, i32), (u8, u8, i32),
            (e4m3, e4m3, bf16), (e4m3, e4m3, f32), (e4m3, e5m2, bf16), (e4m3, e5m2, f32),
            (e5m2, e4m3, bf16), (e5m2, e4m3, f32), (e5m2, e5m2, bf16), (e5m2, e5m2, f32),
        ],
        CFG in [PAIR],
    )]
    pub fn gemm_unaligned<A: Element, B: Element, D: Element, const CFG: Config>(
        a: TmaLoad<A, 3>,
        b: TmaLoad<B, 3>,
        d: Global<D, 3>,
        batches: u32,
        m: u32,
        n: u32,
        k: u32,
    ) {
        let tiles = tiles::<CFG>(batches, m, n);
        multiply::<_, _, _, CFG>(a, b, tiles, k, |acc, _, at, _| {
            store_by_element(acc, d, at);
        });
    }

    /// The tiles of a batch of products.
    pub fn tiles<const CFG: Config>(batches: u32, m: u32, n: u32) -> _ {
        Tiles::<{ CFG.bm }, { CFG.bn }, { CFG.group }, { CFG.ctas }, { CFG.split }>::new(
            batches, m, n,
        )
    }

    /// A persistent, warp-specialised product of A and B, whose tensors have two modes, or three if there are several matrices. The CTA
    /// computes `tiles`, an iterator of `Tile`. `store(acc, consumer, (batch, row, column), end)` gets accumulators of warpgroup number
    /// `consumer`, 0 or 1: 64 rows that belong at that place of D, up to row `end`. Elements of B have A's type, or another by which
    /// wgmma multiplies that.
    ///
    /// Warpgroup 0 loads tiles of A and B by TMA into a ring of stages in shared memory, and warpgroups 1 and 2 multiply.
    pub fn multiply<T: Element, const RA: u32, const RB: u32, const CFG: Config>(
        a: TmaLoad<T, RA>,
        b: TmaLoad<_, RB>,
        tiles: _,
        k: u32,
        store: impl Fn(Fragment, u32, (u32, u32, u32), u32),
    ) {
        multiply_scaled::<_, _, _, CFG>(a, b, tiles, k, |_, _, _| (1.0, 1.0), store);
    }

    /// The same with factors for each stage along K, if `CFG.promote`: `scale(acc, (batch, row, column), step)` gives two for stage
    /// number `step` and accumulators that belong at that place of D, numbers or fragments that fit `acc`. It is called a step ahead,
    /// so that loads have the time of a step before their product is taken.
    pub fn multiply_scaled<T: Element, const RA: u32, const RB: u32, const CFG: Config>(
        a: TmaLoad<T, RA>,
        b: TmaLoad<_, RB>,
        tiles: _,
        k: u32,
        scale: impl Fn(Fragment, (u32, u32, u32), u32) -> (_, _),
        store: impl Fn(Fragment, u32, (u32, u32, u32), u32),
    ) {
        let bk = CFG.bk * 8 / bits::<T>();
        let sa = stages(a, CFG.bm, bk, CFG.stages, CFG.a_mn);
        let sb = stages(b, CFG.bn, bk, CFG.stages, CFG.b_mn);
        let ring = Ring::<{ CFG.stages }, { CFG.ctas }>::new(2);
        // What a warpgroup computes of a tile.
        let above = CFG.bm / 64;
        let columns = CFG.bn * above / 2;
        let split = Split::<T::Accumulator, { CFG.split }, { CFG.bn * CFG.bm / 128 }>::new();
        let steps = split.steps(ceil_div(k, bk));
        let few = CFG.rows < CFG.bm;
        // Sums of f32 or i32 that a thread has: half of the columns, and as many again for promotion.
        let sums = if CFG.promote { columns } else { columns / 2 };
        if thread() == 0 {
            tma_prefetch_map(a);
            tma_prefetch_map(b);
        }
        // What comes before overlaps with the end of the grid before.
        griddepcontrol_launch_dependents();
        griddepcontrol_wait();
        if warpgroup() == 0 {
            // Threads with few accumulators need no more registers than all have.
            if sums > 64 {
                setmaxnreg_dec(40);
            }
            let mut producer = ring.producer();
            let mut filled = 0;
            for tile in tiles {
                if thread() == 0 {
                    for step in 0..steps {
                        let at = split.step(step) * bk;
                        // TMA takes longer to fill in rows of zeros than to load rows, so loads of few rows end with A. What
                        // the stage then has below them is of no use, but it is defined: the first loads are whole.
                        let rows = if few && filled >= CFG.stages {
                            min(ceil_div(tile.end - tile.row, CFG.rows) * CFG.rows, CFG.bm)
                        } else {
                            CFG.bm
                        };
                        let slot = producer.acquire(rows * CFG.bk + bytes(sb[(_, _, 0)]));
                        let (to_a, to_b) = (sa[(_, _, slot.stage)], sb[(_, _, slot.stage)]);
                        for i in 0..CFG.bm / CFG.rows {
                            let row = tile.row + i * CFG.rows;
                            if CFG.a_mn {
                                slot.load(a, place::<RA>(tile.batch, at, row), select(to_a, 1, 0));
                            } else if i * CFG.rows < rows {
                                let part = local_tile(to_a, (CFG.rows, bk), (i, 0));
                                slot.load(a, place::<RA>(tile.batch, row, at), part);
                            }
                        }
                        if CFG.b_mn {
                            slot.load(
                                b,
                                place::<RB>(tile.batch, at, tile.column),
                                select(to_b, 1, 0),
                            );
                        } else {
                            let first = (tile.batch, tile.column, at);
                            slot.load_same(b, first, to_b, tile.same_columns);
                        }
                        if few {
                            filled += 1;
                        }
                    }
                }
                split.pause();
            }
        } else {
            if sums > 64 {
                setmaxnreg_inc(232);
            }
            let index = warpgroup() - 1;
            let (i, j) = (index % above, index / above);
            let mma = TiledMma::<T::Accumulator, { CFG.bn * CFG.bm / 128 }>::new(i);
            let acc = mma.fragment_c();
            // What a stage adds to the sums, or the sums themselves.
            let part = if CFG.promote { mma.fragment_c() } else { acc };
            let mut consumer = ring.consumer();
            let mut turn = 0;
            for tile in tiles {
                let (row, column) = (tile.row + i * 64, tile.column + j * columns);
                let at = (tile.batch, row, column);
                let mut previous = 0;
                // The factors of the next step, which are loaded during the step before.
                let (mut x, mut y) = if CFG.promote {
                    fill(acc, 0.0);
                    scale(acc, at, split.step(0))
                } else {
                    (1.0, 1.0)
                };
                for step in 0..steps {
                    let stage = consumer.wait();
                    let a = mma.partition_a(sa[(_, _, stage)]);
                    let b = local_tile(sb[(_, _, stage)], (columns, bk), (j, 0));
                    mma.gemm(part, a, b, !CFG.promote && step > 0);
                    if CFG.promote {
                        let factor = x * y;
                        (x, y) = scale(acc, at, split.step(step + 1));
                        // Products of the other warpgroup run while this one adds.
                        wgmma_wait(0);
                        consumer.release(stage);
                        copy(fma(part, factor, acc), acc);
                    } else {
                        // One batch of wgmma stays in flight. The batch before it has finished, so its stage can be released.
                        wgmma_wait(1);
                        if step > 0 {
                            consumer.release(previous);
                        }
                        previous = stage;
                    }
                }
                if !CFG.promote {
                    wgmma_wait(0);
                    consumer.release(previous);
                }
                if CFG.split == 1 {
                    store(acc, index, (tile.batch, row, column), tile.end);
                } else {
                    let (part, first) = split.sum(acc, index, turn, sa, sb);
                    turn += 1;
                    store(part, index, (tile.batch, row, column + first), tile.end);
                }
            }
        }
        // A CTA must not end while the other one may still write to its shared memory or arrive at its barriers.
        if CFG.ctas > 1 {
            sync_cluster();
        }
    }

    /// Stages of `rows` × `bk` elements of a matrix, contiguous along K, or along the rows if `mn`.
    fn stages<T: Element, const R: u32>(
        _: TmaLoad<T, R>,
        rows: u32,
        bk: u32,
        stages: u32,
        mn: bool,
    ) -> Tensor {
        if mn {
            smem::<T>(tile_to_shape(
                smem_atom::<T>(MN, SW128),
                (rows, bk, stages),
                (1, 0, 2),
            ))
        } else {
            smem::<T>(tile_to_shape(smem_atom::<T>(K, SW128), (rows, bk, stages)))
        }
    }
}
