//! A range of modes must contain at least one mode.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(group((4,8):(1,4), 2, 1));

fn main() {}
