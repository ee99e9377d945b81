//! Only layouts stand beside layouts.

use cute_runtime::{Layout, layout};

const L: Layout = layout!((4:1, 3));

fn main() {}
