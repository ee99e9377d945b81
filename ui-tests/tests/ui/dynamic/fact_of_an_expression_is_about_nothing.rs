//! A fact about a named layout has a misspelt name.

use cute_runtime::layout;

layout! { L = (m,4); }

fn main() {
    let m = 64;
    let _ = layout!(where M % 64 == 0; coalesce(L));
}
