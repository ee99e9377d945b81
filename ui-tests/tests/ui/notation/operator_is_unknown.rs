//! There is no operator `*`: products are operations with names.

use cute_runtime::{Layout, layout};

const L: Layout = layout!((4,8):(1,4) * 2);

fn main() {}
