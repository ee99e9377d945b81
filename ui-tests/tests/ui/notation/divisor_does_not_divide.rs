//! A tile must divide what it tiles.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(logical_divide(10:1, 4:1));

fn main() {}
