//! A keyword of Rust names no layout.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(fn o 4:1);

fn main() {}
