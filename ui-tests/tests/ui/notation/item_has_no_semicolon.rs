//! A `;` is missing between two items.

use cute_runtime::layout;

layout! {
    pub A = 4:1
    /// Its documentation.
    pub(crate) B = 5:1;
}

fn main() {
    println!("{} {}", A, B);
}
