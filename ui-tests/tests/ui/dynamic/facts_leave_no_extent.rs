//! No extent is both: it is at least 1.

use cute_runtime::layout;

layout! {
    where m % 4 == 0, m <= 3;
    L = (m,4);
}

fn main() {}
