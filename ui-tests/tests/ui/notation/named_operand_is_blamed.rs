//! An error in an operand that is a name points at the name.

use cute_runtime::{Layout, layout};

layout! {
    pub A = (2,2):(1,3);
}

const C: Layout = layout!(complement(A, 12));

fn main() {}
