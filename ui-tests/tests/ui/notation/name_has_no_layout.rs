//! The name is not declared.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(MISSING o 4:1);

fn main() {}
