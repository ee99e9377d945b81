//! A type and its subtype can have different tilings, so tiles of one must not be used as tiles of the other.

use cute_runtime::{HostTensorMut, HostTile, HostTileMut, Layout, StaticLayout, StaticTiling, Tiling, layout, tile};

layout! { MATRIX = (4,4):(4,1); }
tile! { mut ROWS = MATRIX / <1,_>; }
tile! { mut COLUMNS = MATRIX / <_,1>; }

struct Of<T>(T);
type Narrow = Of<for<'a> fn(&'a ())>;
type Wide = Of<fn(&'static ())>;

impl StaticLayout for Narrow {
    const LAYOUT: Layout = ROWS::LAYOUT;
    fn index(coord: i64) -> i64 {
        ROWS::index(coord)
    }
}
impl StaticTiling for Narrow {
    const TILING: Tiling = ROWS::TILING;
}
impl StaticLayout for Wide {
    const LAYOUT: Layout = COLUMNS::LAYOUT;
    fn index(coord: i64) -> i64 {
        COLUMNS::index(coord)
    }
}
impl StaticTiling for Wide {
    const TILING: Tiling = COLUMNS::TILING;
}
impl cute_runtime::DisjointTiling for Narrow {}
impl cute_runtime::DisjointTiling for Wide {}

// A tile of rows used as a tile of columns: the second row and the second column share the element at (1, 1).
fn written<'a>(tile: HostTileMut<'a, String, Narrow>) -> HostTileMut<'a, String, Wide> {
    tile
}

fn read<'a>(tile: HostTile<'a, String, Narrow>) -> HostTile<'a, String, Wide> {
    tile
}

fn main() {
    let mut data: [String; 16] = Default::default();
    let mut matrix = HostTensorMut::new(&mut data, MATRIX).unwrap();
    let mut rows = matrix.tiles_mut::<Narrow>().unwrap();
    let (mut first, mut second) = (rows.next().unwrap(), written(rows.nth(0).unwrap()));
    let (one, same) = (&mut first[1], &mut second[0]);
    one.push_str(same);
    let _ = read;
}
