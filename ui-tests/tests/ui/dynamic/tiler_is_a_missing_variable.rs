//! A name that begins with a lower-case letter is a variable, also where a layout may stand.

use cute_runtime::layout;

fn main() {
    let _ = layout!(zipped_divide((8,8):(8,1), <bm,4>));
}
