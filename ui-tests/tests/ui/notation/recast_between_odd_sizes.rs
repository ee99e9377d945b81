//! One size of elements is a multiple of the other.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(recast(8:1, 12, 8));

fn main() {}
