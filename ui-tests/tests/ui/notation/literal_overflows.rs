//! Integers have 64 bits.

use cute_runtime::{Layout, layout};

const L: Layout = layout!((4,99999999999999999999):(1,4));

fn main() {}
