//! Modes of B that carry over a boundary of A together.

use cute_runtime::{Layout, layout};

const L: Layout = layout!((4,4):(1,10) o (2,2):(3,1));

fn main() {}
