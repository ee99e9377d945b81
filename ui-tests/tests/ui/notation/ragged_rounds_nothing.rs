//! ragged belongs to operations that round up.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(ragged coalesce(8:1));

fn main() {}
