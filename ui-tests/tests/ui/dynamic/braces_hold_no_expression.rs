//! Braces must contain a Rust expression.

use cute_runtime::layout;

fn main() {
    let n = 4;
    let _ = layout!(({ = n }, 8):(8, 1));
}
