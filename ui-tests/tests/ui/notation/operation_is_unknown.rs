//! A misspelt operation names the nearest one.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(compositon((6,2):(8,2), 3:1));

fn main() {}
