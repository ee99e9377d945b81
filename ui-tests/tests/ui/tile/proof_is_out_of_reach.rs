//! There are too many elements to check each one, and the strides do not prove that tiles are disjoint.

use cute_runtime::tile;

tile! {
    mut T = (3,2,1_000_000):(2,3,100) / <3>;
}

fn main() {}
