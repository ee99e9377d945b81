//! A profile must fit the shape.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(coalesce((4,8):(1,4), (1,1,1)));

fn main() {}
