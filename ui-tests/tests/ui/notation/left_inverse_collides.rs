//! A left inverse needs different values for different coordinates.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(left_inverse((4,4):(1,2)));

fn main() {}
