//! Host tensors: a slice and a layout that gives the index of each coordinate's element.

use std::fmt;
use std::ops::{Index, IndexMut};

use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};

use super::bounds::check_bounds;
use super::coordinate::no_element;
use super::layout::{in_order, text};
use super::tile_mut::Elements;
use super::{HostCoordinate, HostError, HostLayout, HostTileMut, SliceOf, TileOf, table};
use crate::{DisjointTiling, Layout, StaticTiling};

/// A slice of the host with a layout, to read: the element at coordinate `c` is `data[layout(c)]`.
/// ```
/// use cute_runtime::{HostTensor, layout};
/// let data: Vec<i32> = (0..12).collect();
/// let columns = HostTensor::new(&data, layout!((3,4):(4,1)))?;
/// assert_eq!((columns[[1, 2]], columns[7]), (6, 6));
/// assert_eq!(columns.iter().take(4).collect::<Vec<_>>(), [&0, &4, &8, &1]);
/// # Ok::<(), cute_runtime::HostError>(())
/// ```
pub struct HostTensor<'a, E, L = Layout> {
    data: &'a [E],
    layout: L,
}

/// A slice of the host with a layout, to write.
///
/// Several threads can write its tiles at the same time, if it is proved that no two tiles share an element.
/// ```
/// use cute_runtime::{HostTensorMut, layout, tile};
/// layout! { MATRIX = (64,48):(48,1); }
/// tile! { BLOCKS = MATRIX / <8,16>; }
///
/// let mut data = vec![0; 64 * 48];
/// let mut matrix = HostTensorMut::new(&mut data, MATRIX)?;
/// matrix.tiles_mut::<BLOCKS>()?.for_each(|mut block| {
///     let number = block.number();
///     block[[0, 3]] = number;
/// });
/// // Block (1, 2) is number 1 + 8 * 2.
/// assert_eq!(matrix[[8, 32 + 3]], 17);
/// # Ok::<(), cute_runtime::HostError>(())
/// ```
/// A layout in which two coordinates share an element has no tiles that can be written:
/// ```compile_fail,E0277
/// use cute_runtime::{HostTensorMut, layout, tile};
/// layout! { WINDOWS = (4,8):(1,1); }
/// tile! { COLUMNS = WINDOWS / <4>; }
/// let mut data = [0; 11];
/// let mut windows = HostTensorMut::new(&mut data, WINDOWS).unwrap();
/// let tiles = windows.tiles_mut::<COLUMNS>().unwrap();
/// ```
pub struct HostTensorMut<'a, E, L = Layout> {
    data: &'a mut [E],
    layout: L,
}

impl<'a, E, L: HostLayout> HostTensor<'a, E, L> {
    /// A tensor over a slice.
    ///
    /// # Errors
    /// If a value of the layout is not an index of the slice ([`HostError::OutOfBounds`]), or if that cannot be decided for
    /// a swizzled layout of more than 2²⁰ coordinates ([`HostError::NotShown`]).
    pub fn new(data: &'a [E], layout: L) -> Result<Self, HostError> {
        check_bounds(&layout, data.len())?;
        Ok(Self { data, layout })
    }

    /// The layout.
    pub fn layout(&self) -> L {
        self.layout
    }

    /// The whole slice, including elements that the layout leaves out.
    pub fn data(&self) -> &'a [E] {
        self.data
    }

    /// Number of coordinates.
    pub fn size(&self) -> i64 {
        self.layout.coordinates()
    }

    /// The element at a coordinate: an `i64`, or an array with one number for each top-level mode. `None` out of range.
    #[inline]
    pub fn get<C: HostCoordinate>(&self, coord: C) -> Option<&'a E> {
        at(self.data, self.layout.place(coord.linear(&self.layout)?)?)
    }

    /// The elements in the order of 1-D coordinates: the leftmost mode runs fastest. Coordinates past the edge of a ragged
    /// tile are left out.
    ///
    /// [`elements`](Self::elements) visits them in an order that suits memory, and gives their coordinates.
    pub fn iter(&self) -> impl Iterator<Item = &'a E> + use<'a, E, L> {
        let data = self.data;
        in_order(self.layout).filter_map(move |value| at(data, value?))
    }

    /// The elements with their coordinates, along the mode of the smallest stride first, so that neighbours in memory come one
    /// after the other. A coordinate has one number for each top-level mode; that of a tile is the coordinate in the tiled
    /// layout, as in [`HostTileMut::iter_mut`].
    /// ```
    /// use cute_runtime::{HostTensor, layout, tile};
    /// layout! { MATRIX = (3,4):(4,1); }
    /// tile! { BLOCKS = ragged MATRIX / <2,2>; }
    /// let data: Vec<i64> = (0..12).collect();
    /// let matrix = HostTensor::new(&data, MATRIX)?;
    /// assert!(matrix.elements().all(|([row, column], &x)| x == 4 * row + column));
    ///
    /// let last = matrix.tiles::<BLOCKS>()?.last().unwrap();
    /// assert_eq!(last.elements().collect::<Vec<_>>(), [([2, 2], &10), ([2, 3], &11)]);
    /// # Ok::<(), cute_runtime::HostError>(())
    /// ```
    ///
    /// # Panics
    /// If coordinates do not have `N` numbers.
    #[track_caller]
    pub fn elements<const N: usize>(
        &self,
    ) -> impl Iterator<Item = ([i64; N], &'a E)> + use<'a, E, L, N> {
        let data = self.data;
        let walk = self.layout.walk();
        walk.filter_map(move |(coordinate, value)| Some((coordinate, at(data, value)?)))
    }

    /// The elements in slices, each with the coordinate of its first element. A slice runs along the mode of stride 1, in a
    /// tile up to the edge. If no mode has stride 1, or the layout is swizzled, each slice has one element. Coordinates are
    /// those of [`elements`](Self::elements).
    /// ```
    /// use cute_runtime::{HostTensor, layout};
    /// let data: Vec<i64> = (0..15).collect();
    /// // Rows of four elements that begin five elements apart.
    /// let padded = HostTensor::new(&data, layout!((3,4):(5,1)))?;
    /// let sums = padded.runs().map(|([row, _], run)| (row, run.iter().sum()));
    /// assert_eq!(sums.collect::<Vec<(i64, i64)>>(), [(0, 6), (1, 26), (2, 46)]);
    /// # Ok::<(), cute_runtime::HostError>(())
    /// ```
    ///
    /// # Panics
    /// If coordinates do not have `N` numbers.
    #[track_caller]
    pub fn runs<const N: usize>(
        &self,
    ) -> impl Iterator<Item = ([i64; N], &'a [E])> + use<'a, E, L, N> {
        let data = self.data;
        self.layout.runs().filter_map(move |(coordinate, values)| {
            let first = usize::try_from(values.start).ok()?;
            let last = usize::try_from(values.end).ok()?;
            Some((coordinate, data.get(first..last)?))
        })
    }

    /// The elements at the coordinates that agree with `coord`, as a tensor. A `None` keeps its mode, as CuTe's `_` does; a
    /// number fixes its mode.
    ///
    /// # Errors
    /// If the layout does not have `N` top-level modes, or a number is out of range.
    /// ```
    /// use cute_runtime::{HostTensor, layout};
    /// let data: Vec<i32> = (0..24).collect();
    /// let matrix = HostTensor::new(&data, layout!((4,(2,3)):(6,(3,1))))?;
    /// let row = matrix.slice([Some(2), None])?;
    /// assert_eq!(row.iter().copied().collect::<Vec<_>>(), [12, 15, 13, 16, 14, 17]);
    /// assert_eq!((row[[1]], row[5]), (15, 17));
    /// assert_eq!(row.to_string(), "Sw<0,0,0> o 12 o ((2,3)):((3,1)) [12, 15, 13, 16, 14, 17]");
    ///
    /// let error = matrix.slice([None, Some(6)]).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "coordinate 6 along mode 1 of (4,(2,3)):(6,(3,1)) must be at least 0 and below 6"
    /// );
    /// # Ok::<(), cute_runtime::HostError>(())
    /// ```
    pub fn slice<const N: usize>(
        &self,
        coord: [Option<i64>; N],
    ) -> Result<HostTensor<'a, E, SliceOf<L, N>>, HostError> {
        Ok(HostTensor {
            data: self.data,
            layout: SliceOf::new(self.layout, coord)?,
        })
    }

    /// The tiles of a tiling of this layout, in the order of their numbers.
    ///
    /// # Errors
    /// If `T` divides another layout than this tensor's.
    /// ```
    /// use cute_runtime::{HostTensor, layout, tile};
    /// layout! { MATRIX = (4,6):(6,1); }
    /// tile! { BLOCKS = MATRIX / <2,3>; }
    /// let data: Vec<i32> = (0..24).collect();
    /// let matrix = HostTensor::new(&data, MATRIX)?;
    /// let sums = matrix.tiles::<BLOCKS>()?.map(|block| block.iter().sum());
    /// assert_eq!(sums.collect::<Vec<i32>>(), [24, 96, 42, 114]);
    /// # Ok::<(), cute_runtime::HostError>(())
    /// ```
    pub fn tiles<T: StaticTiling>(
        &self,
    ) -> Result<
        impl DoubleEndedIterator<Item = HostTile<'a, E, T>> + ExactSizeIterator + use<'a, E, L, T>,
        HostError,
    > {
        check_tiling::<T, L>(&self.layout)?;
        let data = self.data;
        Ok((0..TileOf::<T>::COUNT).map(move |number| HostTensor {
            data,
            layout: TileOf::new(number),
        }))
    }
}

/// One tile of a tensor, to read.
pub type HostTile<'a, E, T> = HostTensor<'a, E, TileOf<T>>;

impl<E, T: StaticTiling> HostTile<'_, E, T> {
    /// The number of the tile: its 1-D coordinate in [`Tiling::rest`](crate::Tiling::rest).
    pub fn number(&self) -> i64 {
        self.layout.number()
    }

    /// The coordinate in the tiled layout of 1-D coordinate `within` of this tile: one number for each axis of the tiling
    /// (see [`Tiling`](crate::Tiling)).
    ///
    /// # Panics
    /// If `within` is negative or not below the size, or if the tiling does not have `N` axes.
    #[inline]
    #[track_caller]
    pub fn coordinate<const N: usize>(&self, within: i64) -> [i64; N] {
        self.layout.coordinate(within)
    }
}

impl<'a, E, L: HostLayout> HostTensorMut<'a, E, L> {
    /// A tensor over a slice.
    ///
    /// # Errors
    /// If a value of the layout is not an index of the slice ([`HostError::OutOfBounds`]), or if that cannot be decided for
    /// a swizzled layout of more than 2²⁰ coordinates ([`HostError::NotShown`]).
    pub fn new(data: &'a mut [E], layout: L) -> Result<Self, HostError> {
        check_bounds(&layout, data.len())?;
        Ok(Self { data, layout })
    }

    /// The layout.
    pub fn layout(&self) -> L {
        self.layout
    }

    /// The whole slice, including elements that the layout leaves out.
    pub fn data(&mut self) -> &mut [E] {
        self.data
    }

    /// Number of coordinates.
    pub fn size(&self) -> i64 {
        self.layout.coordinates()
    }

    /// The same tensor, to read.
    pub fn as_tensor(&self) -> HostTensor<'_, E, L> {
        HostTensor {
            data: self.data,
            layout: self.layout,
        }
    }

    /// The element at a coordinate: an `i64`, or an array with one number for each top-level mode. `None` out of range.
    #[inline]
    pub fn get<C: HostCoordinate>(&self, coord: C) -> Option<&E> {
        self.as_tensor().get(coord)
    }

    /// The element at a coordinate: an `i64`, or an array with one number for each top-level mode. `None` out of range.
    #[inline]
    pub fn get_mut<C: HostCoordinate>(&mut self, coord: C) -> Option<&mut E> {
        let index = self.layout.place(coord.linear(&self.layout)?)?;
        at_mut(self.data, index)
    }

    /// The elements at the coordinates that agree with `coord`, to write: see [`HostTensor::slice`].
    /// ```
    /// use cute_runtime::{HostTensorMut, layout};
    /// let mut data = [0; 6];
    /// let mut matrix = HostTensorMut::new(&mut data, layout!((2,3):(3,1)))?;
    /// matrix.slice_mut([None, Some(1)])?.fill(7);
    /// assert_eq!(data, [0, 7, 0, 0, 7, 0]);
    /// # Ok::<(), cute_runtime::HostError>(())
    /// ```
    pub fn slice_mut<const N: usize>(
        &mut self,
        coord: [Option<i64>; N],
    ) -> Result<HostTensorMut<'_, E, SliceOf<L, N>>, HostError> {
        Ok(HostTensorMut {
            layout: SliceOf::new(self.layout, coord)?,
            data: self.data,
        })
    }

    /// Writes a value to the element of each coordinate. Elements of the slice that the layout leaves out are unchanged.
    /// ```
    /// use cute_runtime::{HostTensorMut, layout};
    /// let mut data = [0; 6];
    /// HostTensorMut::new(&mut data, layout!((2,2):(3,1)))?.fill(7);
    /// assert_eq!(data, [7, 7, 0, 7, 7, 0]);
    /// # Ok::<(), cute_runtime::HostError>(())
    /// ```
    pub fn fill(&mut self, value: E)
    where
        E: Clone,
    {
        for index in in_order(self.layout).flatten() {
            if let Some(element) = at_mut(self.data, index) {
                element.clone_from(&value);
            }
        }
    }

    /// Copies the element at each 1-D coordinate of another tensor to the same 1-D coordinate of this one, as CuTe's `copy`
    /// does. The layouts may differ.
    ///
    /// # Errors
    /// If the sizes differ.
    /// ```
    /// use cute_runtime::{HostTensor, HostTensorMut, layout};
    /// let rows = HostTensor::new(&[1, 2, 3, 4, 5, 6], layout!((2,3):row))?;
    /// let mut columns = [0; 6];
    /// HostTensorMut::new(&mut columns, layout!((2,3):col))?.copy_from(&rows)?;
    /// assert_eq!(columns, [1, 4, 2, 5, 3, 6]);
    ///
    /// let error = HostTensorMut::new(&mut columns, layout!(5))?.copy_from(&rows).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "cannot copy (2,3):(3,1) to 5:1: the source has 6 coordinates, the destination 5"
    /// );
    /// # Ok::<(), cute_runtime::HostError>(())
    /// ```
    pub fn copy_from<M: HostLayout>(&mut self, from: &HostTensor<'_, E, M>) -> Result<(), HostError>
    where
        E: Clone,
    {
        if self.size() != from.size() {
            return Err(HostError::OtherSize {
                to: text(&self.layout),
                size: self.size(),
                from: text(&from.layout),
                from_size: from.size(),
            });
        }
        for (to, index) in in_order(self.layout).zip(in_order(from.layout)) {
            // Either tensor may be a ragged tile, with coordinates that have no element.
            let pair = to.zip(index);
            let pair = pair.and_then(|(to, index)| at_mut(self.data, to).zip(at(from.data, index)));
            if let Some((to, from)) = pair {
                to.clone_from(from);
            }
        }
        Ok(())
    }

    /// The tiles of a tiling of this layout, in the order of their numbers. It was proved at compile time that no two of them
    /// share an element.
    ///
    /// # Errors
    /// If `T` divides another layout than this tensor's.
    pub fn tiles_mut<T: DisjointTiling>(
        &mut self,
    ) -> Result<impl DoubleEndedIterator<Item = HostTileMut<'_, E, T>> + ExactSizeIterator, HostError>
    {
        check_tiling::<T, L>(&self.layout)?;
        let elements = Elements::<E, T>::new(self.data);
        Ok((0..TileOf::<T>::COUNT).map(move |number| {
            // SAFETY: the range contains each number once, and `elements` is used here only.
            unsafe { elements.tile(number) }
        }))
    }

    /// The tiles of a tiling of this layout, as a parallel iterator of rayon. It was proved at compile time that no two of
    /// them share an element.
    ///
    /// # Errors
    /// If `T` divides another layout than this tensor's.
    /// ```
    /// use cute_runtime::{HostTensorMut, layout, tile};
    /// use rayon::iter::ParallelIterator;
    /// layout! { IMAGE = (100,70):(70,1); }
    /// tile! { mut BLOCKS = ragged IMAGE / <16,16>; }
    ///
    /// let mut pixels = vec![0; 100 * 70];
    /// let mut image = HostTensorMut::new(&mut pixels, IMAGE)?;
    /// image.par_tiles_mut::<BLOCKS>()?.for_each(|mut block| {
    ///     for (coord, pixel) in block.iter_mut() {
    ///         let [row, column] = coord;
    ///         *pixel = 1000 * row + column;
    ///     }
    /// });
    /// assert_eq!(image[[99, 69]], 99_069);
    /// # Ok::<(), cute_runtime::HostError>(())
    /// ```
    pub fn par_tiles_mut<T: DisjointTiling>(
        &mut self,
    ) -> Result<impl IndexedParallelIterator<Item = HostTileMut<'_, E, T>>, HostError>
    where
        E: Send,
    {
        check_tiling::<T, L>(&self.layout)?;
        let elements = Elements::<E, T>::new(self.data);
        let numbers = (0..TileOf::<T>::COUNT).into_par_iter();
        Ok(numbers.map(move |number| {
            // SAFETY: the range contains each number once, however rayon splits it, and `elements` is used here only.
            unsafe { elements.tile(number) }
        }))
    }
}

/// The element at index `value`; `None` outside the slice.
#[inline]
fn at<E>(data: &[E], value: i64) -> Option<&E> {
    data.get(usize::try_from(value).ok()?)
}

#[inline]
fn at_mut<E>(data: &mut [E], value: i64) -> Option<&mut E> {
    data.get_mut(usize::try_from(value).ok()?)
}

fn check_tiling<T: StaticTiling, L: HostLayout>(layout: &L) -> Result<(), HostError> {
    let (tiled, tensor) = (T::TILING.whole(), layout);
    let leaves = tiled.profile().leaves();
    let same = tiled.profile() == tensor.profile()
        && (0..leaves).all(|leaf| {
            HostLayout::extent_and_stride(&tiled, leaf) == tensor.extent_and_stride(leaf)
        })
        && (tiled.offset(), tiled.swizzle()) == (tensor.offset(), tensor.swizzle());
    match same {
        true => Ok(()),
        false => Err(HostError::OtherLayout {
            tiled: tiled.to_string(),
            tensor: text(tensor),
        }),
    }
}

impl<E, L: HostLayout, C: HostCoordinate> Index<C> for HostTensor<'_, E, L> {
    type Output = E;

    #[inline]
    #[track_caller]
    fn index(&self, coord: C) -> &E {
        match self.get(coord) {
            Some(element) => element,
            None => no_element(coord, &self.layout),
        }
    }
}

impl<E, L: HostLayout, C: HostCoordinate> Index<C> for HostTensorMut<'_, E, L> {
    type Output = E;

    #[inline]
    #[track_caller]
    fn index(&self, coord: C) -> &E {
        match self.get(coord) {
            Some(element) => element,
            None => no_element(coord, &self.layout),
        }
    }
}

impl<E, L: HostLayout, C: HostCoordinate> IndexMut<C> for HostTensorMut<'_, E, L> {
    #[inline]
    #[track_caller]
    fn index_mut(&mut self, coord: C) -> &mut E {
        let layout = self.layout;
        match self.get_mut(coord) {
            Some(element) => element,
            None => no_element(coord, &layout),
        }
    }
}

impl<E, L: Copy> Clone for HostTensor<'_, E, L> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E, L: Copy> Copy for HostTensor<'_, E, L> {}

/// The layout and the elements: a table whose rows are mode 0 if there are two modes, else a list. At most 16 rows, 16 columns
/// and 64 elements of a list are shown.
/// ```
/// use cute_runtime::{HostTensor, layout};
/// let data: Vec<i32> = (8..14).collect();
/// let tensor = HostTensor::new(&data, layout!((2,3):(3,1)))?;
/// assert_eq!(tensor.to_string(), "(2,3):(3,1)\n  8  9 10\n 11 12 13");
/// # Ok::<(), cute_runtime::HostError>(())
/// ```
impl<E: fmt::Display, L: HostLayout> fmt::Display for HostTensor<'_, E, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        table::write(f, *self, ToString::to_string)
    }
}

impl<E: fmt::Debug, L: HostLayout> fmt::Debug for HostTensor<'_, E, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        table::write(f, *self, |element| format!("{element:?}"))
    }
}

impl<E: fmt::Display, L: HostLayout> fmt::Display for HostTensorMut<'_, E, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_tensor().fmt(f)
    }
}

impl<E: fmt::Debug, L: HostLayout> fmt::Debug for HostTensorMut<'_, E, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_tensor().fmt(f)
    }
}
