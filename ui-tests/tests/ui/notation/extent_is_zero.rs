//! An extent must be at least 1.

use cute_runtime::{Layout, layout};

const L: Layout = layout!((4,0):(1,4));

fn main() {}
