//! Not even a ragged tile may cut a mode in the middle.

use cute_runtime::{Tiling, tile};

const T: Tiling = tile!(ragged (12,10):(10,1) / 32);

fn main() {}
