//! `nullspace` takes a swizzled layout whose value at 0 is 0.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(nullspace(Sw<2,0,3> o 1 o (8,8):(8,1)));

fn main() {}
