//! The two fields of a swizzle must not overlap.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(Sw<3,4,2> o (8,8):(8,1));

fn main() {}
