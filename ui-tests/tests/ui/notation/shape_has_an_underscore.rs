//! An underscore keeps a mode of another layout, so it has no meaning in a shape.

use cute_runtime::{Layout, layout};

const L: Layout = layout!((4,_):(1,4));

fn main() {}
