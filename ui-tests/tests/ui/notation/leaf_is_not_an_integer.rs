//! Extents must be integers.

use cute_runtime::{Layout, layout};

const L: Layout = layout!((4.5,8):(1,4));

fn main() {}
