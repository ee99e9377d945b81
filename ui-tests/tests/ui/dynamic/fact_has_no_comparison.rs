//! A remainder in a fact must be compared with 0.

use cute_runtime::layout;

fn main() {
    let m = 64;
    let _ = layout!(where m % 64; (m,4));
}
