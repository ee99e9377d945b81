//! The values of B must be below the size of A.

use cute_runtime::{Layout, layout};

const L: Layout = layout!((2,5):(5,1) o 12:1);

fn main() {}
