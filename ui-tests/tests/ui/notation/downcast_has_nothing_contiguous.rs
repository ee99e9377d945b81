//! An element is split along the mode with stride 1.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(downcast(4:2, 2));

fn main() {}
