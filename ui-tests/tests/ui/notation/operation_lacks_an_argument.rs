//! The error says how many arguments the operation takes.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(logical_divide((6,2):(8,2)));

fn main() {}
