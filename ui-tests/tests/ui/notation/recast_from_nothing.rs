//! An element must have at least 1 bit.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(recast(8:1, 0, 8));

fn main() {}
