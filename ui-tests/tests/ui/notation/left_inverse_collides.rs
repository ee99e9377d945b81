//! A left inverse tells values apart.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(left_inverse((4,4):(1,2)));

fn main() {}
