//! The target of a complement must fit 64 bits.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(complement(4:1, (9223372036854775807,2)));

fn main() {}
