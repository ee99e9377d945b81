//! `nullspace` takes a layout without a swizzle.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(nullspace(Sw<2,0,3> o (8,8):(8,1)));

fn main() {}
