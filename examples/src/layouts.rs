//! Layouts that programs use by their names: `use cute_examples::layouts::PADDED;`.

use cute_runtime::{layout, tile};

layout! {
    /// A tile of 32 × 32 whose rows are 33 elements apart, so that columns have no bank conflicts.
    pub PADDED = (32,32):(33,1);
}

tile! {
    /// The tiles of `PADDED`, 8 × 8 elements each.
    pub TILES = PADDED / <8,8>;
}
