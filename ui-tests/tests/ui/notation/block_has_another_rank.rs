//! The block must have as many modes as the shape.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(tile_to_shape((8,64):(64,1), 128));

fn main() {}
