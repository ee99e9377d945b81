//! An element has a size.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(recast(8:1, 0, 8));

fn main() {}
