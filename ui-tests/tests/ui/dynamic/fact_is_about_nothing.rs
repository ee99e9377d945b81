//! A fact has a name that occurs in no layout, probably misspelt.

use cute_runtime::layout;

fn main() {
    let m = 64;
    let _ = layout!(where M % 64 == 0; (m,4));
}
