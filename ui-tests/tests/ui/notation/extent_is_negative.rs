//! An extent must be at least 1.

use cute_runtime::{Layout, layout};

const L: Layout = layout!((4,(2,-8)):(1,(4,8)));

fn main() {}
