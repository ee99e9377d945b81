//! The tiles for which there are instances.

use std::fmt;

use super::product::kernels::{
    Config, FEW, MEDIUM, MEDIUM_2, NARROW, NARROW_2, NARROW_PAIR, OBLONG, PAIR, PINGPONG, SINGLE,
    SQUARE, SQUARE_2, THIN, WHOLE, WHOLE_96, WIDE,
};

/// A tile of D that a CTA, or a cluster of CTAs, computes at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Tile {
    /// 128 × 256.
    Single,
    /// 128 × 256 by each of two CTAs, which share what they load of B.
    Pair,
    /// 128 × 192.
    Wide,
    /// 128 × 144.
    Oblong,
    /// 128 × 128.
    Square,
    /// 128 × 96.
    Medium,
    /// 128 × 64.
    Narrow,
    /// 64 × 128 by two CTAs, each for half of K.
    Thin,
    /// The same, with loads of 16 rows of A.
    Few,
    /// 128 × 128 by two CTAs, each for half of K.
    Square2,
    /// 128 × 96 by two CTAs, each for half of K.
    Medium2,
    /// 128 × 64 by two CTAs, each for half of K.
    Narrow2,
    /// 64 × 128 with loads of 16 rows of A, by one CTA for all of K.
    Whole,
    /// 64 × 96 in the same way.
    Whole96,
    /// 64 × 128 by each of two CTAs, which share what they load of B.
    NarrowPair,
    /// 64 × 256 by each of two CTAs, which share what they load of B. The two warpgroups of a CTA compute tiles in turns: one stores
    /// while the other multiplies.
    Pingpong,
    /// Up to 16 rows of one matrix by 16 or 32 of the other, which go from memory to registers.
    Streamed,
}

impl Tile {
    /// All tiles.
    pub const ALL: [Tile; 17] = [
        Tile::Single,
        Tile::Pair,
        Tile::Wide,
        Tile::Oblong,
        Tile::Square,
        Tile::Medium,
        Tile::Narrow,
        Tile::Thin,
        Tile::Few,
        Tile::Square2,
        Tile::Medium2,
        Tile::Narrow2,
        Tile::Whole,
        Tile::Whole96,
        Tile::NarrowPair,
        Tile::Pingpong,
        Tile::Streamed,
    ];

    /// Its sizes. `Streamed` has no tiles in shared memory, and sizes of its own.
    pub fn config(self) -> Option<Config> {
        self.row().0
    }

    /// Microseconds that a CTA takes for a stage, 128 bytes along K, with all multiprocessors at work, and that `Streamed` takes for a part of
    /// K of each of its warps: those with which the model fits best what an H200 took for products of all types.
    pub(super) fn stage_time(self) -> f64 {
        self.row().1
    }

    /// Its sizes, and the time of a stage.
    fn row(self) -> (Option<Config>, f64) {
        match self {
            Tile::Single => (Some(SINGLE), 0.638),
            Tile::Pair => (Some(PAIR), 0.668),
            Tile::Wide => (Some(WIDE), 0.500),
            Tile::Oblong => (Some(OBLONG), 0.389),
            Tile::Square => (Some(SQUARE), 0.326),
            Tile::Medium => (Some(MEDIUM), 0.286),
            Tile::Narrow => (Some(NARROW), 0.225),
            Tile::Thin => (Some(THIN), 0.241),
            Tile::Few => (Some(FEW), 0.159),
            Tile::Square2 => (Some(SQUARE_2), 0.386),
            Tile::Medium2 => (Some(MEDIUM_2), 0.328),
            Tile::Narrow2 => (Some(NARROW_2), 0.239),
            Tile::Whole => (Some(WHOLE), 0.222),
            Tile::Whole96 => (Some(WHOLE_96), 0.210),
            Tile::NarrowPair => (Some(NARROW_PAIR), 0.276),
            Tile::Pingpong => (Some(PINGPONG), 0.433),
            Tile::Streamed => (None, 1.12),
        }
    }
}

impl fmt::Display for Tile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(Config {
            bm,
            bn,
            rows,
            ctas,
            split,
            pingpong,
            ..
        }) = self.config()
        else {
            return write!(f, "few rows, from memory to registers");
        };
        write!(f, "{bm} x {bn}")?;
        if ctas > 1 {
            write!(f, " in clusters of {ctas}")?;
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
        Ok(())
    }
}
