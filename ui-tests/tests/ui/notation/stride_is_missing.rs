//! A colon wants a stride.

use cute_runtime::{Layout, layout};

const L: Layout = layout!((4,8):);

fn main() {}
