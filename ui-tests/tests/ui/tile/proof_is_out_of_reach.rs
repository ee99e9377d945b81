//! Too many elements to look at, and strides that prove nothing.

use cute_runtime::tile;

tile! {
    mut T = (3,2,1_000_000):(2,3,100) / <3>;
}

fn main() {}
