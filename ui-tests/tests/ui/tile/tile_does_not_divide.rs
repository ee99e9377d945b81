//! Without `ragged`, tiles end where the layout ends.

use cute_runtime::{Tiling, tile};

const T: Tiling = tile!((10,7):(7,1) / <4,7>);

fn main() {}
