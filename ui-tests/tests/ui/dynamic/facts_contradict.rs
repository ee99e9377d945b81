//! No integer satisfies both facts.

use cute_runtime::layout;

layout! {
    where m >= 10, m < 5;
    L = (m,4);
}

fn main() {}
