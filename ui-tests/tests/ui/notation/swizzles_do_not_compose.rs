//! Two swizzles with different shifts compose only where the bits of values are those of coordinates.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(Sw<1,0,2> o Sw<3,0,3> o (3,25):(1,3));

fn main() {}
