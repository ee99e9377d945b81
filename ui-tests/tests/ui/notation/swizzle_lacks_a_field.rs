//! A swizzle must have three numbers.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(Sw<3,4> o (8,8):(8,1));

fn main() {}
