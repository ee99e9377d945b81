//! A ragged tile still must not cut through the middle of a mode.

use cute_runtime::{Tiling, tile};

const T: Tiling = tile!(ragged (12,10):(10,1) / 32);

fn main() {}
