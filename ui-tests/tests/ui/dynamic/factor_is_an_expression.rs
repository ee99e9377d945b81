//! Factors must be integers.

use cute_runtime::layout;

layout! {
    COUNT = size((m,4));
    REST = complement((m,4), 2*COUNT);
}

fn main() {}
