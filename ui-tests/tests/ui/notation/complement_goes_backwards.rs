//! A complement needs strides that are not negative.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(complement((2,3):(1,-2), 12));

fn main() {}
