//! A keyword of Rust cannot be the name of a layout.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(fn o 4:1);

fn main() {}
