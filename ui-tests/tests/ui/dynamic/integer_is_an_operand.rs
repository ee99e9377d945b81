//! A name that is an integer elsewhere stands for a layout.

use cute_runtime::layout;

fn main() {
    let (m, n) = (8, 4);
    let _ = layout!(logical_divide((m,8):(8,1), m));
    let _ = layout!(where n >= 1; (8,8):(8,1) / n);
}
