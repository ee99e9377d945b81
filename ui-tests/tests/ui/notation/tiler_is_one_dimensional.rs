//! A layout as tiler divides the whole layout as one mode; a tuple of tilers divides mode by mode.

use cute_runtime::{Layout, layout};

const L: Layout = layout!(zipped_divide((4,9):(1,4), (2,3):(1,1)));

fn main() {}
