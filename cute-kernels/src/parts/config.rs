//! The sizes of the tiles of a product.
//!
//! A tile is its `Config`, a point of a space: what its fields demand of each other is asserted when a kernel is expanded
//! (`Config::check`), stages, bands and buffers follow from the sizes (`Config::fitted`), and arrays of such points give the instances
//! (`#[instances(CFG in TILES)]`). The instances of a product are those of its types that read its matrices as they lie.

use kernels::Config;

/// The parts of the kernel language: import them into a module of kernels.
#[cute_runtime::kernels]
pub mod kernels {
    /// Sizes of a product, and how the warpgroups and the CTAs of a cluster divide it.
    #[derive(Eq)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    pub struct Config {
        /// Rows of a CTA's tile of D, a multiple of 64. Two warpgroups that share a tile have half of the rows each, unless it is
        /// divided `by_columns`.
        pub bm: u32,
        /// Columns of this tile, a multiple of 8.
        pub bn: u32,
        /// Whether two warpgroups that share a tile have half of its columns each, and all of its rows.
        pub by_columns: bool,
        /// Whether each warpgroup computes whole tiles of its own, in turns: one stores while the other multiplies. Otherwise both
        /// compute a tile together.
        pub pingpong: bool,
        /// Bytes along K of a stage.
        pub bk: u32,
        /// Rows of A in one TMA load if A may have fewer rows than a tile: rows past the end of A are not loaded. 0: all rows of the
        /// tile in one load.
        pub rows: u32,
        /// Stages of the ring, 2 or more.
        pub stages: u32,
        /// Rows of blocks of a band of `Tiles`.
        pub group: u32,
        /// CTAs of a cluster whose tiles lie below one another and share their loads of B.
        pub cluster_m: u32,
        /// CTAs of a cluster whose tiles lie side by side and share their loads of A.
        pub cluster_n: u32,
        /// CTAs of a cluster that compute one tile: each multiplies a part of K, then sums up a part of the columns.
        pub split: u32,
        /// Whether A is contiguous along M, not K: its tensor has the modes (K, M). Elements then have 16 or 32 bits. Elements of
        /// 32 bits go to registers before they are multiplied.
        pub a_mn: bool,
        /// Whether B is contiguous along N, not K: its tensor has the modes (K, N). Elements then have 16 bits.
        pub b_mn: bool,
        /// Bytes of shared memory in which a warpgroup puts together each of 64 rows of D, as `store_pieces_by_tma` takes them.
        pub d_bytes: u32,
        /// Whether the product is Dᵀ: rows of tiles are columns of D, and columns of tiles are rows of D.
        pub swapped: bool,
        /// Whether D is stored element by element, for rows that begin anywhere.
        pub by_element: bool,
        /// Whether the sums of each stage are multiplied by a factor and added to a second set of sums, in f32. Wgmma's own sums
        /// of elements of 8 bits keep 13 bits after the point.
        pub promote: bool,
    }

    impl Config {
        /// Warpgroups that read a stage.
        pub fn readers(self) -> u32 {
            if self.pingpong { 1 } else { 2 }
        }

        /// Alignment of the rows of D in bytes, where threads store D: vectors of 16 bytes, or elements of so many bits.
        pub fn unit(self, bits: u32) -> u32 {
            if self.by_element { bits / 8 } else { 16 }
        }

        /// The length of a row of D is a multiple of so many elements of so many bits.
        pub fn multiple(self, bits: u32) -> u32 {
            self.unit(bits) * 8 / bits
        }

        /// Whether A goes to registers before it is multiplied, if elements have so many bits: wgmma reads those of 32 bits from
        /// shared memory along K alone.
        pub fn from_registers(self, bits: u32) -> bool {
            self.a_mn && bits == 32
        }

        /// Sums of a thread: half of the columns of each 64 rows, and as many again for factors.
        pub fn sums(self) -> u32 {
            let columns = self.columns_each();
            self.rows_each() / 64 * if self.promote { columns } else { columns / 2 }
        }

        /// Rows of a tile that a warpgroup computes.
        pub fn rows_each(self) -> u32 {
            if self.by_columns {
                self.bm
            } else {
                self.bm / self.readers()
            }
        }

        /// Columns of a tile that a warpgroup computes.
        pub fn columns_each(self) -> u32 {
            if self.by_columns {
                self.bn / 2
            } else {
                self.bn
            }
        }

        /// Asserts what the fields demand of each other, for elements of so many bits.
        pub fn check(self, bits: u32) {
            let (bm, bn, stages, split) = (self.bm, self.bn, self.stages, self.split);
            let (cluster_m, cluster_n) = (self.cluster_m, self.cluster_n);
            let (rows, columns) = (self.rows_each(), self.columns_each());
            let bk = self.bk;
            assert!(
                bk == 128,
                "`bk` is {bk}: the rows of a stage have 128 bytes"
            );
            assert!(
                !(self.pingpong && self.by_columns),
                "`pingpong` and `by_columns` exclude each other: in turns, a warpgroup has all columns"
            );
            assert!(
                rows % 64 == 0 && rows > 0,
                "a warpgroup has {rows} rows of the {bm} of `bm`: they are a multiple of 64"
            );
            assert!(
                columns % 8 == 0 && columns > 0,
                "a warpgroup has {columns} columns of the {bn} of `bn`: they are a multiple of 8"
            );
            let parts = ceil_div(columns, 256);
            assert!(
                columns % (8 * parts) == 0,
                "a warpgroup has {columns} columns of `bn`: {parts} wgmma do not divide them into multiples of 8"
            );
            let sums = self.sums();
            assert!(
                sums <= 208,
                "a thread has {sums} sums of a tile of {bm} x {bn}: at most 208 fit its registers"
            );
            assert!(
                stages >= 2,
                "`stages` is {stages}: a stage is released after the next one is multiplied, so there are 2 or more"
            );
            let shared = stages * (bm + bn) * bk;
            assert!(
                shared <= 226 * 1024,
                "`stages` is {stages}, which have {shared} bytes for a tile of {bm} x {bn}: a CTA has 231424"
            );
            let few = self.rows;
            assert!(
                few == 0 || bm % few == 0 && few % 8 == 0 && !self.a_mn && cluster_n == 1,
                "`rows` is {few}: 0, or a multiple of 8 that divides `bm`, {bm}, for A along K that no CTAs share"
            );
            let ctas = cluster_m * cluster_n * split;
            assert!(
                ctas >= 1 && ctas <= 8,
                "`cluster_m`, `cluster_n` and `split` make clusters of {ctas} CTAs: a cluster has 1 to 8"
            );
            assert!(
                cluster_m == 1 || bn % (8 * cluster_m) == 0 && !self.b_mn,
                "`cluster_m` is {cluster_m}: that many CTAs share B along K, each a multiple of 8 of the {bn} rows of `bn`"
            );
            assert!(
                cluster_n == 1 || bm % (8 * cluster_n) == 0 && !self.a_mn,
                "`cluster_n` is {cluster_n}: that many CTAs share A along K, each a multiple of 8 of the {bm} rows of `bm`"
            );
            assert!(
                split == 1 || cluster_m * cluster_n == 1 && !self.pingpong && !self.promote,
                "`split` is {split}: K is divided for tiles that no other CTAs of the cluster share, neither `pingpong` nor `promote`"
            );
            assert!(
                split == 1 || rows == 64 && columns % (8 * split) == 0,
                "`split` is {split}: a warpgroup has {rows} x {columns}, not 64 rows and a multiple of 8 columns for each part"
            );
            assert!(
                self.group >= 1 && self.d_bytes >= 64,
                "`group` is 1 or more, and `d_bytes` 64 or more"
            );
            assert!(
                !self.a_mn || bits == 16 || bits == 32 && !self.promote && split == 1,
                "`a_mn` needs elements of 16 bits, or of 32 without `promote` and with a `split` of 1; they have {bits}"
            );
            assert!(
                !self.b_mn || bits == 16,
                "`b_mn` needs elements of 16 bits; they have {bits}"
            );
            assert!(
                !(self.swapped && self.by_element),
                "`swapped` and `by_element` exclude each other: elements are stored as they lie"
            );
        }
    }

    /// The largest tile: the most work for each byte that is loaded.
    pub const SINGLE: Config = Config {
        bm: 128,
        bn: 256,
        by_columns: false,
        pingpong: false,
        bk: 128,
        rows: 0,
        stages: 4,
        group: 8,
        cluster_m: 1,
        cluster_n: 1,
        split: 1,
        a_mn: false,
        b_mn: false,
        d_bytes: 256,
        swapped: false,
        by_element: false,
        promote: false,
    };

    /// Two CTAs a cluster, which share B.
    pub const PAIR: Config = Config {
        group: 4,
        cluster_m: 2,
        ..SINGLE
    };

    /// Half of the largest tile.
    pub const SQUARE: Config = Config {
        bn: 128,
        stages: 6,
        ..SINGLE
    };

    /// A quarter of the largest tile.
    pub const NARROW: Config = Config {
        bn: 64,
        stages: 8,
        d_bytes: 128,
        ..SINGLE
    };

    /// A quarter of the largest tile with 64 rows, for matrices A of few rows, and with K divided in two, so that more
    /// multiprocessors load B.
    pub const THIN: Config = Config {
        bm: 64,
        bn: 128,
        stages: 8,
        split: 2,
        by_columns: true,
        ..SINGLE
    };

    /// `THIN`'s tile and loads of 16 rows of A, with all of K, for matrices B that have enough tiles for all multiprocessors.
    pub const WHOLE: Config = Config {
        rows: 16,
        split: 1,
        ..THIN
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

    /// `SQUARE` for D whose rows begin anywhere.
    pub const SQUARE_BY_ELEMENT: Config = Config {
        by_element: true,
        ..SQUARE
    };

    /// `SQUARE_PROMOTED` for D whose rows begin anywhere.
    pub const SQUARE_PROMOTED_BY_ELEMENT: Config = Config {
        by_element: true,
        ..SQUARE_PROMOTED
    };
}

/// Bytes of shared memory of a CTA for the stages and for D: what the hardware has, but for barriers and the alignment of the first
/// tensor.
const SHARED: u32 = 227 * 1024 - 1536;

/// The most stages: more are never in flight at once.
const MOST_STAGES: u32 = 16;

impl Config {
    /// The sizes with as many `stages` as shared memory holds beside D, with the `d_bytes` in which up to four pieces of a row of
    /// D of 16-bit elements are stored, and with bands of eight tiles.
    pub const fn fitted(self) -> Self {
        let eighths = self.columns_of_warpgroup() / 8;
        let (few, buffered) = pieces(eighths, 16);
        let buffered = match few <= 4 {
            true => buffered,
            false => pieces(eighths, 32).1,
        };
        // Eight columns of 16 bits. A piece of f32 has eight columns, too, and there are two.
        let d_bytes = match buffered < 4 {
            true => 64,
            false => 16 * buffered,
        };
        let stages = (SHARED - 2 * 64 * d_bytes) / ((self.bm + self.bn) * self.bk);
        let group = match self.cluster_m {
            1..8 => 8 / self.cluster_m,
            _ => 1,
        };
        let stages = if stages < MOST_STAGES {
            stages
        } else {
            MOST_STAGES
        };
        Self {
            d_bytes,
            stages,
            group,
            ..self
        }
    }

    /// CTAs of a cluster.
    pub const fn ctas(self) -> u32 {
        self.cluster_m * self.cluster_n * self.split
    }

    /// Rows of a tile that a warpgroup computes.
    pub(crate) const fn rows_of_warpgroup(self) -> u32 {
        if self.by_columns || self.pingpong {
            self.bm
        } else {
            self.bm / 2
        }
    }

    /// Columns of a tile that a warpgroup computes.
    pub(crate) const fn columns_of_warpgroup(self) -> u32 {
        if self.by_columns {
            self.bn / 2
        } else {
            self.bn
        }
    }
}

/// The pieces of a row of D, and the eighths of eight columns in all of their buffers: the fewest equal pieces of which two fit `most`
/// eighths, or the only one does.
pub(crate) const fn pieces(eighths: u32, most: u32) -> (u32, u32) {
    let mut pieces = 1;
    loop {
        let buffers = if pieces < 2 { pieces } else { 2 };
        if eighths.is_multiple_of(pieces) && eighths / pieces * buffers <= most {
            return (pieces, eighths / pieces * buffers);
        }
        pieces += 1;
    }
}
