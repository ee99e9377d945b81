//! Layouts of host tensors.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use cute_algebra::{ComposedLayout, LayoutError};

use super::walk::Walked;
use crate::layout::Invariant;
use crate::{DynamicLayout, Layout, Profile, StaticLayout, Swizzle};

/// A layout that a host tensor can have: a [`Layout`], a type that `layout!` declares as [`Static`], a layout with run-time
/// integers, a tile of a tiling, or a slice of any of them.
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
    /// How the leaves nest.
    fn profile(&self) -> Profile;

    /// Extent and stride of a leaf.
    fn leaf(&self, leaf: usize) -> (i64, i64);

    /// What is added to the values, before the swizzle.
    fn offset(&self) -> i64 {
        0
    }

    /// What the values are swizzled by.
    fn swizzle(&self) -> Swizzle {
        Swizzle::IDENTITY
    }

    /// Number of coordinates.
    fn size(&self) -> i64;

    /// The value at a 1-D coordinate; `None` where there is no element.
    fn index(&self, coord: i64) -> Option<i64>;

    /// Whether coordinates have a number for a top-level mode of the profile. Those of a slice have none for a mode that is
    /// fixed, whose extents are then 1.
    #[inline]
    fn keeps(&self, _mode: usize) -> bool {
        true
    }

    /// Whether each coordinate has an element. Those past the edge of a tile have none.
    #[inline]
    fn is_complete(&self) -> bool {
        true
    }

    /// The coordinates with their values, by the mode of the least stride first. A coordinate is a number for each top-level
    /// mode; of a tile, it is the coordinate in the whole.
    ///
    /// # Panics
    /// If a coordinate does not have `N` numbers.
    #[track_caller]
    fn walk<const N: usize>(self) -> impl Iterator<Item = ([i64; N], i64)> {
        walked(self).walk()
    }

    /// The coordinates in runs along what is contiguous: the first of each run, and the values.
    ///
    /// # Panics
    /// If a coordinate does not have `N` numbers.
    #[track_caller]
    fn runs<const N: usize>(self) -> impl Iterator<Item = ([i64; N], Range<i64>)> {
        walked(self).runs()
    }

    /// The same layout in the algebra, with its swizzle and offset.
    ///
    /// # Errors
    /// Never for a layout that was built.
    fn to_composed(&self) -> Result<ComposedLayout, LayoutError>;
}

/// The layout as text.
pub(super) fn text(layout: &impl HostLayout) -> String {
    match layout.to_composed() {
        Ok(composed) => composed
            .as_layout()
            .map_or_else(|| composed.to_string(), ToString::to_string),
        Err(error) => error.to_string(),
    }
}

/// The top-level modes that coordinates have a number for: which of the profile, and their leaves.
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
    (0..layout.profile().leaves()).map(|leaf| layout.leaf(leaf))
}

/// How many coordinates there are along leaves.
#[inline]
pub(super) fn extent(layout: &impl HostLayout, leaves: Range<usize>) -> i64 {
    leaves.map(|leaf| layout.leaf(leaf).0).product()
}

/// The values in the order of 1-D coordinates; `None` where there is no element.
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
        is_element: move |coord| layout.index(coord).is_some(),
    }
}

impl HostLayout for Layout {
    #[inline]
    fn profile(&self) -> Profile {
        (*self).profile()
    }

    #[inline]
    fn leaf(&self, leaf: usize) -> (i64, i64) {
        (self.flat_shape()[leaf], self.flat_stride()[leaf])
    }

    fn offset(&self) -> i64 {
        (*self).offset()
    }

    fn swizzle(&self) -> Swizzle {
        (*self).swizzle()
    }

    #[inline]
    fn size(&self) -> i64 {
        (*self).size()
    }

    #[inline]
    fn index(&self, coord: i64) -> Option<i64> {
        (0 <= coord && coord < self.size()).then(|| self.at(coord))
    }

    fn to_composed(&self) -> Result<ComposedLayout, LayoutError> {
        Layout::to_composed(self)
    }
}

impl<L: DynamicLayout> HostLayout for L {
    #[inline]
    fn profile(&self) -> Profile {
        Self::PROFILE
    }

    #[inline]
    fn leaf(&self, leaf: usize) -> (i64, i64) {
        DynamicLayout::leaf(self, leaf)
    }

    fn offset(&self) -> i64 {
        self.base()
    }

    fn swizzle(&self) -> Swizzle {
        Self::RECIPE.swizzle
    }

    #[inline]
    fn size(&self) -> i64 {
        DynamicLayout::size(self)
    }

    #[inline]
    fn index(&self, coord: i64) -> Option<i64> {
        (0 <= coord && coord < DynamicLayout::size(self)).then(|| DynamicLayout::index(self, coord))
    }

    fn to_composed(&self) -> Result<ComposedLayout, LayoutError> {
        DynamicLayout::to_composed(self)
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
pub struct Static<L>(Invariant<L>);

impl<L> Static<L> {
    /// The value.
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
    fn leaf(&self, leaf: usize) -> (i64, i64) {
        HostLayout::leaf(&L::LAYOUT, leaf)
    }

    fn offset(&self) -> i64 {
        L::LAYOUT.offset()
    }

    fn swizzle(&self) -> Swizzle {
        L::LAYOUT.swizzle()
    }

    #[inline]
    fn size(&self) -> i64 {
        L::SIZE
    }

    #[inline]
    fn index(&self, coord: i64) -> Option<i64> {
        (0 <= coord && coord < L::SIZE).then(|| L::index(coord))
    }

    fn to_composed(&self) -> Result<ComposedLayout, LayoutError> {
        L::LAYOUT.to_composed()
    }
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
