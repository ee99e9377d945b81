//! The argument that is too much is pointed at.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(coalesce(8:1, 1, 2:1));

fn main() {}
