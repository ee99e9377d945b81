//! The multiples of a stride of B cross a boundary of A at irregular steps.

use cute_runtime::{Layout, layout};

const L: Layout = layout!((5,3):(1,10) o 6:2);

fn main() {}
