//! A copy fits between the multiples of each stride.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(logical_product((2,2):(2,3), 4:1));

fn main() {}
