//! `ragged` must stand before an operation that can round up.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(ragged coalesce(8:1));

fn main() {}
