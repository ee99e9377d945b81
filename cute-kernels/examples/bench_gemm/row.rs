//! The rows of the table.

use cute_kernels::Tile;
use serde_json::{Value, json};

use crate::shapes::{Shape, Types};

/// An error is suspect that is so many times that of cuBLASLt.
pub(crate) const WRONG: f64 = 10.0;

/// One side of a comparison.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Side {
    /// TFLOP/s.
    pub(crate) speed: f64,
    /// The largest error, as `reference::gemm` defines it.
    pub(crate) error: f64,
}

/// The measurement of one product.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    /// By what ours is computed.
    pub(crate) tile: String,
    /// The measured tiles, with the expected and the measured microseconds of each.
    pub(crate) tiles: Vec<(Tile, f64, f64)>,
    pub(crate) ours: Side,
    /// None where cuBLASLt has no algorithm.
    pub(crate) theirs: Option<Side>,
}

/// A row of the table.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) class: String,
    pub(crate) shape: Shape,
    pub(crate) types: Types,
    pub(crate) measured: Measured,
}

impl Row {
    /// Our speed divided by cuBLASLt's.
    pub(crate) fn ratio(&self) -> Option<f64> {
        let Measured { ours, theirs, .. } = &self.measured;
        theirs.map(|theirs| ours.speed / theirs.speed)
    }

    /// Whether our error is so large beside cuBLASLt's that the product is likely wrong.
    pub(crate) fn is_wrong(&self) -> bool {
        let Measured { ours, theirs, .. } = &self.measured;
        theirs.is_some_and(|theirs| ours.error > WRONG * theirs.error.max(1e-6))
    }

    pub(crate) fn json(&self) -> Value {
        let side = |side: Side| json!({ "tflops": side.speed, "error": side.error });
        let Measured {
            tile,
            tiles,
            ours,
            theirs,
        } = &self.measured;
        let tiles = tiles.iter().map(|(tile, expected, measured)| {
            json!({ "tile": tile.to_string(), "expected_us": expected, "us": measured })
        });
        json!({
            "class": self.class,
            "shape": self.shape.to_string(),
            "majors": self.shape.majors(),
            "input": self.types.0.to_string(),
            "output": self.types.1.to_string(),
            "tile": tile,
            "tiles": tiles.collect::<Vec<_>>(),
            "ours": side(*ours),
            "cublaslt": theirs.map(side),
            "ratio": self.ratio(),
        })
    }
}
