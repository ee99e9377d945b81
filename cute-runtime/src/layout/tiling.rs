//! A layout cut into tiles, as a constant.

use super::Layout;
use std::fmt;

/// A layout cut into tiles: mode 0 is the tile, mode 1 what is left, and every coordinate is in exactly one tile.
/// Of a `ragged` division the last tiles reach past the end.
///
/// It is what `tile!` expands to.
/// ```
/// use cute_runtime::{Tiling, tile};
/// const T: Tiling = tile!((8,8):(8,1) / <4:1, 2:1>);
/// assert_eq!((T.tile().size(), T.rest().size()), (8, 8));
/// assert_eq!(T.at(1, 2), T.tile().at(1) + T.rest().at(2));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tiling {
    layout: Layout,
}

/// For expansions: the result of a zipped divide.
pub const fn tiling(layout: Layout) -> Tiling {
    assert!(layout.rank() == 2, "a tiling has a tile and a rest");
    Tiling { layout }
}

impl Tiling {
    /// The layout of both: `(tile, rest)`.
    pub const fn layout(&self) -> Layout {
        self.layout
    }

    /// The layout of the first tile.
    pub const fn tile(&self) -> Layout {
        self.layout.mode(0)
    }

    /// Where the tiles begin.
    pub const fn rest(&self) -> Layout {
        self.layout.mode(1)
    }

    /// The value at coordinate `within` of tile `tile`, both 1-D.
    ///
    /// # Panics
    /// If either is out of range.
    #[track_caller]
    pub const fn at(&self, within: i64, tile: i64) -> i64 {
        self.layout.crd2idx(&[within, tile])
    }

    /// Whether no two tiles share a value; `None` where that is not proved.
    pub const fn is_disjoint(&self) -> Option<bool> {
        match self.layout.is_injective() {
            Some(true) => Some(true),
            _ => None,
        }
    }
}

impl fmt::Display for Tiling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.layout.fmt(f)
    }
}
