//! The error points at the first argument that is too many.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(coalesce(8:1, 1, 2:1));

fn main() {}
