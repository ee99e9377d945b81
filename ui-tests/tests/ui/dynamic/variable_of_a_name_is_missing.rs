//! The run-time integers of a named layout are variables where the name is used.

use cute_runtime::layout;

layout! { L = (m,4):(4,1); }

fn main() {
    let _ = layout!(get(L, 0));
}
