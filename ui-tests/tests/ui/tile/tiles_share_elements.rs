//! `mut` asks for tiles that share no element.

use cute_runtime::tile;

tile! {
    mut T = (4,4):(1,3) / <2,2>;
}

fn main() {}
