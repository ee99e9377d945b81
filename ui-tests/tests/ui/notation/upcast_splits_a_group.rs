//! The extent of the contiguous mode must be a multiple of the factor.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(upcast((6,2):(1,8), 4));

fn main() {}
