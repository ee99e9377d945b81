//! A list of values cannot be an item.

use cute_runtime::layout;

layout! { ROW = slice_and_offset((m,n):(n,1), (k,_)); }

fn main() {
    let _ = ROW::try_new(3, 4, 2).is_ok();
}
