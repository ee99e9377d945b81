//! What stands between braces is an expression of Rust.

use cute_runtime::layout;

fn main() {
    let n = 4;
    let _ = layout!(({ = n }, 8):(8, 1));
}
