//! A complement needs a layout whose values are integers.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(complement((4,5):(1@0,1@1), 20));

fn main() {}
