//! A step along two coordinates at once is no stride.

use cute_runtime::{Layout, layout};

const L: Layout = layout!((4,4):(1@0,1@1) o 4:5);

fn main() {}
