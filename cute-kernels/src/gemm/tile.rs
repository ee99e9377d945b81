//! The tiles for which there are instances.

use std::fmt;

use super::product::kernels::{
    BUFFERED, Config, FEW, MEDIUM, NARROW, NARROW_PAIR, OBLONG, PAIR, PINGPONG, PINGPONG_192,
    SINGLE, SQUARE, THIN, WHOLE, WHOLE_96, WIDE,
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
    /// 64 × 128 by each of two CTAs, which share what they load of B.
    NarrowPair,
    /// 128 × 256, with all of the tile in shared memory while it is stored.
    Buffered,
    /// 64 × 256 by each of two CTAs, which share what they load of B. The two warpgroups of a CTA compute tiles in turns: one stores
    /// while the other multiplies.
    Pingpong,
    /// 64 × 192 in the same way.
    Pingpong192,
    /// Up to 16 rows of one matrix by 16 or 32 of the other, which go from memory to registers.
    Streamed,
}

/// What is known of a tile.
struct Row {
    config: Option<Config>,
    stage_time: f64,
    measured: bool,
}

impl Tile {
    /// All tiles.
    pub const ALL: [Tile; 16] = [
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
        Tile::NarrowPair,
        Tile::Buffered,
        Tile::Pingpong,
        Tile::Pingpong192,
        Tile::Streamed,
    ];

    /// Its sizes. `Streamed` has no tiles in shared memory, and sizes of its own.
    pub fn config(self) -> Option<Config> {
        self.row().config
    }

    /// Microseconds that a CTA takes for a stage, 128 bytes along K, with all multiprocessors at work: measured on an H200, or
    /// expected by the time of a tile like it. That of `Streamed` is expected for a part of K of each of its warps.
    pub(super) fn stage_time(self) -> f64 {
        self.row().stage_time
    }

    /// Whether its time was measured. One that was not is only used where it is asked for or [measured](super::Plan::autotune).
    pub(super) fn is_measured(self) -> bool {
        self.row().measured
    }

    fn row(self) -> Row {
        let measured = |config, stage_time| Row {
            config: Some(config),
            stage_time,
            measured: true,
        };
        let expected = |config, stage_time| Row {
            measured: false,
            ..measured(config, stage_time)
        };
        match self {
            Tile::Single => measured(SINGLE, 0.63),
            Tile::Pair => measured(PAIR, 0.65),
            Tile::Wide => measured(WIDE, 0.49),
            Tile::Oblong => measured(OBLONG, 0.38),
            Tile::Square => measured(SQUARE, 0.34),
            Tile::Medium => measured(MEDIUM, 0.26),
            Tile::Narrow => measured(NARROW, 0.22),
            Tile::Thin => measured(THIN, 0.20),
            Tile::Few => measured(FEW, 0.20),
            Tile::Whole => measured(WHOLE, 0.20),
            Tile::Whole96 => measured(WHOLE_96, 0.19),
            Tile::NarrowPair => expected(NARROW_PAIR, 0.22),
            Tile::Buffered => expected(BUFFERED, 0.63),
            Tile::Pingpong => expected(PINGPONG, 0.34),
            Tile::Pingpong192 => expected(PINGPONG_192, 0.27),
            Tile::Streamed => Row {
                config: None,
                stage_time: 1.0,
                measured: false,
            },
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
            buffers,
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
        if buffers > SINGLE.buffers {
            write!(f, ", stored from {buffers} buffers")?;
        }
        Ok(())
    }
}
