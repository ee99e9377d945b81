//! The strides of a named layout stand elsewhere, so the name is pointed at.

use cute_runtime::{layout, tile};

layout! {
    WINDOWS = (5,20):(1,2);
}

tile! {
    mut T = WINDOWS / <_,4>;
}

fn main() {}
