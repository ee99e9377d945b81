//! `mut` demands that no two tiles share an element.

use cute_runtime::tile;

tile! {
    mut T = (4,4):(1,3) / <2,2>;
}

fn main() {}
