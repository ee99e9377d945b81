//! `ragged` must stand before an operation.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(ragged 4:1);

fn main() {}
