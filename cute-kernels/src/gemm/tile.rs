//! The tiles for which there are instances.

use std::fmt;

use super::product::kernels::{
    Config, FEW, MEDIUM, NARROW, OBLONG, PAIR, SINGLE, SQUARE, THIN, WHOLE, WHOLE_96, WIDE,
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
    /// 64 × 128 with loads of 16 rows of A, by one CTA for all of K.
    Whole,
    /// 64 × 96 in the same way.
    Whole96,
    /// Up to 16 rows of one matrix by 16 or 32 of the other, which go from memory to registers.
    Streamed,
}

impl Tile {
    /// All tiles.
    pub const ALL: [Tile; 12] = [
        Tile::Single,
        Tile::Pair,
        Tile::Wide,
        Tile::Oblong,
        Tile::Square,
        Tile::Medium,
        Tile::Narrow,
        Tile::Thin,
        Tile::Few,
        Tile::Whole,
        Tile::Whole96,
        Tile::Streamed,
    ];

    /// Its sizes. `Streamed` has none of these.
    pub fn config(self) -> Option<Config> {
        Some(match self {
            Tile::Single => SINGLE,
            Tile::Pair => PAIR,
            Tile::Wide => WIDE,
            Tile::Oblong => OBLONG,
            Tile::Square => SQUARE,
            Tile::Medium => MEDIUM,
            Tile::Narrow => NARROW,
            Tile::Thin => THIN,
            Tile::Few => FEW,
            Tile::Whole => WHOLE,
            Tile::Whole96 => WHOLE_96,
            Tile::Streamed => return None,
        })
    }

    /// Whether its time was measured. One that was not is only used where it is asked for or [measured](super::Plan::autotune).
    pub(super) fn is_measured(self) -> bool {
        self != Tile::Streamed
    }

    /// Microseconds that a CTA takes for a stage, 128 bytes along K, measured on an H200 with all multiprocessors at work. That of
    /// `Streamed` is expected, for a part of K of each warp.
    pub(super) fn stage_time(self) -> f64 {
        match self {
            Tile::Single => 0.63,
            Tile::Pair => 0.65,
            Tile::Wide => 0.49,
            Tile::Oblong => 0.38,
            Tile::Square => 0.34,
            Tile::Medium => 0.26,
            Tile::Narrow => 0.22,
            Tile::Thin | Tile::Few | Tile::Whole => 0.20,
            Tile::Whole96 => 0.19,
            Tile::Streamed => 1.0,
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
        Ok(())
    }
}
