//! 24 and (24) are different shapes.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(24:(1));

fn main() {}
