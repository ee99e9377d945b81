//! Without `ragged`, the tile must divide the layout.

use cute_runtime::{Tiling, tile};

const T: Tiling = tile!((10,7):(7,1) / <4,7>);

fn main() {}
