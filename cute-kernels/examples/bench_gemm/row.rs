//! What was measured of one product.

use serde_json::{Value, json};

use crate::shapes::{Shape, Types};

/// One side of a comparison.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Side {
    /// TFLOP/s.
    pub(crate) speed: f64,
    /// The largest error, as `reference::gemm` defines it.
    pub(crate) error: f64,
}

/// A row of the table.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) class: String,
    pub(crate) shape: Shape,
    pub(crate) types: Types,
    pub(crate) tile: String,
    pub(crate) ours: Side,
    /// None where cuBLASLt has no algorithm.
    pub(crate) theirs: Option<Side>,
}

impl Row {
    /// The speed of ours over that of cuBLASLt.
    pub(crate) fn ratio(&self) -> Option<f64> {
        self.theirs.map(|theirs| self.ours.speed / theirs.speed)
    }

    pub(crate) fn json(&self) -> Value {
        let side = |side: Side| json!({ "tflops": side.speed, "error": side.error });
        json!({
            "class": self.class,
            "shape": self.shape.to_string(),
            "majors": self.shape.majors(),
            "input": self.types.0.to_string(),
            "output": self.types.1.to_string(),
            "tile": self.tile,
            "ours": side(self.ours),
            "cublaslt": self.theirs.map(side),
            "ratio": self.ratio(),
        })
    }
}
