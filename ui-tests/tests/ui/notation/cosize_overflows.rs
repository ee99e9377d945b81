//! The values of a layout must fit 64 bits.

use cute_runtime::{Layout, layout};

const L: Layout = layout!((4,2):(1,9223372036854775807));

fn main() {}
