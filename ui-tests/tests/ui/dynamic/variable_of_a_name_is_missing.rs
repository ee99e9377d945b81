//! An expression that uses a named layout needs variables for its run-time integers.

use cute_runtime::layout;

layout! { L = (m,4):(4,1); }

fn main() {
    let _ = layout!(get(L, 0));
}
