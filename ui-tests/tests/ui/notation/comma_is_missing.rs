//! Modes must be separated by commas.

use cute_runtime::{Layout, layout};

const L: Layout = layout!((4 8):(1,4));

fn main() {}
