//! A stride must divide the factor or be a multiple of it.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(upcast((4,8):(1,6), 4));

fn main() {}
