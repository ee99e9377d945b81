//! The error names the first value that no layout has.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(from_table(0, 1, 3, 2));

fn main() {}
