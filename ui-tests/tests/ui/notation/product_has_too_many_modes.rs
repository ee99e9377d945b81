//! A product by mode has at most as many modes as the layout.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(logical_product(4:1, <2,2>));

fn main() {}
