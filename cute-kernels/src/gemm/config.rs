//! The sizes of the tiles of a GEMM.

/// The parts of the kernel language: import them into a module of kernels.
#[cute_runtime::kernels]
pub mod kernels {
    /// Sizes of a GEMM.
    pub struct Config {
        /// Rows of a CTA's tile of D, a multiple of 64. Two warpgroups that share a tile have half of the rows each, unless it is divided `by_columns`.
        pub bm: u32,
        /// Columns of this tile.
        pub bn: u32,
        /// Whether two warpgroups that share a tile have half of its columns each, and all of its rows.
        pub by_columns: bool,
        /// Bytes along K of a stage.
        pub bk: u32,
        /// Rows of A in one TMA load. If they are fewer than the rows of the tile, rows past the end of A are not loaded.
        pub rows: u32,
        /// Stages of the ring.
        pub stages: u32,
        /// Tile rows of a band of `Tiles`.
        pub group: u32,
        /// CTAs of a cluster whose tiles lie below one another and share their loads of B.
        pub cluster_m: u32,
        /// CTAs of a cluster whose tiles lie side by side and share their loads of A.
        pub cluster_n: u32,
        /// CTAs of a cluster that compute one tile: each multiplies a part of K, then sums up a part of the columns. If there are
        /// several, `cluster_m` and `cluster_n` are 1.
        pub split: u32,
        /// Whether A is contiguous along M, not K: its tensor has the modes (K, M). Elements then have 16 or 32 bits. Elements of
        /// 32 bits go to registers before they are multiplied, and `split` is 1.
        pub a_mn: bool,
        /// Whether B is contiguous along N, not K: its tensor has the modes (K, N). Elements then have 16 bits, and `cluster_m` is 1.
        pub b_mn: bool,
        /// Lines of 128 bytes for each row of D that a warpgroup has in shared memory, as `store_pieces_by_tma` takes them.
        pub lines: u32,
        /// Whether each warpgroup computes whole tiles of its own: one stores while the other multiplies, and `split` is 1.
        /// Otherwise both compute a tile together.
        pub pingpong: bool,
        /// Whether the product is Dᵀ: rows of tiles are columns of D, and columns of tiles are rows of D. Then `split` is 1, or
        /// the columns of each part are a multiple of 8.
        pub swapped: bool,
        /// Whether the sums of each stage are multiplied by a factor and added to a second set of sums, in f32. Wgmma's own sums
        /// of elements of 8 bits keep 13 bits after the point.
        pub promote: bool,
    }

    /// The largest tile: the most work for each byte that is loaded.
    pub const SINGLE: Config = Config {
        bm: 128,
        bn: 256,
        by_columns: false,
        bk: 128,
        rows: 128,
        stages: 4,
        group: 16,
        cluster_m: 1,
        cluster_n: 1,
        split: 1,
        a_mn: false,
        b_mn: false,
        lines: 2,
        pingpong: false,
        swapped: false,
        promote: false,
    };

    /// Two CTAs a cluster, for rows that are not whole cache lines.
    pub const PAIR: Config = Config {
        cluster_m: 2,
        ..SINGLE
    };

    /// Three quarters of the largest tile for each warpgroup in turn: one stores while the other multiplies.
    pub const WIDE: Config = Config {
        bn: 192,
        lines: 4,
        pingpong: true,
        ..SINGLE
    };

    /// A little more than half of the largest tile: 1536 × 1536 elements are 132 of them, one for each multiprocessor. With fewer
    /// stages and rows in a band, CTAs load the same rows closer together in time, and share more loads from the L2 cache.
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
    pub const SQUARE_PAIR: Config = Config {
        cluster_m: 2,
        ..SQUARE
    };

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
        by_columns: true,
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

    /// A quarter of the largest tile with 64 rows, by each warpgroup in turn, in two CTAs that share their loads of B: for rows
    /// that are not whole cache lines, and for matrices for which smaller tiles would exceed the bandwidth of the L2 cache.
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
        cluster_m: 2,
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
        cluster_m: 1,
        ..SWAPPED
    };

    /// 128 rows of B by 80 of A, each CTA of its own, for 80, 160 and 320 rows.
    pub const SWAPPED_80: Config = Config {
        bn: 80,
        stages: 7,
        cluster_m: 1,
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

    /// Half of the largest tile for A along M.
    pub const SQUARE_NN: Config = Config {
        a_mn: true,
        ..SQUARE
    };

    /// Half of the largest tile for A along M and B along N.
    pub const SQUARE_NT: Config = Config {
        b_mn: true,
        ..SQUARE_NN
    };

    /// Half of the largest tile for B along N.
    pub const SQUARE_TT: Config = Config {
        b_mn: true,
        ..SQUARE
    };

    /// A quarter of the largest tile for A along M, as the next two by each warpgroup in turn.
    pub const NARROW_NN: Config = Config {
        a_mn: true,
        ..NARROW_IN_TURNS
    };

    /// A quarter of the largest tile for A along M and B along N.
    pub const NARROW_NT: Config = Config {
        b_mn: true,
        ..NARROW_NN
    };

    /// A quarter of the largest tile for B along N.
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

    /// Half of the largest tile for factors of each stage. With the largest tile, a thread would have 256 sums.
    pub const SQUARE_PROMOTED: Config = Config {
        promote: true,
        ..SQUARE
    };

    /// A quarter of the largest tile for factors of each stage.
    pub const NARROW_PROMOTED: Config = Config {
        promote: true,
        ..NARROW
    };
}
