//! A tile must not have a value twice.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(zipped_divide((4,8):(1,4), (4,2):(1,0)));

fn main() {}
