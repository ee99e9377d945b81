//! The error lists the names of the swizzle modes.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(smem_atom(K, SW12, 16));

fn main() {}
