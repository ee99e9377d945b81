//! Blocked and raked products take two layouts.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(raked_product((4,8):(1,4), <2,2>));

fn main() {}
