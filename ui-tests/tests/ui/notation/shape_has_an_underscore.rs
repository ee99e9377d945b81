//! An underscore keeps a mode of something; a shape has nothing to keep.

use cute_runtime::{Layout, layout};

const L: Layout = layout!((4,_):(1,4));

fn main() {}
