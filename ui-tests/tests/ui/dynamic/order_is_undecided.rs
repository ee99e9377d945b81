//! The number of modes of the result depends on whether the tile reaches over the boundary m.

use cute_runtime::layout;

fn main() {
    let (m, n) = (128, 8);
    let _ = layout!((m,n):(n,1) o 64:1);
}
