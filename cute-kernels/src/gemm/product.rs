//! The kernel, and its instances.

/// The parts of the kernel language: import them into a module of kernels.
#[cute_runtime::kernels]
pub mod kernels {
    use crate::epilogue::kernels::{
        store_by_element, store_pieces_by_tma, store_transposed_by_tma,
    };
    use crate::mma::kernels::TiledMma;
    use crate::pipeline::kernels::Ring;
    use crate::split::kernels::Split;
    use crate::tile_scheduler::kernels::{Tiles, place};

    /// Sizes of a GEMM.
    pub struct Config {
        /// Rows of the tile of D that a CTA computes, a multiple of 64. Two warpgroups that compute it together have half of them each.
        pub bm: u32,
        /// Columns of that tile. If it has 64 rows, two warpgroups that compute it together have half of the columns each.
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
        /// Whether A is contiguous along M, not K, so that the modes of its tensor are (K, M). Elements have 16 or 32 bits then. Those of
        /// 32 bits go to registers before they are multiplied, and `split` is 1.
        pub a_mn: bool,
        /// Whether B is contiguous along N, not K, so that the modes of its tensor are (K, N). Elements have 16 bits then, and
        /// `ctas` is 1.
        pub b_mn: bool,
        /// Lines of 128 bytes of each row of D for which a warpgroup has shared memory, as `store_pieces_by_tma` takes them.
        pub lines: u32,
        /// Whether each warpgroup computes tiles of its own, all their rows and columns: one stores while the other multiplies. Else
        /// both compute a tile together. `split` is 1 then.
        pub pingpong: bool,
        /// Whether the product is Dᵀ: rows of tiles are columns of D, and their columns are rows of D. Then `split` is 1, or each part of
        /// the columns has a multiple of 8.
        pub swapped: bool,
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
        lines: 2,
        pingpong: false,
        swapped: false,
        promote: false,
    };

    /// Two CTAs a cluster, for rows that are not whole cache lines.
    pub const PAIR: Config = Config { ctas: 2, ..SINGLE };

    /// Three quarters of the largest tile by each warpgroup in turn, which stores while the other one multiplies.
    pub const WIDE: Config = Config {
        bn: 192,
        lines: 4,
        pingpong: true,
        ..SINGLE
    };

    /// A little more than half of the largest tile: 1536 × 1536 elements are 132 of them, one for each multiprocessor. CTAs that have
    /// fewer stages and rows in a band load the same rows closer together in time, so that they share more of what the L2 cache
    /// delivers.
    pub const OBLONG: Config = Config {
        bn: 144,
        group: 4,
        ..SINGLE
    };

    /// About four fifths of the largest tile: 1792 × 1792 elements are 126 of them.
    pub const BROAD: Config = Config { bn: 208, ..SINGLE };

    /// Half of the largest tile.
    pub const SQUARE: Config = Config {
        bn: 128,
        stages: 6,
        ..SINGLE
    };

    /// Two CTAs of `SQUARE` a cluster, for matrices B that are read by two rows of tiles.
    pub const SQUARE_PAIR: Config = Config { ctas: 2, ..SQUARE };

    /// Three quarters of `SQUARE` by each warpgroup in turn: 12,288 columns are 128 of them.
    pub const MEDIUM: Config = Config {
        bn: 96,
        stages: 6,
        pingpong: true,
        ..SINGLE
    };

    /// Seven eighths of `SQUARE` in the same way: 1280 × 1280 elements are 120 of them.
    pub const MEDIUM_112: Config = Config { bn: 112, ..MEDIUM };

    /// A quarter of the largest tile.
    pub const NARROW: Config = Config {
        bn: 64,
        stages: 8,
        ..SINGLE
    };

    /// The same by each warpgroup in turn.
    pub const NARROW_IN_TURNS: Config = Config {
        pingpong: true,
        ..NARROW
    };

    /// An eighth of the largest tile by each warpgroup in turn.
    pub const SMALL: Config = Config {
        bm: 64,
        bn: 64,
        rows: 64,
        stages: 12,
        pingpong: true,
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

    /// `THIN` with K divided in four, for matrices of few rows and columns with a long K.
    pub const THIN_4: Config = Config { split: 4, ..THIN };

    /// The same with K divided in eight.
    pub const THIN_8: Config = Config { split: 8, ..THIN };

    /// `THIN` for up to 16 rows.
    pub const FEW: Config = Config { rows: 16, ..THIN };

    /// `NARROW` with K divided in two.
    pub const NARROW_2: Config = Config { split: 2, ..NARROW };

    /// `SQUARE` with K divided in two, for matrices that have fewer tiles than there are multiprocessors.
    pub const SQUARE_2: Config = Config { split: 2, ..SQUARE };

    /// `THIN`'s tile and loads of 16 rows of A, with all of K, for matrices B that have enough tiles for all multiprocessors.
    pub const WHOLE: Config = Config { split: 1, ..FEW };

    /// Three quarters of `WHOLE`.
    pub const WHOLE_96: Config = Config {
        bn: 96,
        stages: 10,
        ..WHOLE
    };

    /// A quarter of the largest tile with 64 rows, by each warpgroup in turn, in two CTAs that share their loads of B: for rows that
    /// are not whole cache lines, and for matrices of which smaller tiles would load more than the L2 cache delivers.
    pub const THIN_PAIR: Config = Config {
        bm: 64,
        bn: 128,
        rows: 64,
        stages: 6,
        group: 4,
        pingpong: true,
        ..PAIR
    };

    /// 128 rows of B by 96 of A, by each warpgroup in turn, in two CTAs that share their loads of A: for 96 and 192 rows, which tiles
    /// of 64 and 128 rows do not fill.
    pub const SWAPPED: Config = Config {
        ctas: 2,
        swapped: true,
        ..MEDIUM
    };

    /// 128 rows of B by 112 of A in the same way, for 448 rows.
    pub const SWAPPED_112: Config = Config { bn: 112, ..SWAPPED };

    /// 64 rows of B by 96 of A, each CTA of its own.
    pub const SWAPPED_THIN: Config = Config {
        bm: 64,
        rows: 64,
        stages: 9,
        ctas: 1,
        ..SWAPPED
    };

    /// 128 rows of B by 80 of A, each CTA of its own, for 80, 160 and 320 rows.
    pub const SWAPPED_80: Config = Config {
        bn: 80,
        stages: 7,
        ctas: 1,
        ..SWAPPED
    };

    /// 64 rows of B by 80 of A.
    pub const SWAPPED_THIN_80: Config = Config {
        bn: 80,
        stages: 10,
        ..SWAPPED_THIN
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

    /// Two CTAs a cluster for A along M.
    pub const PAIR_NN: Config = Config { a_mn: true, ..PAIR };

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

    /// A quarter of it for A along M, as the next two by each warpgroup in turn.
    pub const NARROW_NN: Config = Config {
        a_mn: true,
        ..NARROW_IN_TURNS
    };

    /// A quarter of it for A along M and B along N.
    pub const NARROW_NT: Config = Config {
        b_mn: true,
        ..NARROW_NN
    };

    /// A quarter of it for B along N.
    pub const NARROW_TT: Config = Config {
        b_mn: true,
        ..NARROW_IN_TURNS
    };

    /// `THIN` for A along M.
    pub const THIN_NN: Config = Config { a_mn: true, ..THIN };

    /// `THIN` for A along M and B along N.
    pub const THIN_NT: Config = Config {
        b_mn: true,
        ..THIN_NN
    };

    /// `THIN` for B along N.
    pub const THIN_TT: Config = Config { b_mn: true, ..THIN };

    /// `FEW` for B along N.
    pub const FEW_TT: Config = Config { b_mn: true, ..FEW };

    /// `WHOLE` for B along N.
    pub const WHOLE_TT: Config = Config {
        b_mn: true,
        ..WHOLE
    };

    /// The largest tile for B along N, of elements of 32 bits: rows of B are rows of the tile.
    pub const SINGLE_SWAPPED: Config = Config {
        swapped: true,
        ..SINGLE_NN
    };

    /// `PAIR` in the same way.
    pub const PAIR_SWAPPED: Config = Config {
        swapped: true,
        ..PAIR_NN
    };

    /// `OBLONG` for A along M.
    pub const OBLONG_NN: Config = Config {
        a_mn: true,
        ..OBLONG
    };

    /// `OBLONG` for B along N, as `SINGLE_SWAPPED`.
    pub const OBLONG_SWAPPED: Config = Config {
        swapped: true,
        ..OBLONG_NN
    };

    /// A quarter of the largest tile for B along N, as `SINGLE_SWAPPED`.
    pub const NARROW_SWAPPED: Config = Config {
        swapped: true,
        ..NARROW_NN
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
    /// bytes long. All types have the largest tiles and two small ones, and all without `e5m2` and `u8` others, too. Elements of 16 bits
    /// have those for matrices that are contiguous along M or N, and elements of 32 bits those for one such matrix.
    #[kernel(threads = 384, cluster = (CFG.ctas * CFG.split, 1, 1))]
    #[instances(
        (A, B, D) in [
            (bf16, bf16, bf16), (bf16, bf16, f32), (f16, f16, f16), (f16, f16, f32), (tf32, tf32, f32),
            (i8, i8, i32), (i8, u8, i32), (u8, i8, i32), (u8, u8, i32),
            (e4m3, e4m3, bf16), (e4m3, e4m3, f32), (e4m3, e5m2, bf16), (e4m3, e5m2, f32),
            (e5m2, e4m3, bf16), (e5m2, e4m3, f32), (e5m2, e5m2, bf16), (e5m2, e5m2, f32),
        ],
        CFG in [SINGLE, PAIR, NARROW_IN_TURNS, THIN],
    )]
    #[instances(
        (A, B, D) in [
            (bf16, bf16, bf16), (bf16, bf16, f32), (f16, f16, f16), (f16, f16, f32), (tf32, tf32, f32), (i8, i8, i32),
            (e4m3, e4m3, bf16), (e4m3, e4m3, f32),
        ],
        CFG in [
            WIDE, BROAD, OBLONG, SQUARE_PAIR, MEDIUM, MEDIUM_112, SMALL, FEW, WHOLE_96, SQUARE_2, NARROW_2, THIN_4, THIN_8,
            THIN_PAIR, SWAPPED, SWAPPED_112, SWAPPED_THIN, SWAPPED_80, SWAPPED_THIN_80,
        ],
    )]
    #[instances(
        (A, B, D) in [(bf16, bf16, bf16), (bf16, bf16, f32), (f16, f16, f16), (f16, f16, f32)],
        CFG in [
            SINGLE_NN, SINGLE_NT, SINGLE_TT, PAIR_NN, SQUARE_NN, SQUARE_NT, SQUARE_TT, NARROW_NN, NARROW_NT, NARROW_TT,
            THIN_NN, THIN_NT, THIN_TT, FEW_TT, WHOLE_TT,
        ],
    )]
    #[instances(
        (A, B, D) in [(tf32, tf32, f32)],
        CFG in [
            SINGLE_NN, PAIR_NN, OBLONG_NN, NARROW_NN, SINGLE_SWAPPED, PAIR_SWAPPED, OBLONG_SWAPPED, NARROW_SWAPPED,
        ],
    )]
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
    ///
    /// With `CFG.swapped`, D is (A · Bᵀ)ᵀ, of n × m elements, and coordinates are those of D.
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
                let at = if CFG.swapped {
                    (column + j, row + i)
                } else {
                    (row + i, column + j)
                };
                epilogue(x, place::<R>(batch, at.0, at.1))
            });
            if CFG.swapped {
                store_transposed_by_tma(result, d, consumer, (batch, row, column));
            } else {
                let at = (batch, row, column);
                store_pieces_by_tma(result, |piece, _| piece, d, consumer, at, CFG.lines);
            }
        });
        // A CTA must not end while TMA still reads its shared memory.
        tma_wait_read(0);
    }

    /// The products of a batch of matrices, with D stored element by element, where the element lies inside D: rows of D may have any
    /// stride and any alignment. All types have the largest tile, and all without `e5m2` and `u8` two smaller ones, too.
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
    #[instances(
        (A, B, D) in [
            (bf16, bf16, bf16), (bf16, bf16, f32), (f16, f16, f16), (f16, f16, f32), (tf32, tf32, f32), (i8, i8, i32),
            (e4m3, e4m3, bf16), (e4m3, e4m3, f32),
        ],
        CFG in [NARROW_IN_TURNS, THIN],
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
        multiply_problems::<T, RA, RB, CFG>(|_| (a, b), tiles, Some(k), scale, store);
    }

    /// The same for products of several matrices: `maps(batch)` gives those of a tile, and with `k` as `None` each tile has a K of its
    /// own, `tile.k`.
    pub fn multiply_problems<T: Element, const RA: u32, const RB: u32, const CFG: Config>(
        maps: impl Fn(u32) -> (_, _),
        tiles: _,
        k: Option<u32>,
        scale: impl Fn(Fragment, (u32, u32, u32), u32) -> (_, _),
        store: impl Fn(Fragment, u32, (u32, u32, u32), u32),
    ) {
        let bk = CFG.bk * 8 / bits::<T>();
        let (a, b) = maps(0);
        let sa = stages(a, CFG.bm, bk, CFG.stages, CFG.a_mn);
        let sb = stages(b, CFG.bn, bk, CFG.stages, CFG.b_mn);
        // wgmma reads elements of 32 bits from shared memory along K alone. Otherwise each warp reads what it multiplies.
        let from_registers = CFG.a_mn && bits::<T>() == 32;
        assert!(
            !from_registers || !CFG.promote && CFG.split == 1,
            "A along M of elements of 32 bits is neither promoted, nor is K divided"
        );
        let warps = if from_registers { 4 } else { 1 };
        let ring = Ring::<{ CFG.stages }, { CFG.ctas }>::new(readers::<CFG>() * warps);
        // What a warpgroup computes of a tile.
        let (rows, columns) = (rows::<CFG>(), columns::<CFG>());
        let above = CFG.bm / rows;
        let split = Split::<T::Accumulator, { CFG.split }, { columns::<CFG>() }>::new();
        let (same_k, steps) = if let Some(k) = k {
            (true, split.steps(ceil_div(k, bk)))
        } else {
            assert!(!CFG.pingpong, "tiles in turns have one K");
            (false, 0)
        };
        let few = CFG.rows < CFG.bm;
        // Sums of f32 or i32 that a thread has: half of the columns, and as many again for promotion.
        let sums = rows / 64 * if CFG.promote { columns } else { columns / 2 };
        if thread() == 0 {
            tma_prefetch_map(a);
            tma_prefetch_map(b);
        }
        // What comes before overlaps with the end of the grid before.
        griddepcontrol_launch_dependents();
        griddepcontrol_wait();
        if warpgroup() == 0 {
            // Threads with few accumulators need no more registers than all have.
            if sums > 128 {
                setmaxnreg_dec(24);
            } else if sums > 64 {
                setmaxnreg_dec(40);
            }
            let mut producer = ring.producer();
            let mut filled = 0;
            let mut turn = 0;
            for tile in tiles {
                if thread() == 0 {
                    let (a, b) = maps(tile.batch);
                    let steps = if same_k {
                        steps
                    } else {
                        split.steps(ceil_div(tile.k, bk))
                    };
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
                    split.pause(turn);
                    turn += 1;
                }
            }
            if CFG.ctas > 1 && thread() == 0 {
                producer.finish();
            }
        } else {
            if sums > 128 {
                setmaxnreg_inc(240);
            } else if sums > 64 {
                setmaxnreg_inc(232);
            }
            let index = warpgroup() - 1;
            let (i, j) = if CFG.pingpong {
                (0, 0)
            } else {
                (index % above, index / above)
            };
            let mma = if from_registers {
                TiledMma::<T::Accumulator, { rows::<CFG>() }, { columns::<CFG>() }>::from_registers(
                    i,
                )
            } else {
                TiledMma::<T::Accumulator, { rows::<CFG>() }, { columns::<CFG>() }>::new(i)
            };
            let acc = mma.fragment_c();
            // What a stage adds to the sums, or the sums themselves.
            let part = if CFG.promote { mma.fragment_c() } else { acc };
            let mut consumer = ring.consumer();
            let mut turn = 0;
            // A barrier for each warpgroup: the four warps of the other one have waited for the stages of its tile.
            let turns = if CFG.pingpong {
                Some(mbarriers(2, 4))
            } else {
                None
            };
            let mut tiles = tiles;
            if CFG.pingpong && index == 1 {
                tiles.next();
                consumer.skip(steps);
            }
            while let Some(tile) = tiles.next() {
                let (row, column) = (tile.row + i * rows, tile.column + j * columns);
                let at = (tile.batch, row, column);
                let steps = if same_k {
                    steps
                } else {
                    split.steps(ceil_div(tile.k, bk))
                };
                let mut previous = 0;
                // The factors of the next step, which are loaded during the step before.
                let (mut x, mut y) = if CFG.promote {
                    fill(acc, 0.0);
                    scale(acc, at, split.step(0))
                } else {
                    (1.0, 1.0)
                };
                if let Some(turns) = turns {
                    // The stages of a tile are told from those of others by the parity of two phases, so that all before have to be
                    // full. The first turn is that of warpgroup 0, whose fresh barrier lets parity 1 pass.
                    wait(turns[index], (turn + 1 + index) % 2);
                }
                let part_of_b = |stage| local_tile(sb[(_, _, stage)], (columns, bk), (j, 0));
                if from_registers {
                    // Half of a stage goes to registers while wgmma multiplies the half before. The assembler lets it if a wait for the
                    // batch that has read the registers comes right before.
                    let half = (rows, bk / 2);
                    let of_a =
                        |stage, i| local_tile(mma.partition_a(sa[(_, _, stage)]), half, (0, i));
                    let of_b = |stage, i| local_tile(part_of_b(stage), (columns, bk / 2), (0, i));
                    let (x0, x1) = (mma.fragment_a::<T>(bk / 2), mma.fragment_a::<T>(bk / 2));
                    let mut stage = consumer.wait();
                    copy(of_a(stage, 0), x0);
                    for step in 0..steps {
                        mma.gemm(acc, x0, of_b(stage, 0), step > 0);
                        wgmma_wait(1);
                        if step > 0 {
                            consumer.release_by_warp(previous);
                        }
                        copy(of_a(stage, 1), x1);
                        mma.gemm(acc, x1, of_b(stage, 1), true);
                        previous = stage;
                        wgmma_wait(1);
                        if step + 1 < steps {
                            stage = consumer.wait();
                            copy(of_a(stage, 0), x0);
                        }
                    }
                } else {
                    for step in 0..steps {
                        let stage = consumer.wait();
                        let a = mma.partition_a(sa[(_, _, stage)]);
                        mma.gemm(part, a, part_of_b(stage), !CFG.promote && step > 0);
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
                }
                if let Some(turns) = turns {
                    if lane() == 0 {
                        arrive(turns[1 - index]);
                    }
                    consumer.skip(steps);
                    tiles.next();
                }
                if !CFG.promote {
                    wgmma_wait(0);
                    if from_registers {
                        consumer.release_by_warp(previous);
                    } else {
                        consumer.release(previous);
                    }
                }
                let (part, first) = split.sum(acc, index, turn, sa, sb);
                for block in 0..rows / 64 {
                    let stored = local_tile(part, (64, size(part) * 128 / rows), (block, 0));
                    let at = (tile.batch, row + block * 64, column + first);
                    store(stored, index, at, tile.end);
                }
                split.release(index, turn);
                turn += 1;
            }
        }
    }

    /// Warpgroups that read a stage.
    fn readers<const CFG: Config>() -> u32 {
        if CFG.pingpong { 1 } else { 2 }
    }

    /// Rows of a tile that a warpgroup computes.
    fn rows<const CFG: Config>() -> u32 {
        max(CFG.bm / readers::<CFG>(), 64)
    }

    /// Columns of a tile that a warpgroup computes.
    fn columns<const CFG: Config>() -> u32 {
        CFG.bn * CFG.bm / rows::<CFG>() / readers::<CFG>()
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
