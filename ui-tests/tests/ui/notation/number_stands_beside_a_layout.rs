//! In a tuple of layouts, every element must be a layout.

use cute_runtime::{Layout, layout};

const L: Layout = layout!((4:1, 3));

fn main() {}
