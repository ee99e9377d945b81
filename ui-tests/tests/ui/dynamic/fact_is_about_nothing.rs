//! A misspelt name in a fact would be a fact about nothing.

use cute_runtime::layout;

fn main() {
    let m = 64;
    let _ = layout!(where M % 64 == 0; (m,4));
}
