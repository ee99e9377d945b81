//! The sum of several modes of B carries over a boundary of A.

use cute_runtime::{Layout, layout};

const L: Layout = layout!((4,4):(1,10) o (2,2):(3,1));

fn main() {}
