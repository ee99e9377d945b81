//! A layout with run-time integers is a `Result` and cannot be a constant.

use cute_runtime::{Layout, layout};

const M: i64 = 8;
const L: Layout = layout!((M,4):(1,M));

fn main() {}
