//! `tile!` needs a layout and a tiler.

use cute_runtime::tile;

fn main() {
    let m = 64;
    let _ = tile!((m,4):(4,1));
}
