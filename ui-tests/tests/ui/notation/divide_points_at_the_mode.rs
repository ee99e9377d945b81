//! The error points at the extent that a tiler by mode does not divide.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(logical_divide((8,(2,6)):(1,(8,16)), <4,(2,4)>));

fn main() {}
