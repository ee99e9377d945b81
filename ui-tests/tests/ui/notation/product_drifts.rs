//! The copies of a product must lie at integers that the layout leaves free.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(blocked_product((8,2):(4,32), 8:3));

fn main() {}
