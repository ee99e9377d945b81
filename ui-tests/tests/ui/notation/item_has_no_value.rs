//! An item must have an expression.

use cute_runtime::layout;

layout! {
    pub A = ;
}

fn main() {}
