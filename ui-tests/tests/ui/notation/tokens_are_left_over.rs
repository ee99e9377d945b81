//! Tokens after a complete expression are an error.

use cute_runtime::{Layout, layout};

const L: Layout = layout!((4,8):(1,4) (2));

fn main() {}
