//! The modes with strides below the factor must fill its groups.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(upcast((2,8):(1,4), 4));

fn main() {}
