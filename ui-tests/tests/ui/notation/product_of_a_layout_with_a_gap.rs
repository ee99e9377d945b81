//! The first operand of a product must have a complement.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(logical_product((2,2):(1,3), 4:1));

fn main() {}
