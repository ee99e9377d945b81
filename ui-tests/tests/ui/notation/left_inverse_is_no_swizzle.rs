//! The left inverse of this swizzled layout is not a swizzled layout.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(left_inverse(Sw<2,0,3> o (2,4):(1,8)));

fn main() {}
