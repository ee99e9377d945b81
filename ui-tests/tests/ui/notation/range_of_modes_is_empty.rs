//! A range of modes is one of modes that there are.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(group((4,8):(1,4), 2, 1));

fn main() {}
