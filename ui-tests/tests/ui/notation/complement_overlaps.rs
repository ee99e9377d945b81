//! A layout that has a value twice has no complement.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(complement((2,2):(1,1), 8));

fn main() {}
