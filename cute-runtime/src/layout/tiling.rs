//! A layout cut into tiles, as a constant.

use super::Layout;
use cute_algebra::{Axis, proves_disjoint};
use std::fmt;

/// A layout cut into tiles: mode 0 is the tile, mode 1 what is left, and every coordinate is in exactly one tile.
///
/// It is what `tile!` expands to. A tiler by mode cuts each mode, a layout as tiler cuts the whole as one mode, and `_`
/// leaves a mode in one piece.
/// ```
/// use cute_runtime::{Tiling, tile};
/// const T: Tiling = tile!((8,6):(6,1) / <4:1, 2:1>);
/// assert_eq!((T.tile().size(), T.rest().size()), (8, 6));
/// assert_eq!(T.at(1, 2), T.tile().at(1) + T.rest().at(2));
/// assert_eq!(T.coordinate(1, 2), [1, 2]);
///
/// const ROWS: Tiling = tile!((8,6):(6,1) / <1, _>);
/// assert_eq!((ROWS.tile().size(), ROWS.rest().size()), (6, 8));
/// ```
/// The last tiles of a `ragged` division reach past the edge. What they have there is no element:
/// ```
/// use cute_runtime::{Tiling, tile};
/// const T: Tiling = tile!(ragged (10,3):(1,10) / <4>);
/// assert_eq!((T.rest().size(), T.is_ragged()), (9, true));
/// // Row 9 of column 0, and row 10, which would be the first of column 1.
/// assert_eq!((T.get(1, 2), T.get(2, 2)), (Some(9), None));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tiling {
    layout: Layout,
    whole: Layout,
    axes: &'static [Axis<'static>],
    /// How many leaves of the layout are the tile's.
    tile_leaves: usize,
    is_ragged: bool,
}

/// For expansions: a zipped divide, what was divided, and its coordinates.
pub const fn tiling(layout: Layout, whole: Layout, axes: &'static [Axis<'static>]) -> Tiling {
    assert!(layout.rank() == 2, "a tiling has a tile and a rest");
    Tiling {
        layout,
        whole,
        axes,
        tile_leaves: layout.mode(0).flat_shape().len(),
        is_ragged: reaches_past(layout.flat_shape(), axes),
    }
}

/// Whether some coordinate is past the edge. One that overflows is past every edge.
const fn reaches_past(shape: &[i64], axes: &[Axis<'_>]) -> bool {
    let mut a = 0;
    while a < axes.len() {
        match last_coordinate(shape, axes[a].strides) {
            Some(last) if last < axes[a].extent => a += 1,
            _ => return true,
        }
    }
    false
}

/// The largest coordinate along an axis.
const fn last_coordinate(shape: &[i64], strides: &[i64]) -> Option<i64> {
    let (mut i, mut last) = (0, 0i64);
    while i < shape.len() {
        let steps = match shape[i].checked_sub(1) {
            Some(steps) => steps,
            None => return None,
        };
        last = match steps.checked_mul(strides[i]) {
            Some(reach) => match last.checked_add(reach) {
                Some(last) => last,
                None => return None,
            },
            None => return None,
        };
        i += 1;
    }
    Some(last)
}

impl Tiling {
    /// The layout of both: `(tile, rest)`.
    pub const fn layout(&self) -> Layout {
        self.layout
    }

    /// The layout that is tiled.
    pub const fn whole(&self) -> Layout {
        self.whole
    }

    /// The layout of the first tile.
    pub const fn tile(&self) -> Layout {
        self.layout.mode(0)
    }

    /// Where the tiles begin.
    pub const fn rest(&self) -> Layout {
        self.layout.mode(1)
    }

    /// The layout of tile number `tile`: that of the first one, moved.
    ///
    /// # Panics
    /// If there is no such tile.
    #[track_caller]
    pub const fn slice(&self, tile: i64) -> Layout {
        assert!(0 <= tile && tile < self.rest_size(), "tile out of range");
        self.tile().moved(sum(tile, self.rest_leaves()))
    }

    /// The layouts of the tiles, in the order of the rest.
    /// ```
    /// use cute_runtime::tile;
    /// let firsts: Vec<i64> = tile!((4,4):(4,1) / <2,2>).tiles().map(|tile| tile.at(0)).collect();
    /// assert_eq!(firsts, [0, 8, 2, 10]);
    /// ```
    pub fn tiles(self) -> impl DoubleEndedIterator<Item = Layout> {
        (0..self.rest_size()).map(move |tile| self.slice(tile))
    }

    /// The value at coordinate `within` of tile `tile`, both 1-D; past the edge of a ragged tiling, what the layout says
    /// there.
    ///
    /// # Panics
    /// If either is out of range.
    #[inline]
    #[track_caller]
    pub const fn at(&self, within: i64, tile: i64) -> i64 {
        assert!(self.is_coordinate(within, tile), "coordinate out of range");
        self.value(within, tile)
    }

    /// The value at coordinate `within` of tile `tile`, both 1-D; `None` out of range and past the edge.
    #[inline]
    pub const fn get(&self, within: i64, tile: i64) -> Option<i64> {
        if self.contains(within, tile) {
            Some(self.value(within, tile))
        } else {
            None
        }
    }

    /// Whether coordinate `within` of tile `tile` is in range, and on this side of the edge.
    #[inline]
    pub const fn contains(&self, within: i64, tile: i64) -> bool {
        let (mut contains, mut a) = (self.is_coordinate(within, tile), 0);
        while self.is_ragged && contains && a < self.axes.len() {
            contains = self.along(a, within, tile) < self.axes[a].extent;
            a += 1;
        }
        contains
    }

    /// The coordinate in the whole of coordinate `within` of tile `tile`: a number for each mode that the tiler tells
    /// apart. Past the edge, one of them is not below the extent of its mode.
    ///
    /// # Panics
    /// If either is out of range, or the tiler does not tell `N` modes apart.
    #[inline]
    #[track_caller]
    pub const fn coordinate<const N: usize>(&self, within: i64, tile: i64) -> [i64; N] {
        assert!(self.axes.len() == N, "the coordinate has another rank");
        assert!(self.is_coordinate(within, tile), "coordinate out of range");
        let mut coordinate = [0; N];
        let mut a = 0;
        while a < N {
            coordinate[a] = self.along(a, within, tile);
            a += 1;
        }
        coordinate
    }

    /// Whether some tile reaches past the edge.
    pub const fn is_ragged(&self) -> bool {
        self.is_ragged
    }

    /// Whether it is proved that no two coordinates have the same value, those past the edge aside.
    pub const fn is_disjoint(&self) -> bool {
        let (shape, stride) = (self.layout.flat_shape(), self.layout.flat_stride());
        if !proves_disjoint(shape, stride, self.axes) || !self.layout.swizzle().is_bijective() {
            return false;
        }
        // The proof is about sums that do not wrap, and knows nothing of the offset.
        let (offset, reach) = (self.layout.offset(), self.layout.span());
        offset.checked_add(reach).is_some() && offset.checked_sub(reach).is_some()
    }

    #[inline]
    const fn is_coordinate(&self, within: i64, tile: i64) -> bool {
        0 <= within && within < self.tile_size() && 0 <= tile && tile < self.rest_size()
    }

    #[inline]
    const fn value(&self, within: i64, tile: i64) -> i64 {
        let linear = sum(within, self.tile_leaves()) + sum(tile, self.rest_leaves());
        self.layout.swizzle().apply(self.layout.offset() + linear)
    }

    /// The coordinate along an axis.
    #[inline]
    const fn along(&self, axis: usize, within: i64, tile: i64) -> i64 {
        let (first, second) = self.axes[axis].strides.split_at(self.tile_leaves);
        let (tile_shape, rest_shape) = self.shapes();
        sum(within, (tile_shape, first)) + sum(tile, (rest_shape, second))
    }

    /// The value of the first coordinate of a tile, before the swizzle.
    #[inline]
    pub(super) const fn first(&self, tile: i64) -> i64 {
        self.layout.offset() + sum(tile, self.rest_leaves())
    }

    /// The coordinates that the tiler tells apart.
    pub(super) const fn axes(&self) -> &'static [Axis<'static>] {
        self.axes
    }

    /// Number of coordinates of a tile.
    #[inline]
    pub(crate) const fn tile_size(&self) -> i64 {
        product(self.shapes().0)
    }

    /// Number of tiles.
    #[inline]
    pub(crate) const fn rest_size(&self) -> i64 {
        product(self.shapes().1)
    }

    #[inline]
    const fn shapes(&self) -> (&'static [i64], &'static [i64]) {
        self.layout.flat_shape().split_at(self.tile_leaves)
    }

    #[inline]
    pub(super) const fn tile_leaves(&self) -> Leaves {
        (
            self.shapes().0,
            self.layout.flat_stride().split_at(self.tile_leaves).0,
        )
    }

    #[inline]
    const fn rest_leaves(&self) -> Leaves {
        (
            self.shapes().1,
            self.layout.flat_stride().split_at(self.tile_leaves).1,
        )
    }
}

/// Extents and strides.
pub(super) type Leaves = (&'static [i64], &'static [i64]);

#[inline]
const fn sum(index: i64, (shape, stride): Leaves) -> i64 {
    let (mut i, mut rest, mut sum) = (0, index, 0);
    while i < shape.len() {
        sum += rest % shape[i] * stride[i];
        rest /= shape[i];
        i += 1;
    }
    sum
}

#[inline]
const fn product(shape: &[i64]) -> i64 {
    let (mut i, mut product) = (0, 1);
    while i < shape.len() {
        product *= shape[i];
        i += 1;
    }
    product
}

impl fmt::Display for Tiling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.layout.fmt(f)
    }
}
