//! A name that begins with an upper-case letter is a layout where a layout may stand, so it cannot be an integer elsewhere.

use cute_runtime::layout;

const M: i64 = 8;
const N: i64 = 4;

fn main() {
    let _ = layout!(logical_divide((M,8):(8,1), M));
    let _ = layout!(where N >= 1; (8,8):(8,1) / N);
    let _ = layout!(logical_divide((M,8):(8,1), {M}));
}
