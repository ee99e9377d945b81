//! The tiles for which there are instances.

use std::fmt;

use super::config::kernels::{
    BROAD, Config, FEW, MEDIUM, MEDIUM_112, NARROW_2, NARROW_IN_TURNS, OBLONG, PAIR, SINGLE, SMALL,
    SQUARE, SQUARE_2, SQUARE_PAIR, SWAPPED, SWAPPED_80, SWAPPED_112, SWAPPED_THIN, SWAPPED_THIN_80,
    THIN, THIN_4, THIN_8, THIN_PAIR, WHOLE, WHOLE_96, WIDE,
};

/// The enum of the tiles from a table. A row has the documentation, the name, the sizes and the time of a stage.
macro_rules! tiles {
    ($($(#[$doc:meta])* $name:ident: $config:expr, $stage_time:literal;)*) => {
        /// A tile of D that a CTA, or a cluster of CTAs, computes at a time.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[non_exhaustive]
        pub enum Tile {
            $($(#[$doc])* $name,)*
        }

        impl Tile {
            /// All tiles.
            pub const ALL: [Tile; [$(Tile::$name),*].len()] = [$(Tile::$name),*];

            /// The sizes of the tile, and the time of a stage.
            fn row(self) -> (Option<Config>, f64) {
                match self {
                    $(Tile::$name => ($config, $stage_time),)*
                }
            }
        }
    };
}

tiles! {
    /// 128 × 256.
    Single: Some(SINGLE), 0.624;
    /// 128 × 256 by each of two CTAs, which share their loads of B.
    Pair: Some(PAIR), 0.654;
    /// 128 × 192 by each of two warpgroups in turn: one stores while the other multiplies.
    Wide: Some(WIDE), 0.481;
    /// 128 × 208.
    Broad: Some(BROAD), 0.562;
    /// 128 × 144.
    Oblong: Some(OBLONG), 0.428;
    /// 128 × 128. A product of matrices along K has `SquarePair` in its place.
    Square: Some(SQUARE), 0.366;
    /// 128 × 128 by each of two CTAs, which share their loads of B.
    SquarePair: Some(SQUARE_PAIR), 0.394;
    /// 128 × 112 by each of two warpgroups in turn.
    Medium112: Some(MEDIUM_112), 0.344;
    /// 128 × 96 by each of two warpgroups in turn.
    Medium: Some(MEDIUM), 0.3;
    /// 128 × 64 by each of two warpgroups in turn.
    Narrow: Some(NARROW_IN_TURNS), 0.231;
    /// 64 × 64 by each of two warpgroups in turn.
    Small: Some(SMALL), 0.142;
    /// 64 × 128 by two CTAs, each for half of K.
    Thin: Some(THIN), 0.193;
    /// 64 × 128 by four CTAs, each for a quarter of K.
    Thin4: Some(THIN_4), 0.655;
    /// 64 × 128 by eight CTAs, each for an eighth of K.
    Thin8: Some(THIN_8), 0.637;
    /// 64 × 128 by two CTAs, each for half of K, with loads of 16 rows of A.
    Few: Some(FEW), 0.129;
    /// 128 × 128 by two CTAs, each for half of K.
    Square2: Some(SQUARE_2), 0.337;
    /// 128 × 64 by two CTAs, each for half of K.
    Narrow2: Some(NARROW_2), 0.205;
    /// 64 × 128 with loads of 16 rows of A, by one CTA for all of K: for B along N, groups and lists.
    Whole: Some(WHOLE), 0.311;
    /// 64 × 96 in the same way, for matrices along K.
    Whole96: Some(WHOLE_96), 0.246;
    /// 64 × 128 by each of two warpgroups in turn, in two CTAs that share their loads of B.
    ThinPair: Some(THIN_PAIR), 0.272;
    /// 112 rows of A by 128 of B, by each of two warpgroups in turn, in two CTAs that share their loads of A.
    Swapped112: Some(SWAPPED_112), 0.383;
    /// 96 rows of A by 128 of B in the same way.
    Swapped: Some(SWAPPED), 0.333;
    /// 96 rows of A by 64 of B, by each of two warpgroups in turn.
    SwappedThin: Some(SWAPPED_THIN), 0.187;
    /// 80 rows of A by 128 of B, by each of two warpgroups in turn.
    Swapped80: Some(SWAPPED_80), 0.294;
    /// 80 rows of A by 64 of B, by each of two warpgroups in turn.
    SwappedThin80: Some(SWAPPED_THIN_80), 0.183;
    /// Up to 16 rows of one matrix by 16 or 32 of the other, which go from memory to registers.
    Streamed: None, 0.85;
}

impl Tile {
    /// The sizes of the tile; `None` for `Streamed`, which has no tiles in shared memory.
    pub fn config(self) -> Option<Config> {
        self.row().0
    }

    /// The sizes for A along M if `a`, and B along N if `b`. With elements of 4 bytes, only the kernel's A can be along its rows,
    /// so rows of B along N become rows of the tile.
    pub(super) fn along(self, [a, b]: [bool; 2], bytes: usize) -> Option<Config> {
        self.config().map(|config| {
            let swapped = config.swapped || b && bytes == 4;
            let (a_mn, b_mn) = if swapped { (b, a) } else { (a, b) };
            Config {
                a_mn,
                b_mn,
                swapped,
                ..config
            }
        })
    }

    /// Microseconds of a CTA for a stage, 128 bytes along K, with all multiprocessors at work; for `Streamed`, of a CTA for one
    /// part of K of each of its warps. They fit the model best to the measured times of bf16, f32 and e4m3 products on an H100.
    pub(super) fn stage_time(self) -> f64 {
        self.row().1
    }
}

impl fmt::Display for Tile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Sizes(self.config()).fmt(f)
    }
}

/// Sizes as text: rows and columns of D, and how they are computed.
pub(super) struct Sizes(pub(super) Option<Config>);

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(Config {
            bm,
            bn,
            rows,
            cluster_m,
            cluster_n,
            split,
            pingpong,
            swapped,
            ..
        }) = self.0
        else {
            return write!(f, "few rows, from memory to registers");
        };
        let (height, width) = if swapped { (bn, bm) } else { (bm, bn) };
        write!(f, "{height} x {width}")?;
        if cluster_m * cluster_n > 1 {
            write!(f, " in clusters of {cluster_m} x {cluster_n}")?;
        }
        if split > 1 {
            write!(f, ", K divided by {split}")?;
        }
        if rows < bm {
            write!(f, ", A loaded by {rows} rows")?;
        }
        if pingpong {
            write!(f, ", by warpgroups in turns")?;
        }
        if swapped {
            write!(f, ", stored transposed")?;
        }
        Ok(())
    }
}
