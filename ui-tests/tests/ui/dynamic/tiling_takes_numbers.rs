//! `tile!` is of numbers.

use cute_runtime::tile;

fn main() {
    let m = 64;
    let _ = tile!((m,4) / <2,2>);
}
