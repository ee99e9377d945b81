//! A contiguous mode is whole groups.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(upcast((6,2):(1,8), 4));

fn main() {}
