//! `tile!` needs a layout and a tiler.

use cute_runtime::{Tiling, tile};

const T: Tiling = tile!((8,8):(8,1));

fn main() {}
