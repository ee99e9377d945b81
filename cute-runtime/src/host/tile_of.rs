//! A tile of a tiling as the layout of a host tensor.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use cute_algebra::{ComposedLayout, LayoutError};

use super::layout::HostLayout;
use crate::layout::{Invariant, Tile};
use crate::{Layout, Profile, StaticTiling, Swizzle};

/// One tile of the tiling `T`, as a layout. In a ragged tiling, coordinates past the edge have no element.
pub struct TileOf<T> {
    number: i64,
    tiling: Invariant<T>,
}

impl<T: StaticTiling> TileOf<T> {
    pub(super) const SIZE: i64 = T::TILING.tile_size();
    pub(super) const COUNT: usize = T::TILING.rest_size() as usize;
    const FIRST: Layout = T::TILING.tile();
    const SWIZZLE: Swizzle = T::TILING.layout().swizzle();

    /// Tile number `number`.
    pub(super) fn new(number: usize) -> Self {
        Self {
            number: number as i64,
            tiling: PhantomData,
        }
    }

    /// The layout of the tile. In a ragged tiling, it includes the coordinates past the edge.
    pub fn layout(&self) -> Layout {
        T::TILING.slice(self.number)
    }

    /// The number of the tile: its 1-D coordinate in [`Tiling::rest`](crate::Tiling::rest).
    pub fn number(&self) -> i64 {
        self.number
    }

    /// The coordinate in the tiled layout of 1-D coordinate `within` of this tile: one number for each axis of the tiling
    /// (see [`Tiling`](crate::Tiling)).
    ///
    /// # Panics
    /// If `within` is negative or not below the size of a tile, or if the tiling does not have `N` axes.
    #[inline]
    #[track_caller]
    pub fn coordinate<const N: usize>(&self, within: i64) -> [i64; N] {
        T::TILING.coordinate(within, self.number)
    }
}

impl<T: StaticTiling> HostLayout for TileOf<T> {
    #[inline]
    fn profile(&self) -> Profile {
        Self::FIRST.profile()
    }

    #[inline]
    fn extent_and_stride(&self, leaf: usize) -> (i64, i64) {
        HostLayout::extent_and_stride(&Self::FIRST, leaf)
    }

    fn offset(&self) -> i64 {
        self.layout().offset()
    }

    fn swizzle(&self) -> Swizzle {
        Self::SWIZZLE
    }

    #[inline]
    fn coordinates(&self) -> i64 {
        Self::SIZE
    }

    #[inline]
    fn place(&self, coord: i64) -> Option<i64> {
        T::TILING.get(coord, self.number)
    }

    #[inline]
    fn is_complete(&self) -> bool {
        !T::TILING.is_ragged()
    }

    #[track_caller]
    fn walk<const N: usize>(self) -> impl Iterator<Item = ([i64; N], i64)> {
        Tile::<T>::walk(self.number)
            .map(|(coordinate, linear)| (coordinate, Self::SWIZZLE.apply(linear)))
    }

    #[track_caller]
    fn runs<const N: usize>(self) -> impl Iterator<Item = ([i64; N], Range<i64>)> {
        Tile::<T>::runs(self.number).map(|run| (run.coordinate, run.values(Self::SWIZZLE)))
    }

    fn composed(&self) -> Result<ComposedLayout, LayoutError> {
        self.layout().to_composed()
    }
}

// Derives would demand that `T` itself is `Clone` and `Copy`. It is only a name, so that is not needed.

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
