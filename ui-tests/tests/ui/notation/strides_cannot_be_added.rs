//! A stride along a coordinate and an integer stride cannot be added.

use cute_runtime::{Layout, layout};

const L: Layout = layout!((4,5):(1@0,1));

fn main() {}
