//! A shape as tiler divides mode by mode.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(composition((4,8):(1,4), (2,4,2)));

fn main() {}
