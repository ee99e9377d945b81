//! A stride must follow a colon.

use cute_runtime::{Layout, layout};

const L: Layout = layout!((4,8):);

fn main() {}
