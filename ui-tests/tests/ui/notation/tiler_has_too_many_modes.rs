//! A tiler has at most as many modes as the layout.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(zipped_divide((4,8):(1,4), <2,2,2>));

fn main() {}
