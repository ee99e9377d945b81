//! A tiler is of use in layouts only.

use cute_runtime::layout;

layout! { BLOCKS = <{m},4>; }

fn main() {
    let m = 8;
    let _ = layout!(<{m},4>);
}
