//! Coordinates of the elements of host tensors.

use std::fmt;

use super::layout::{HostLayout, extent, modes, text};
use crate::Profile;

/// A coordinate of an element: an `i64` is the 1-D coordinate, an array has one number for each top-level mode.
pub trait HostCoordinate: Copy + fmt::Debug {
    /// The 1-D coordinate in `layout`. An array gives `None` if its length is not the rank or a number is out of range; an
    /// `i64` is returned as it is, in range or not.
    fn linear<L: HostLayout>(self, layout: &L) -> Option<i64>;
}

impl HostCoordinate for i64 {
    #[inline]
    fn linear<L: HostLayout>(self, _: &L) -> Option<i64> {
        Some(self)
    }
}

impl<const N: usize> HostCoordinate for [i64; N] {
    #[inline]
    fn linear<L: HostLayout>(self, layout: &L) -> Option<i64> {
        let (mut weight, mut index) = (1, 0);
        let mut count = |coord: i64, size: i64| {
            let inside = 0 <= coord && coord < size;
            if inside {
                index += coord * weight;
                weight *= size;
            }
            inside
        };
        // The same as below, without the search for the leaves of each mode: every mode is one leaf.
        let is_flat = Profile::flat(N) == Some(layout.profile());
        if is_flat && (0..N).all(|mode| layout.keeps(mode)) {
            let mut coords = self.into_iter().enumerate();
            let inside = coords.all(|(leaf, coord)| count(coord, layout.extent_and_stride(leaf).0));
            return inside.then_some(index);
        }
        let mut modes = modes(layout);
        for coord in self {
            let (_, leaves) = modes.next()?;
            if !count(coord, extent(layout, leaves)) {
                return None;
            }
        }
        modes.next().is_none().then_some(index)
    }
}

#[cold]
#[track_caller]
pub(super) fn no_element<C: HostCoordinate, L: HostLayout>(coord: C, layout: &L) -> ! {
    panic!("no element at coordinate {coord:?} of {}", text(layout))
}
