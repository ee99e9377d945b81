//! A tiler with run-time integers can be used in a layout, but it is not a value.

use cute_runtime::layout;

layout! { BLOCKS = <{m},4>; }

fn main() {
    let m = 8;
    let _ = layout!(<{m},4>);
}
