//! A coordinate must nest like the shape, or less deep.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(slice((4,8):(1,4), (_,(2,3))));

fn main() {}
