//! A boundary of A cuts a mode of B at a number that does not divide its extent.

use cute_runtime::{Layout, layout};

const L: Layout = layout!((4,6):(1,10) o 6:1);

fn main() {}
