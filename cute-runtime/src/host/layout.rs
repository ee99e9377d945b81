//! Layouts of host tensors, and coordinates of their elements.

use std::fmt;
use std::marker::PhantomData;

use super::HostError;
use crate::layout::Walk;
use crate::{Layout, StaticLayout, StaticTiling, Tiling};

/// A layout that a host tensor can have: a [`Layout`], a type that `layout!` declares as [`Static`], or a tile of a tiling.
pub trait HostLayout: Copy {
    /// As a value.
    fn layout(&self) -> Layout;

    /// The value at a 1-D coordinate; `None` where there is no element.
    fn index(&self, coord: i64) -> Option<i64>;

    /// The 1-D coordinate of a coordinate; `None` where there is none.
    #[inline]
    fn linear<C: HostCoordinate>(&self, coord: C) -> Option<i64> {
        coord.linear(&self.layout())
    }
}

impl HostLayout for Layout {
    fn layout(&self) -> Layout {
        *self
    }

    #[inline]
    fn index(&self, coord: i64) -> Option<i64> {
        (0 <= coord && coord < self.size()).then(|| self.at(coord))
    }
}

/// A layout that is a type, as a value without size.
/// ```
/// use cute_runtime::{HostTensor, Static, layout};
/// layout! { pub A = (2,3):(3,1); }
/// let tensor = HostTensor::new(&[1, 2, 3, 4, 5, 6], Static::<A>::new())?;
/// assert_eq!(tensor[[1, 2]], 6);
/// # Ok::<(), cute_runtime::HostError>(())
/// ```
pub struct Static<L>(PhantomData<fn() -> L>);

impl<L> Static<L> {
    /// The value.
    pub const fn new() -> Self {
        Static(PhantomData)
    }
}

impl<L: StaticLayout> HostLayout for Static<L> {
    fn layout(&self) -> Layout {
        L::LAYOUT
    }

    #[inline]
    fn index(&self, coord: i64) -> Option<i64> {
        (0 <= coord && coord < L::SIZE).then(|| L::index(coord))
    }
}

/// One tile of the tiling `T`, as a layout. The tiles of a ragged tiling have no element past the edge.
pub struct TileOf<T> {
    number: i64,
    tiling: PhantomData<fn() -> T>,
}

impl<T: StaticTiling> TileOf<T> {
    pub(super) const SIZE: i64 = T::TILING.tile_size();
    pub(super) const COUNT: usize = T::TILING.rest_size() as usize;
    const FIRST: Layout = T::TILING.tile();
    const TILING: &'static Tiling = &T::TILING;

    /// Tile number `number`.
    pub(super) fn new(number: usize) -> Self {
        Self {
            number: number as i64,
            tiling: PhantomData,
        }
    }

    /// Its number: a 1-D coordinate of the rest.
    pub fn number(&self) -> i64 {
        self.number
    }

    /// The coordinates in the whole, with the values; each coordinate of the tile once, those past the edge not at all.
    #[track_caller]
    pub(super) fn walk<const N: usize>(&self) -> Walk<N> {
        Self::TILING.walk(self.number)
    }

    /// The coordinate in the whole of coordinate `within`: a number for each mode that the tiler tells apart.
    ///
    /// # Panics
    /// If `within` is not below the size of a tile, or the tiler does not tell `N` modes apart.
    #[inline]
    #[track_caller]
    pub fn coordinate<const N: usize>(&self, within: i64) -> [i64; N] {
        T::TILING.coordinate(within, self.number)
    }
}

impl<T: StaticTiling> HostLayout for TileOf<T> {
    fn layout(&self) -> Layout {
        T::TILING.slice(self.number)
    }

    #[inline]
    fn index(&self, coord: i64) -> Option<i64> {
        T::TILING.get(coord, self.number)
    }

    #[inline]
    fn linear<C: HostCoordinate>(&self, coord: C) -> Option<i64> {
        coord.linear(&Self::FIRST)
    }
}

/// A coordinate of an element: 1-D, or one number for each top-level mode.
pub trait HostCoordinate: Copy + fmt::Debug {
    /// The 1-D coordinate, where there is one.
    fn linear(self, layout: &Layout) -> Option<i64>;
}

impl HostCoordinate for i64 {
    #[inline]
    fn linear(self, _: &Layout) -> Option<i64> {
        Some(self)
    }
}

impl<const N: usize> HostCoordinate for [i64; N] {
    #[inline]
    fn linear(self, layout: &Layout) -> Option<i64> {
        layout.crd2crd(&self)
    }
}

/// Most values of a swizzled layout that are looked at one by one.
const SCAN_LIMIT: i64 = 1 << 20;

/// Refuses a layout with a value that is no index.
pub(super) fn check_bounds(layout: &Layout, len: usize) -> Result<(), HostError> {
    let outside = |value: i64| usize::try_from(value).map_or(true, |value| value >= len);
    // The extremes tell, but a swizzle can bring other values to the end, up to the next multiple of what it moves.
    let moved = ((1u64 << layout.swizzle().top()) - 1) as i64;
    let (lowest, highest) = (extreme(layout, -1), extreme(layout, 1));
    let (floor, ceiling) = (
        value(layout, lowest) & !moved,
        value(layout, highest) | moved,
    );
    if !outside(floor) && !outside(ceiling) {
        return Ok(());
    }
    let mut suspects = [lowest, highest]
        .into_iter()
        .chain(0..layout.size().min(SCAN_LIMIT));
    match suspects.find(|&coord| outside(layout.at(coord))) {
        Some(coordinate) => Err(HostError::OutOfBounds {
            layout: layout.to_string(),
            coordinate,
            value: layout.at(coordinate),
            len,
        }),
        None if layout.size() > SCAN_LIMIT => Err(HostError::NotShown {
            layout: layout.to_string(),
            floor,
            ceiling,
            len,
        }),
        None => Ok(()),
    }
}

/// The 1-D coordinate with the largest value before the swizzle, or with the smallest.
fn extreme(layout: &Layout, sign: i64) -> i64 {
    let leaves = layout.flat_shape().iter().zip(layout.flat_stride());
    let (mut weight, mut coord) = (1, 0);
    for (extent, stride) in leaves {
        if stride.signum() == sign {
            coord += (extent - 1) * weight;
        }
        weight *= extent;
    }
    coord
}

/// The value before the swizzle.
fn value(layout: &Layout, coord: i64) -> i64 {
    let leaves = layout.flat_shape().iter().zip(layout.flat_stride());
    let (mut rest, mut sum) = (coord, layout.offset());
    for (extent, stride) in leaves {
        sum += rest % extent * stride;
        rest /= extent;
    }
    sum
}

// Not derived: that would ask the same of the type of the layout, which is only a name.

impl<L> Clone for Static<L> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<L> Copy for Static<L> {}

impl<L> Default for Static<L> {
    fn default() -> Self {
        Self::new()
    }
}

impl<L: StaticLayout> fmt::Debug for Static<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        L::LAYOUT.fmt(f)
    }
}

impl<T> Clone for TileOf<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for TileOf<T> {}

impl<T: StaticTiling> fmt::Debug for TileOf<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tile {} of {}", self.number, T::TILING)
    }
}
