//! `_` in a zipped divide does not say whether the mode is the tile or the rest.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(zipped_divide((4,8):(1,4), <2,_>));

fn main() {}
