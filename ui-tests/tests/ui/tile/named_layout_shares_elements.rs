//! The strides of a named layout are written elsewhere, so the error points at the name.

use cute_runtime::{layout, tile};

layout! {
    WINDOWS = (5,20):(1,2);
}

tile! {
    mut T = WINDOWS / <_,4>;
}

fn main() {}
