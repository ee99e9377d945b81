//! The blocks of a layout must fill the target of its complement.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(complement(4:1, 6));

fn main() {}
