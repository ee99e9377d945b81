//! A layout divided into tiles, as a constant.

use super::Layout;
use core::fmt;
use cute_algebra::{Axis, proves_disjoint};

/// A layout divided into tiles: mode 0 is the tile, and the 1-D coordinates of mode 1, the rest, number the tiles. Every
/// coordinate of the layout is in exactly one tile.
///
/// `tile!` expands to such a value. A tiler `<…>` divides mode by mode, and `_` leaves a mode whole. A layout or an integer as
/// tiler divides the whole layout as one mode.
///
/// An *axis* is a mode that the tiler divides separately. If the tiler is a layout or an integer, the whole layout is the only
/// axis. A tiler `<…>` has an axis for each mode of the layout, and if the tiler nests, for each mode inside.
/// [`coordinate`](Tiling::coordinate) gives the place of a tile's element in the tiled layout, by one number for each axis.
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
/// The last tiles of a `ragged` division may reach past the edge. There a coordinate is not below the extent of its axis, and the
/// tile has no element:
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
    /// How many leaves of the layout, from the left, belong to the tile.
    tile_leaves: usize,
    is_ragged: bool,
}

/// For expansions: the zipped divide of a layout, the layout that was divided, and its axes.
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

/// Whether a coordinate is past the edge. One that overflows is past every edge.
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

/// The largest coordinate along an axis; `None` if it overflows.
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
    /// The zipped divide, whose two modes are the tile and the rest.
    pub const fn layout(&self) -> Layout {
        self.layout
    }

    /// The layout that was divided.
    pub const fn whole(&self) -> Layout {
        self.whole
    }

    /// The layout of the first tile.
    pub const fn tile(&self) -> Layout {
        self.layout.mode(0)
    }

    /// The layout from the number of a tile to the place of its first element, relative to the first tile.
    pub const fn rest(&self) -> Layout {
        self.layout.mode(1)
    }

    /// The layout of tile number `tile`: that of the first tile, with another offset.
    ///
    /// # Panics
    /// If `tile` is negative or not below the number of tiles.
    #[track_caller]
    pub const fn slice(&self, tile: i64) -> Layout {
        assert!(0 <= tile && tile < self.rest_size(), "tile out of range");
        self.tile().moved(sum(tile, self.rest_leaves()))
    }

    /// The layouts of the tiles in the order of their numbers.
    /// ```
    /// use cute_runtime::tile;
    /// let firsts: Vec<i64> = tile!((4,4):(4,1) / <2,2>).tiles().map(|tile| tile.at(0)).collect();
    /// assert_eq!(firsts, [0, 8, 2, 10]);
    /// ```
    pub fn tiles(self) -> impl DoubleEndedIterator<Item = Layout> {
        (0..self.rest_size()).map(move |tile| self.slice(tile))
    }

    /// The value at 1-D coordinate `within` of tile number `tile`. Past the edge of a ragged tiling, this is the value of the
    /// zipped divide; the tile has no element there.
    ///
    /// # Panics
    /// If either number is out of range.
    #[inline]
    #[track_caller]
    pub const fn at(&self, within: i64, tile: i64) -> i64 {
        assert!(self.is_coordinate(within, tile), "coordinate out of range");
        self.value(within, tile)
    }

    /// The value at 1-D coordinate `within` of tile number `tile`; `None` out of range and past the edge.
    #[inline]
    pub const fn get(&self, within: i64, tile: i64) -> Option<i64> {
        if self.contains(within, tile) {
            Some(self.value(within, tile))
        } else {
            None
        }
    }

    /// Whether 1-D coordinate `within` of tile number `tile` is in range and not past the edge.
    #[inline]
    pub const fn contains(&self, within: i64, tile: i64) -> bool {
        let (mut contains, mut a) = (self.is_coordinate(within, tile), 0);
        while self.is_ragged && contains && a < self.axes.len() {
            contains = self.along(a, within, tile) < self.axes[a].extent;
            a += 1;
        }
        contains
    }

    /// The place of 1-D coordinate `within` of tile number `tile` in the tiled layout, as one number for each axis. Past the
    /// edge, at least one number is not below the extent of its axis.
    ///
    /// # Panics
    /// If either number is out of range, or the tiling does not have `N` axes.
    #[inline]
    #[track_caller]
    pub const fn coordinate<const N: usize>(&self, within: i64, tile: i64) -> [i64; N] {
        assert!(self.axes.len() == N, "the tiling does not have N axes");
        assert!(self.is_coordinate(within, tile), "coordinate out of range");
        let mut coordinate = [0; N];
        let mut a = 0;
        while a < N {
            coordinate[a] = self.along(a, within, tile);
            a += 1;
        }
        coordinate
    }

    /// Whether a tile reaches past the edge.
    pub const fn is_ragged(&self) -> bool {
        self.is_ragged
    }

    /// Whether there is a proof that no two coordinates have the same value, except past the edge. Without a proof, the values
    /// may still differ.
    pub const fn is_disjoint(&self) -> bool {
        let (shape, stride) = (self.layout.flat_shape(), self.layout.flat_stride());
        if !proves_disjoint(shape, stride, self.axes) || !self.layout.swizzle().is_bijective() {
            return false;
        }
        // The proof is about sums without the offset that do not overflow, so check that adding the offset does not either.
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

    /// The coordinate along one axis of 1-D coordinate `within` of tile number `tile`.
    #[inline]
    const fn along(&self, axis: usize, within: i64, tile: i64) -> i64 {
        let (first, second) = self.axes[axis].strides.split_at(self.tile_leaves);
        let (tile_shape, rest_shape) = self.shapes();
        sum(within, (tile_shape, first)) + sum(tile, (rest_shape, second))
    }

    /// The value at coordinate 0 of tile number `tile`, before the swizzle.
    #[cfg(feature = "host")]
    #[inline]
    pub(super) const fn first(&self, tile: i64) -> i64 {
        self.layout.offset() + sum(tile, self.rest_leaves())
    }

    /// The extents of the axes, and how far each leaf of the zipped divide steps along them.
    #[cfg(feature = "host")]
    pub(super) const fn axes(&self) -> &'static [Axis<'static>] {
        self.axes
    }

    /// Number of coordinates of a tile.
    #[inline]
    pub const fn tile_size(&self) -> i64 {
        product(self.shapes().0)
    }

    /// Number of tiles.
    #[inline]
    pub const fn rest_size(&self) -> i64 {
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

/// Extents and strides of some leaves.
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
