//! Two swizzles compose only if their shifts are equal.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(Sw<2,0,3> o Sw<2,0,4> o 8:1);

fn main() {}
