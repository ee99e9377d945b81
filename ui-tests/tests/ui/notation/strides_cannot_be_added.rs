//! A stride along a coordinate and an integer have no sum.

use cute_runtime::{Layout, layout};

const L: Layout = layout!((4,5):(1@0,1));

fn main() {}
