//! The index of a mode must be below the rank.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(get((4,8):(1,4), 2));

fn main() {}
