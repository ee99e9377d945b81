//! The copies of a product must lie at integers that the layout leaves free.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(logical_product((12,2):(59,5), (2,3):(3,1)));

fn main() {}
