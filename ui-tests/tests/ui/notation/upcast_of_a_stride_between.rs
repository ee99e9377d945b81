//! A stride is a multiple of the factor or divides it.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(upcast((4,8):(1,6), 4));

fn main() {}
