//! The tile divides the extent for no value of the run-time integer.

use cute_runtime::layout;

layout! {
    where m > 4;
    TILES = zipped_divide((4,8):(8,1), <{m},8>);
}

fn main() {}
