//! A layout with run-time integers has no value that another layout could be made of.

use cute_runtime::layout;

layout! {
    L = (m,4):(4,1);
    TILES = L / <2,2>;
}

fn main() {}
