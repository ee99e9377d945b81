//! A tile and a rest are made of each mode.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(zipped_divide((4,8):(1,4), <2,_>));

fn main() {}
