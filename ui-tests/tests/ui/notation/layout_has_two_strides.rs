//! A layout must have one stride.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(4:1:2);

fn main() {}
