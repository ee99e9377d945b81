//! The result is no layout.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(<2, 4>);

fn main() {}
