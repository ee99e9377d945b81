//! The error for a misspelt operation suggests the nearest name.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(compositon((6,2):(8,2), 3:1));

fn main() {}
