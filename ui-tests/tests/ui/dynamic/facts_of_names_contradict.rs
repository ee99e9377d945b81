//! The facts of a named layout hold where the name is used.

use cute_runtime::layout;

layout! {
    where m >= 10;
    L = (m,4);
    where m < 5;
    FEW = L o 2:1;
}

fn main() {}
