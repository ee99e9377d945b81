//! Shape and stride must nest alike: 8 and (2) do not.

use cute_runtime::{Layout, layout};

const L: Layout = layout!((4,8):(1,(2)));

fn main() {}
