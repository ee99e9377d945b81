//! An inverse needs a layout whose values are integers.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(right_inverse((4,5):(1@0,1@1)));

fn main() {}
