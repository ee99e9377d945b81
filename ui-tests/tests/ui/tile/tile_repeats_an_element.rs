//! A ragged tile may have an element twice, but then it cannot be written.

use cute_runtime::tile;

tile! {
    T = ragged 8:1 / (2,2):(1,0);
    mut U = ragged 8:1 / (2,2):(1,0);
}

fn main() {}
