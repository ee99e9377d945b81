//! Whether the tile reaches over the boundary m decides how many modes the result has.

use cute_runtime::layout;

fn main() {
    let (m, n) = (128, 8);
    let _ = layout!((m,n):(n,1) o 64:1);
}
