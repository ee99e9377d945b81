//! The layouts that host tensors can have.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use cute_algebra::{ComposedLayout, LayoutError};

use super::walk::Walked;
use crate::layout::Invariant;
use crate::{DynamicLayout, Layout, Profile, StaticLayout, Swizzle};

/// A layout that a host tensor can have: a [`Layout`], a type that `layout!` declares wrapped in [`Static`], a layout with
/// run-time integers, a tile of a tiling ([`TileOf`](crate::TileOf)), or a slice of any of these
/// ([`SliceOf`](crate::SliceOf)).
/// ```
/// use cute_runtime::{HostTensor, layout};
/// layout! { pub ROWS = (m,n):(n,1); }
/// let data: Vec<i32> = (0..12).collect();
/// let tensor = HostTensor::new(&data, ROWS::try_new(3, 4)?)?;
/// assert_eq!((tensor[[1, 2]], tensor[1]), (6, 4));
/// assert!(HostTensor::new(&data, ROWS::try_new(3, 5)?).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait HostLayout: Copy {
    /// How the modes nest.
    fn profile(&self) -> Profile;

    /// Extent and stride of leaf number `leaf` of the profile, counted from left to right.
    fn extent_and_stride(&self, leaf: usize) -> (i64, i64);

    /// The constant that is added to every value, before the swizzle.
    fn offset(&self) -> i64 {
        0
    }

    /// The swizzle that is applied to every value; the identity for most layouts.
    fn swizzle(&self) -> Swizzle {
        Swizzle::IDENTITY
    }

    /// Number of coordinates, including those without an element.
    fn coordinates(&self) -> i64;

    /// The value at a 1-D coordinate; `None` if it is out of range or has no element.
    fn place(&self, coord: i64) -> Option<i64>;

    /// Whether coordinates have a number for a given top-level mode of the profile. A slice fixes some modes: its coordinates have
    /// no number for them, and their extents are 1.
    #[inline]
    fn keeps(&self, _mode: usize) -> bool {
        true
    }

    /// Whether every coordinate has an element. Coordinates past the edge of a ragged tile have none.
    #[inline]
    fn is_complete(&self) -> bool {
        true
    }

    /// The coordinates with their values, along the mode of the smallest stride first. A coordinate has one number for each
    /// top-level mode; that of a tile is the coordinate in the tiled layout.
    ///
    /// # Panics
    /// If coordinates do not have `N` numbers.
    #[track_caller]
    fn walk<const N: usize>(self) -> impl Iterator<Item = ([i64; N], i64)> {
        walked(self).walk()
    }

    /// The coordinates in runs of consecutive values: the first coordinate of each run, and its values. If no mode has stride
    /// 1, or the layout is swizzled, each run has one value. Coordinates are those of [`walk`](Self::walk).
    ///
    /// # Panics
    /// If coordinates do not have `N` numbers.
    #[track_caller]
    fn runs<const N: usize>(self) -> impl Iterator<Item = ([i64; N], Range<i64>)> {
        walked(self).runs()
    }

    /// This layout as a value of `cute-algebra`, with its swizzle and offset.
    ///
    /// # Errors
    /// None for a layout that one of the macros made.
    fn composed(&self) -> Result<ComposedLayout, LayoutError>;
}

/// The layout as text, for messages.
pub(super) fn text(layout: &impl HostLayout) -> String {
    match layout.composed() {
        Ok(composed) => composed
            .as_layout()
            .map_or_else(|| composed.to_string(), ToString::to_string),
        Err(error) => error.to_string(),
    }
}

/// The top-level modes that coordinates have a number for: the index of each in the profile, and its leaves.
pub(super) fn modes(layout: &impl HostLayout) -> impl Iterator<Item = (usize, Range<usize>)> {
    let mut last = 0;
    let all = layout.profile().modes().map(move |mode| {
        let first = last;
        last += mode.leaves();
        first..last
    });
    all.enumerate().filter(|&(mode, _)| layout.keeps(mode))
}

/// Extent and stride of each leaf.
pub(super) fn leaves<L: HostLayout>(layout: &L) -> impl Iterator<Item = (i64, i64)> {
    (0..layout.profile().leaves()).map(|leaf| layout.extent_and_stride(leaf))
}

/// The product of the extents of some leaves.
#[inline]
pub(super) fn extent(layout: &impl HostLayout, leaves: Range<usize>) -> i64 {
    leaves
        .map(|leaf| layout.extent_and_stride(leaf).0)
        .product()
}

/// The values in the order of 1-D coordinates, with `None` for a coordinate without an element.
pub(super) fn in_order<L: HostLayout>(layout: L) -> impl Iterator<Item = Option<i64>> {
    walked(layout).in_order()
}

fn walked<L: HostLayout>(layout: L) -> Walked<impl Fn(i64) -> bool> {
    let (shape, stride) = leaves(&layout).unzip();
    Walked {
        shape,
        stride,
        modes: modes(&layout).map(|(_, leaves)| leaves).collect(),
        offset: layout.offset(),
        swizzle: layout.swizzle(),
        is_complete: layout.is_complete(),
        is_element: move |coord| layout.place(coord).is_some(),
    }
}

impl HostLayout for Layout {
    #[inline]
    fn profile(&self) -> Profile {
        (*self).profile()
    }

    #[inline]
    fn extent_and_stride(&self, leaf: usize) -> (i64, i64) {
        (self.flat_shape()[leaf], self.flat_stride()[leaf])
    }

    fn offset(&self) -> i64 {
        (*self).offset()
    }

    fn swizzle(&self) -> Swizzle {
        (*self).swizzle()
    }

    #[inline]
    fn coordinates(&self) -> i64 {
        (*self).size()
    }

    #[inline]
    fn place(&self, coord: i64) -> Option<i64> {
        (0 <= coord && coord < self.size()).then(|| self.at(coord))
    }

    fn composed(&self) -> Result<ComposedLayout, LayoutError> {
        Layout::to_composed(self)
    }
}

impl<L: DynamicLayout> HostLayout for L {
    #[inline]
    fn profile(&self) -> Profile {
        Self::PROFILE
    }

    #[inline]
    fn extent_and_stride(&self, leaf: usize) -> (i64, i64) {
        DynamicLayout::leaf(self, leaf)
    }

    fn offset(&self) -> i64 {
        self.base()
    }

    fn swizzle(&self) -> Swizzle {
        Self::RECIPE.swizzle
    }

    #[inline]
    fn coordinates(&self) -> i64 {
        DynamicLayout::size(self)
    }

    #[inline]
    fn place(&self, coord: i64) -> Option<i64> {
        (0 <= coord && coord < DynamicLayout::size(self)).then(|| DynamicLayout::index(self, coord))
    }

    fn composed(&self) -> Result<ComposedLayout, LayoutError> {
        DynamicLayout::to_composed(self)
    }
}

/// A value of size 0 that stands for a layout that is a type.
/// ```
/// use cute_runtime::{HostTensor, Static, layout};
/// layout! { pub A = (2,3):(3,1); }
/// let tensor = HostTensor::new(&[1, 2, 3, 4, 5, 6], Static::<A>::new())?;
/// assert_eq!(tensor[[1, 2]], 6);
/// # Ok::<(), cute_runtime::HostError>(())
/// ```
pub struct Static<L>(Invariant<L>);

impl<L> Static<L> {
    /// The only value of this type.
    pub const fn new() -> Self {
        Static(PhantomData)
    }
}

impl<L: StaticLayout> HostLayout for Static<L> {
    #[inline]
    fn profile(&self) -> Profile {
        L::LAYOUT.profile()
    }

    #[inline]
    fn extent_and_stride(&self, leaf: usize) -> (i64, i64) {
        HostLayout::extent_and_stride(&L::LAYOUT, leaf)
    }

    fn offset(&self) -> i64 {
        L::LAYOUT.offset()
    }

    fn swizzle(&self) -> Swizzle {
        L::LAYOUT.swizzle()
    }

    #[inline]
    fn coordinates(&self) -> i64 {
        L::SIZE
    }

    #[inline]
    fn place(&self, coord: i64) -> Option<i64> {
        (0 <= coord && coord < L::SIZE).then(|| L::index(coord))
    }

    fn composed(&self) -> Result<ComposedLayout, LayoutError> {
        L::LAYOUT.to_composed()
    }
}

// Derives would demand that `L` itself is `Clone` and `Copy`. It is only a name, so that is not needed.

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
