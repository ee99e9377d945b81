//! A layout tiles the whole as one mode; a tuple of tilers tiles mode by mode.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(zipped_divide((4,9):(1,4), (2,3):(1,1)));

fn main() {}
