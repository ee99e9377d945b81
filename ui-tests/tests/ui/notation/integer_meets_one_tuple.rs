//! 24 and (24) differ.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(24:(1));

fn main() {}
