//! The size exceeds 64 bits for all values that the facts allow.

use cute_runtime::layout;

layout! {
    where m >= 0x4000_0000_0000_0000;
    L = (4,m):(m,1);
}

fn main() {}
