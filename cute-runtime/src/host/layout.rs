//! Layouts of host tensors, and coordinates of their elements.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use cute_algebra::{ComposedLayout, LayoutError};

use super::{HostError, walk};
use crate::layout::{Invariant, Tile};
use crate::{DynamicLayout, Layout, Profile, StaticLayout, StaticTiling, Swizzle};

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
        walk::walk(self)
    }

    /// The coordinates in runs along what is contiguous: the first of each run, and the values.
    ///
    /// # Panics
    /// If a coordinate does not have `N` numbers.
    #[track_caller]
    fn runs<const N: usize>(self) -> impl Iterator<Item = ([i64; N], Range<i64>)> {
        walk::runs(self)
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

/// How many coordinates there are along leaves.
#[inline]
pub(super) fn extent(layout: &impl HostLayout, leaves: Range<usize>) -> i64 {
    leaves.map(|leaf| layout.leaf(leaf).0).product()
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

/// One tile of the tiling `T`, as a layout. The tiles of a ragged tiling have no element past the edge.
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

    /// Its layout. The tiles of a ragged tiling reach past the edge.
    pub fn layout(&self) -> Layout {
        T::TILING.slice(self.number)
    }

    /// Its number: a 1-D coordinate of the rest.
    pub fn number(&self) -> i64 {
        self.number
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
    #[inline]
    fn profile(&self) -> Profile {
        Self::FIRST.profile()
    }

    #[inline]
    fn leaf(&self, leaf: usize) -> (i64, i64) {
        HostLayout::leaf(&Self::FIRST, leaf)
    }

    fn offset(&self) -> i64 {
        self.layout().offset()
    }

    fn swizzle(&self) -> Swizzle {
        Self::SWIZZLE
    }

    #[inline]
    fn size(&self) -> i64 {
        Self::SIZE
    }

    #[inline]
    fn index(&self, coord: i64) -> Option<i64> {
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

    fn to_composed(&self) -> Result<ComposedLayout, LayoutError> {
        self.layout().to_composed()
    }
}

/// A coordinate of an element: 1-D, or one number for each top-level mode.
pub trait HostCoordinate: Copy + fmt::Debug {
    /// The 1-D coordinate in a layout; `None` where there is none.
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
        // As below, for modes of one leaf each.
        if layout.profile().is_flat(N) && (0..N).all(|mode| layout.keeps(mode)) {
            let mut coords = self.into_iter().enumerate();
            let inside = coords.all(|(leaf, coord)| count(coord, layout.leaf(leaf).0));
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

/// Most values of a swizzled layout that are looked at one by one.
const SCAN_LIMIT: i64 = 1 << 20;

/// Refuses a layout with a value that is no index.
pub(super) fn check_bounds<L: HostLayout>(layout: &L, len: usize) -> Result<(), HostError> {
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
    let at = |coord: i64| layout.swizzle().apply(value(layout, coord));
    let mut suspects = [lowest, highest]
        .into_iter()
        .chain(0..layout.size().min(SCAN_LIMIT));
    match suspects.find(|&coord| outside(at(coord))) {
        Some(coordinate) => Err(HostError::OutOfBounds {
            layout: text(layout),
            coordinate,
            value: at(coordinate),
            len,
        }),
        None if layout.size() > SCAN_LIMIT => Err(HostError::NotShown {
            layout: text(layout),
            floor,
            ceiling,
            len,
        }),
        None => Ok(()),
    }
}

/// The 1-D coordinate with the largest value before the swizzle, or with the smallest.
fn extreme<L: HostLayout>(layout: &L, sign: i64) -> i64 {
    let (mut weight, mut coord) = (1, 0);
    for (extent, stride) in leaves(layout) {
        if stride.signum() == sign {
            coord += (extent - 1) * weight;
        }
        weight *= extent;
    }
    coord
}

/// The value before the swizzle.
fn value<L: HostLayout>(layout: &L, coord: i64) -> i64 {
    let (mut rest, mut sum) = (coord, layout.offset());
    for (extent, stride) in leaves(layout) {
        sum += rest % extent * stride;
        rest /= extent;
    }
    sum
}

pub(super) fn leaves<L: HostLayout>(layout: &L) -> impl Iterator<Item = (i64, i64)> {
    (0..layout.profile().leaves()).map(|leaf| layout.leaf(leaf))
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
