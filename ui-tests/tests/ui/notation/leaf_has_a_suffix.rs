//! Integers have no type suffix.

use cute_runtime::{Layout, layout};

const L: Layout = layout!((4u32,8):(1,4));

fn main() {}
