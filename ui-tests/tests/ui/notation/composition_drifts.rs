//! A stride of B whose multiples drift over a boundary of A.

use cute_runtime::{Layout, layout};

const L: Layout = layout!((5,3):(1,10) o 6:2);

fn main() {}
