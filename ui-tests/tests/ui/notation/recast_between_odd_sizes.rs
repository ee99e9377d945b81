//! One of the two element sizes must be a multiple of the other.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(recast(8:1, 12, 8));

fn main() {}
