//! A swizzle must stay within the bits of an offset.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(Sw<3,61,3> o 8:1);

fn main() {}
