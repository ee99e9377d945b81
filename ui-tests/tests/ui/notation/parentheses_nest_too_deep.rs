//! Nesting is limited, so that no input exhausts the stack.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((1)))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))));

fn main() {}
