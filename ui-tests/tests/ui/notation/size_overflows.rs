//! The size of a layout must fit 64 bits.

use cute_runtime::{Layout, layout};

const L: Layout = layout!((9223372036854775807,2):(0,1));

fn main() {}
