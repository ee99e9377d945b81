//! Tiles that are written at the same time, and all that is unsafe about them.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};
use std::ptr::NonNull;

use super::coordinate::no_element;
use super::{HostCoordinate, HostLayout, TileOf};
use crate::layout::Invariant;
use crate::{Layout, StaticTiling};

/// One tile of a tensor, to write. No other tile has any of its elements.
pub struct HostTileMut<'a, E, T> {
    elements: Elements<'a, E, T>,
    tile: TileOf<T>,
    /// As for threads, a tile is its elements.
    owned: PhantomData<&'a mut E>,
}

/// A slice whose elements belong to the tiles of a disjoint tiling, each to one coordinate of one tile at most.
///
/// Everything unsafe rests on this: `at` is the one place that makes a pointer to an element, its values are the tiling's,
/// and different coordinates have different values, of which `PROOF` is the check. It is made for one `T`, so that no other
/// may take its place: a subtype of `T` can have a tiling of its own.
pub(super) struct Elements<'a, E, T> {
    first: NonNull<E>,
    len: usize,
    slice: PhantomData<&'a mut [E]>,
    tiling: Invariant<T>,
}

impl<'a, E, T: StaticTiling> Elements<'a, E, T> {
    /// A compile-time error where the bound `DisjointTiling` of the caller promises too much.
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

    /// A tile that has its elements alone.
    ///
    /// # Safety
    /// For each number this is called once in the lifetime `'a`.
    pub(super) unsafe fn tile(&self, number: usize) -> HostTileMut<'a, E, T> {
        HostTileMut {
            elements: *self,
            tile: TileOf::new(number),
            owned: PhantomData,
        }
    }

    /// Where the element at coordinate `within` of a tile is, if there is one; another place for each coordinate.
    #[inline]
    fn element(&self, tile: TileOf<T>, within: i64) -> Option<NonNull<E>> {
        self.at(tile.index(within)?)
    }

    /// Where the element of a value of the tiling is.
    #[inline]
    fn at(&self, value: i64) -> Option<NonNull<E>> {
        let index = usize::try_from(value).ok()?;
        // SAFETY: the index is below the length of the slice.
        (index < self.len).then(|| unsafe { self.first.add(index) })
    }

    /// Where the elements of that many consecutive values are.
    #[inline]
    fn slice(&self, value: i64, len: i64) -> Option<NonNull<[E]>> {
        let (first, len) = (self.at(value)?, usize::try_from(len).ok()?);
        let room = self.len - usize::try_from(value).ok()?;
        (len <= room).then(|| NonNull::slice_from_raw_parts(first, len))
    }
}

impl<E, T: StaticTiling> HostTileMut<'_, E, T> {
    /// Its number: a 1-D coordinate of the rest.
    pub fn number(&self) -> i64 {
        self.tile.number()
    }

    /// Its layout; the tiles of a ragged tiling reach past the edge.
    pub fn layout(&self) -> Layout {
        self.tile.layout()
    }

    /// Number of coordinates, with those past the edge.
    pub fn size(&self) -> i64 {
        TileOf::<T>::SIZE
    }

    /// The coordinate in the whole of coordinate `within`: a number for each mode that the tiler tells apart.
    ///
    /// # Panics
    /// If `within` is not below the size, or the tiler does not tell `N` modes apart.
    #[inline]
    #[track_caller]
    pub fn coordinate<const N: usize>(&self, within: i64) -> [i64; N] {
        self.tile.coordinate(within)
    }

    /// The element at a coordinate of the tile: 1-D, or one number for each mode. `None` out of range and past the edge.
    #[inline]
    pub fn get<C: HostCoordinate>(&self, coord: C) -> Option<&E> {
        let element = self
            .elements
            .element(self.tile, coord.linear(&self.tile)?)?;
        // SAFETY: the element lives for 'a and belongs to this tile alone, which is borrowed to read.
        Some(unsafe { element.as_ref() })
    }

    /// The element at a coordinate of the tile: 1-D, or one number for each mode. `None` out of range and past the edge.
    #[inline]
    pub fn get_mut<C: HostCoordinate>(&mut self, coord: C) -> Option<&mut E> {
        let mut element = self
            .elements
            .element(self.tile, coord.linear(&self.tile)?)?;
        // SAFETY: the element lives for 'a and belongs to this tile alone, which is borrowed to write.
        Some(unsafe { element.as_mut() })
    }

    /// The elements with their coordinates in the whole, by the mode of the least stride first: in an order that is good for
    /// memory, whatever the layout is. Past the edge there are none.
    ///
    /// `for_each` and other methods that go through to the end are faster than a `for` loop, and loops over
    /// [`runs_mut`](Self::runs_mut) are faster still.
    ///
    /// # Panics
    /// If the tiler does not tell `N` modes apart.
    pub fn iter_mut<const N: usize>(&mut self) -> impl Iterator<Item = ([i64; N], &mut E)> {
        let elements = self.elements;
        self.tile.walk().filter_map(move |(coordinate, value)| {
            let mut element = elements.at(value)?;
            // SAFETY: as in `get_mut`; and the walk has each coordinate once, so each element is lent once.
            Some((coordinate, unsafe { element.as_mut() }))
        })
    }

    /// The elements in slices, each with the coordinate of its first in the whole. A slice is what is contiguous along one
    /// mode of the tile, up to the edge; of one element where nothing is, as under a swizzle.
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
    /// If the tiler does not tell `N` modes apart.
    pub fn runs_mut<const N: usize>(&mut self) -> impl Iterator<Item = ([i64; N], &mut [E])> {
        let elements = self.elements;
        self.tile.runs().filter_map(move |(coordinate, values)| {
            let mut slice = elements.slice(values.start, values.end - values.start)?;
            // SAFETY: as in `get_mut`, for coordinates whose values are these; and each coordinate is in one run.
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

// SAFETY: it stands for a `&mut [E]`, which may be sent if the elements may.
unsafe impl<E: Send, T> Send for Elements<'_, E, T> {}

// SAFETY: all that can be had through a shared reference are tiles, each once, and a tile is a `&mut E` many times over: to have
// it on another thread is to have sent it. That a tile itself is shared only where elements may be, its own field sees to.
unsafe impl<E: Send, T> Sync for Elements<'_, E, T> {}
