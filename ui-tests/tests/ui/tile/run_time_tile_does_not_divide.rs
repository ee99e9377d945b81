//! The tile divides the extent for no values of the run-time integers. There is one error, although the tiling is used.

use cute_runtime::{DynamicTiling, LayoutCheck, tile};

tile! {
    where m % 4 == 0;
    T = (m,6):(6,1) / <4,4>;
}

fn main() -> Result<(), LayoutCheck> {
    let tiles = T::try_new(8)?;
    let _ = (tiles.get(1, 2), tiles.offset(((1, 1), (0, 0))));
    Ok(())
}
