//! A constant coordinate past the end is an error of the constant.

use cute_runtime::{Layout, layout};

const L: Layout = layout!((2,4):(4,1));
const PAST: i64 = L.at(8);

fn main() {
    println!("{PAST}");
}
