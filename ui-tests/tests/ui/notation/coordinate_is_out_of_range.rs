//! A constant coordinate that is out of range is an error at compile time.

use cute_runtime::{Layout, layout};

const L: Layout = layout!((2,4):(4,1));
const PAST: i64 = L.at(8);

fn main() {
    println!("{PAST}");
}
