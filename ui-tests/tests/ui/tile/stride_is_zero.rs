//! A mode of stride 0 has the same element several times.

use cute_runtime::tile;

tile! {
    mut T = (4,8):(1,0) / <2,2>;
}

fn main() {}
