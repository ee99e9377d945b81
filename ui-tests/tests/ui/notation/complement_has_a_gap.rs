//! A stride that is not a multiple of the smaller ones leaves a gap that no layout fills.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(complement((2,2):(1,3), 12));

fn main() {}
