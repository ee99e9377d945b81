//! Tiles that can be written at the same time, and the unsafe code that this takes.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};
use std::ptr::NonNull;

use super::coordinate::no_element;
use super::{HostCoordinate, HostLayout, TileOf};
use crate::layout::Invariant;
use crate::{Layout, StaticTiling};

/// One tile of a tensor, to write. No other tile shares an element with it.
pub struct HostTileMut<'a, E, T> {
    elements: Elements<'a, E, T>,
    tile: TileOf<T>,
    /// Makes the tile `Send` and `Sync` only where a `&mut E` is. `Elements` alone is `Sync` for every `E: Send`.
    owned: PhantomData<&'a mut E>,
}

/// A mutably borrowed slice, divided among the tiles of a disjoint tiling: each element belongs to at most one coordinate of
/// one tile.
///
/// All unsafe code of this module relies on that. `at` is the only function that makes a pointer to an element. It is called
/// with values of the tiling only, and `PROOF` checks that different coordinates of the tiling have different values. The
/// check is made for one type `T`, and `tiling` is invariant in it: a subtype of `T` may have another tiling, so a value for
/// `T` must not be used as one for the subtype.
pub(super) struct Elements<'a, E, T> {
    first: NonNull<E>,
    len: usize,
    slice: PhantomData<&'a mut [E]>,
    tiling: Invariant<T>,
}

impl<'a, E, T: StaticTiling> Elements<'a, E, T> {
    /// A compile-time error if the tiling is not disjoint. `DisjointTiling` is a safe trait, so the caller's bound proves
    /// nothing.
    const PROOF: () = assert!(
        T::TILING.is_disjoint(),
        "the tiling is not proved to be disjoint"
    );

    pub(super) fn new(slice: &'a mut [E]) -> Self {
        const { Self::PROOF };
        Self {
            len: slice.len(),
            first: NonNull::from(slice).cast(),
            slice: PhantomData,
            tiling: PhantomData,
        }
    }

    /// Tile number `number`, with exclusive access to its elements.
    ///
    /// # Safety
    /// This is called at most once for each number, over all copies of this value.
    pub(super) unsafe fn tile(&self, number: usize) -> HostTileMut<'a, E, T> {
        HostTileMut {
            elements: *self,
            tile: TileOf::new(number),
            owned: PhantomData,
        }
    }

    /// A pointer to the element at 1-D coordinate `within` of a tile; `None` out of range and past the edge. Different
    /// coordinates and different tiles give different pointers.
    #[inline]
    fn element(&self, tile: TileOf<T>, within: i64) -> Option<NonNull<E>> {
        self.at(tile.place(within)?)
    }

    /// A pointer to the element at index `value` of the slice; `None` outside the slice.
    #[inline]
    fn at(&self, value: i64) -> Option<NonNull<E>> {
        let index = usize::try_from(value).ok()?;
        // SAFETY: the index is below the length of the slice that `first` points to.
        (index < self.len).then(|| unsafe { self.first.add(index) })
    }

    /// A pointer to the elements at the indices `value..value + len`; `None` unless all lie in the slice.
    #[inline]
    fn slice(&self, value: i64, len: i64) -> Option<NonNull<[E]>> {
        let (first, len) = (self.at(value)?, usize::try_from(len).ok()?);
        let room = self.len - usize::try_from(value).ok()?;
        (len <= room).then(|| NonNull::slice_from_raw_parts(first, len))
    }
}

impl<E, T: StaticTiling> HostTileMut<'_, E, T> {
    /// The number of the tile: its 1-D coordinate in [`Tiling::rest`](crate::Tiling::rest).
    pub fn number(&self) -> i64 {
        self.tile.number()
    }

    /// The layout of the tile. In a ragged tiling, it includes the coordinates past the edge.
    pub fn layout(&self) -> Layout {
        self.tile.layout()
    }

    /// Number of coordinates, including those past the edge.
    pub fn size(&self) -> i64 {
        TileOf::<T>::SIZE
    }

    /// The coordinate in the tiled layout of 1-D coordinate `within` of this tile: one number for each axis of the tiling
    /// (see [`Tiling`](crate::Tiling)).
    ///
    /// # Panics
    /// If `within` is negative or not below the size, or if the tiling does not have `N` axes.
    #[inline]
    #[track_caller]
    pub fn coordinate<const N: usize>(&self, within: i64) -> [i64; N] {
        self.tile.coordinate(within)
    }

    /// The element at a coordinate of the tile: an `i64`, or an array with one number for each top-level mode. `None` out of
    /// range and past the edge.
    #[inline]
    pub fn get<C: HostCoordinate>(&self, coord: C) -> Option<&E> {
        let element = self
            .elements
            .element(self.tile, coord.linear(&self.tile)?)?;
        // SAFETY: the element lives for 'a and belongs to this tile alone. The tile is borrowed, so no mutable reference to
        // the element exists while the result lives.
        Some(unsafe { element.as_ref() })
    }

    /// The element at a coordinate of the tile: an `i64`, or an array with one number for each top-level mode. `None` out of
    /// range and past the edge.
    #[inline]
    pub fn get_mut<C: HostCoordinate>(&mut self, coord: C) -> Option<&mut E> {
        let mut element = self
            .elements
            .element(self.tile, coord.linear(&self.tile)?)?;
        // SAFETY: the element lives for 'a and belongs to this tile alone. The tile is mutably borrowed, so no other reference
        // to the element exists while the result lives.
        Some(unsafe { element.as_mut() })
    }

    /// The elements with their coordinates in the tiled layout, along the mode of the smallest stride first, so that
    /// neighbours in memory come one after the other. Coordinates past the edge are left out.
    ///
    /// `for_each` and other methods that consume the whole iterator are faster than a `for` loop. Loops over
    /// [`runs_mut`](Self::runs_mut) are faster still.
    ///
    /// # Panics
    /// If the tiling does not have `N` axes (see [`Tiling`](crate::Tiling)).
    pub fn iter_mut<const N: usize>(&mut self) -> impl Iterator<Item = ([i64; N], &mut E)> {
        let elements = self.elements;
        self.tile.walk().filter_map(move |(coordinate, value)| {
            let mut element = elements.at(value)?;
            // SAFETY: as in `get_mut`. The walk visits each coordinate once, so no element is lent twice.
            Some((coordinate, unsafe { element.as_mut() }))
        })
    }

    /// The elements in slices, each with the coordinate of its first element in the tiled layout. A slice runs along the mode
    /// of stride 1, up to the edge. If no mode has stride 1, or the layout is swizzled, each slice has one element.
    /// ```
    /// use cute_runtime::{HostTensorMut, layout, tile};
    /// layout! { IMAGE = (5,7):(7,1); }
    /// tile! { mut BLOCKS = ragged IMAGE / <2,4>; }
    ///
    /// let mut pixels = [0; 35];
    /// let mut image = HostTensorMut::new(&mut pixels, IMAGE)?;
    /// for mut block in image.tiles_mut::<BLOCKS>()? {
    ///     for ([row, column], run) in block.runs_mut() {
    ///         run.fill(10 * row + column);
    ///     }
    /// }
    /// assert_eq!(pixels[7..14], [10, 10, 10, 10, 14, 14, 14]);
    /// # Ok::<(), cute_runtime::HostError>(())
    /// ```
    ///
    /// # Panics
    /// If the tiling does not have `N` axes (see [`Tiling`](crate::Tiling)).
    pub fn runs_mut<const N: usize>(&mut self) -> impl Iterator<Item = ([i64; N], &mut [E])> {
        let elements = self.elements;
        self.tile.runs().filter_map(move |(coordinate, values)| {
            let mut slice = elements.slice(values.start, values.end - values.start)?;
            // SAFETY: as in `get_mut`: the elements are those of coordinates of this tile. Each coordinate is in one run only,
            // so no element is lent twice.
            Some((coordinate, unsafe { slice.as_mut() }))
        })
    }
}

impl<E, T: StaticTiling, C: HostCoordinate> Index<C> for HostTileMut<'_, E, T> {
    type Output = E;

    #[inline]
    #[track_caller]
    fn index(&self, coord: C) -> &E {
        match self.get(coord) {
            Some(element) => element,
            None => no_element(coord, &self.layout()),
        }
    }
}

impl<E, T: StaticTiling, C: HostCoordinate> IndexMut<C> for HostTileMut<'_, E, T> {
    #[inline]
    #[track_caller]
    fn index_mut(&mut self, coord: C) -> &mut E {
        let tile = self.tile;
        match self.get_mut(coord) {
            Some(element) => element,
            None => no_element(coord, &tile.layout()),
        }
    }
}

impl<E, T: StaticTiling> fmt::Debug for HostTileMut<'_, E, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.tile.fmt(f)
    }
}

impl<E, T> Clone for Elements<'_, E, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E, T> Copy for Elements<'_, E, T> {}

// SAFETY: the value stands for a `&mut [E]`, which may be sent to another thread if `E` may.
unsafe impl<E: Send, T> Send for Elements<'_, E, T> {}

// SAFETY: a thread that has a `&Elements` reaches elements only through `tile`, which makes each tile once. A tile is exclusive
// access to its elements, so a thread that makes one receives them as if it had been sent a `&mut E` for each: `E: Send`
// suffices. To share a tile between threads needs `E: Sync`, which the field `owned` of `HostTileMut` demands.
unsafe impl<E: Send, T> Sync for Elements<'_, E, T> {}
