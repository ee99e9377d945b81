//! The values of B must be coordinates of A.

use cute_runtime::{Layout, layout};

const L: Layout = layout!((4,4):(1,4) o 2:1@2);

fn main() {}
