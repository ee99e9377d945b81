//! A name that begins with a lower-case letter is a run-time integer in expressions, so no layout can have it.

use cute_runtime::{layout, tile};

layout! { tile = (2,3):(3,1); TWICE = logical_product(4:1, 2:1); }
tile! { pub parts = (4,6):(6,1) / <2,3>; }

fn main() {}
