//! A stride along two coordinates at the same time does not exist.

use cute_runtime::{Layout, layout};

const L: Layout = layout!((4,4):(1@0,1@1) o 4:5);

fn main() {}
