//! The atoms of shared memory exist only for certain element sizes.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(smem_atom(K, SW128, 12));

fn main() {}
