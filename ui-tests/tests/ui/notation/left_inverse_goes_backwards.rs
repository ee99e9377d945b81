//! A left inverse needs strides that are not negative.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(left_inverse((4,8):(-1,4)));

fn main() {}
