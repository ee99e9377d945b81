//! Strides that do not divide each other leave a hole.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(complement((2,2):(1,3), 12));

fn main() {}
