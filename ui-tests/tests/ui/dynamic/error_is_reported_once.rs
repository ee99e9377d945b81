//! There is one error, although other code uses the constructor, functions and name of the layout.

use cute_runtime::{LayoutCheck, layout};

layout! {
    where m > 4;
    TILES = zipped_divide((4,k):(k,1), <{m},8>);
    FIRST = get(TILES, 0);
    BESIDE = concat(TILES, (n,2):(2,1));
}

fn main() -> Result<(), LayoutCheck> {
    let tiles = TILES::try_new(8, 5)?;
    let _ = (tiles.k(), tiles.offset(((1, 1), (0, 0))), tiles.is_inside(((1, 1), (0, 0))));
    let _ = (FIRST::try_new(8, 5)?, BESIDE::try_new(8, 5, 3)?.n());
    let (k, m) = (8, 5);
    let _ = layout!(get(TILES, 1));
    Ok(())
}
