//! There are as many modes as the rank.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(get((4,8):(1,4), 2));

fn main() {}
