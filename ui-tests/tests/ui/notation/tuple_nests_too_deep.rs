//! The depth of a shape is limited.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(((((((((((((((((((((((((((((((((((((((((1)))))))))))))))))))))))))))))))))))))))));

fn main() {}
