//! The depth of parentheses is limited, so that no input overflows the stack.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((1)))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))));

fn main() {}
