//! `downcast` splits elements along a mode with stride 1, which this layout does not have.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(downcast(4:2, 2));

fn main() {}
