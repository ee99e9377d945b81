//! The errors of several items are reported together.

use cute_runtime::layout;

layout! {
    pub A = (4,8):(1,4,2);
    pub B = complement(4:1, 6);
}

fn main() {}
