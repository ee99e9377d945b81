//! An item has no keyword and no type.

use cute_runtime::{Layout, layout};

layout! {
    pub const A: Layout = 4:1;
    let b = 4:1;
    pub C: Layout = 4:1;
}

fn main() {}
