//! Layouts with some coordinates fixed.

use std::fmt;

use cute_algebra::{ComposedLayout, Coord, LayoutError};

use super::layout::{extent, leaves, modes, text};
use super::{HostError, HostLayout};
use crate::{Profile, Swizzle};

/// The layout `L`, of rank `N`, with some of its coordinates fixed: CuTe's `slice_and_offset`, as one layout.
///
/// The modes whose coordinates are fixed keep their place in the profile, with extents of 1. Coordinates of the slice have no
/// number for them.
#[derive(Clone, Copy)]
pub struct SliceOf<L, const N: usize> {
    whole: L,
    coord: [Option<i64>; N],
    fixed: [Fixed; N],
    /// The 1-D coordinate, in the whole layout, of coordinate 0 of the slice.
    first: i64,
    /// The value at that coordinate, before the swizzle.
    offset: i64,
}

/// A top-level mode of the profile, and its leaves `first..last`. They are fixed if the mode has a coordinate.
#[derive(Clone, Copy)]
struct Fixed {
    mode: usize,
    first: usize,
    last: usize,
}

impl<L: HostLayout, const N: usize> SliceOf<L, N> {
    /// The part of `whole` at the coordinates that agree with `coord`. A `None` keeps its mode, as CuTe's `_` does.
    pub(super) fn new(whole: L, coord: [Option<i64>; N]) -> Result<Self, HostError> {
        let mut weight = 1;
        let mut first = 0;
        let mut fixed = [Fixed {
            mode: 0,
            first: 0,
            last: 0,
        }; N];
        for (position, (mode, leaves)) in modes(&whole).take(N).enumerate() {
            fixed[position] = Fixed {
                mode,
                first: leaves.start,
                last: leaves.end,
            };
            let extent = extent(&whole, leaves);
            let coordinate = coord[position].unwrap_or(0);
            if !(0..extent).contains(&coordinate) {
                return Err(HostError::NoCoordinate {
                    layout: text(&whole),
                    mode: position,
                    coordinate,
                    extent,
                });
            }
            first += coordinate * weight;
            weight *= extent;
        }
        // `slice` refuses a layout whose rank is not N.
        let sliced = whole.composed()?.slice(&Coord::from(coord))?;
        Ok(Self {
            whole,
            coord,
            fixed,
            first,
            offset: sliced.offset(),
        })
    }

    fn is_fixed(&self, is: impl Fn(&Fixed) -> bool) -> bool {
        let mut pairs = self.fixed.iter().zip(&self.coord);
        pairs.any(|(fixed, coord)| coord.is_some() && is(fixed))
    }
}

impl<L: HostLayout, const N: usize> HostLayout for SliceOf<L, N> {
    fn profile(&self) -> Profile {
        self.whole.profile()
    }

    #[inline]
    fn extent_and_stride(&self, leaf: usize) -> (i64, i64) {
        let (extent, stride) = self.whole.extent_and_stride(leaf);
        let is_fixed = self.is_fixed(|fixed| (fixed.first..fixed.last).contains(&leaf));
        (if is_fixed { 1 } else { extent }, stride)
    }

    fn offset(&self) -> i64 {
        self.offset
    }

    fn swizzle(&self) -> Swizzle {
        self.whole.swizzle()
    }

    #[inline]
    fn coordinates(&self) -> i64 {
        extent(self, 0..self.profile().leaves())
    }

    /// Asks the whole layout, since only it knows which coordinates lie past the edge of a ragged tile.
    #[inline]
    fn place(&self, coord: i64) -> Option<i64> {
        if !(0..self.coordinates()).contains(&coord) {
            return None;
        }
        let (mut rest, mut weight, mut index) = (coord, 1, self.first);
        for (leaf, (extent, _)) in leaves(self).enumerate() {
            index += rest % extent * weight;
            rest /= extent;
            weight *= self.whole.extent_and_stride(leaf).0;
        }
        self.whole.place(index)
    }

    #[inline]
    fn keeps(&self, mode: usize) -> bool {
        self.whole.keeps(mode) && !self.is_fixed(|fixed| fixed.mode == mode)
    }

    #[inline]
    fn is_complete(&self) -> bool {
        self.whole.is_complete()
    }

    fn composed(&self) -> Result<ComposedLayout, LayoutError> {
        self.whole.composed()?.slice(&Coord::from(self.coord))
    }
}

impl<L: HostLayout, const N: usize> fmt::Debug for SliceOf<L, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text(self))
    }
}
