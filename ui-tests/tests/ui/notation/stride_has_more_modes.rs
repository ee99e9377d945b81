//! Shape and stride must have the same number of modes.

use cute_runtime::{Layout, layout};

const L: Layout = layout!((4,(2,8)):(1,(2,4,8)));

fn main() {}
