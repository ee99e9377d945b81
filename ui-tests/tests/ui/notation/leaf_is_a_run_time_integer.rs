//! Leaves are integers that are known at expansion.

use cute_runtime::{Layout, layout};

const L: Layout = layout!((m,4):(1,m));

fn main() {}
