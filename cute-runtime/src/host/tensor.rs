//! A slice under a layout.

use std::fmt;
use std::ops::{Index, IndexMut};

use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};

use super::layout::check_bounds;
use super::tile_mut::Elements;
use super::{HostCoordinate, HostError, HostLayout, HostTileMut, TileOf};
use crate::{DisjointTiling, Layout, StaticTiling};

/// A slice of the host under a layout, to read.
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

/// A slice of the host under a layout, to write.
///
/// Its tiles can be written at the same time, where it is proved that they share no element.
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
/// A layout that is not injective has no tiles to write:
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
    /// The slice under the layout, all of whose values must be indices of the slice.
    pub fn new(data: &'a [E], layout: L) -> Result<Self, HostError> {
        check_bounds(&layout, data.len())?;
        Ok(Self { data, layout })
    }

    /// The layout.
    pub fn layout(&self) -> L {
        self.layout
    }

    /// The slice.
    pub fn data(&self) -> &'a [E] {
        self.data
    }

    /// Number of coordinates.
    pub fn size(&self) -> i64 {
        self.layout.size()
    }

    /// The element at a coordinate: 1-D, or one number for each mode. `None` out of range.
    #[inline]
    pub fn get<C: HostCoordinate>(&self, coord: C) -> Option<&'a E> {
        let index = self.layout.index(self.layout.linear(coord)?)?;
        self.data.get(usize::try_from(index).ok()?)
    }

    /// The elements, leftmost mode fastest. Past the edge of a ragged tile there are none.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &'a E> + use<'a, E, L> {
        let tensor = *self;
        (0..self.size()).filter_map(move |coord| tensor.get(coord))
    }

    /// The tiles of a tiling of this layout, in the order of the rest.
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
        impl DoubleEndedIterator<Item = HostTensor<'a, E, TileOf<T>>>
        + ExactSizeIterator
        + use<'a, E, L, T>,
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

impl<'a, E, T: StaticTiling> HostTensor<'a, E, TileOf<T>> {
    /// The tile's number: a 1-D coordinate of the rest.
    pub fn number(&self) -> i64 {
        self.layout.number()
    }

    /// The coordinate in the whole of coordinate `within`: a number for each mode that the tiler tells apart.
    ///
    /// # Panics
    /// If `within` is not below the size, or the tiler does not tell `N` modes apart.
    #[inline]
    #[track_caller]
    pub fn coordinate<const N: usize>(&self, within: i64) -> [i64; N] {
        self.layout.coordinate(within)
    }
}

impl<'a, E, L: HostLayout> HostTensorMut<'a, E, L> {
    /// The slice under the layout, all of whose values must be indices of the slice.
    pub fn new(data: &'a mut [E], layout: L) -> Result<Self, HostError> {
        check_bounds(&layout, data.len())?;
        Ok(Self { data, layout })
    }

    /// The layout.
    pub fn layout(&self) -> L {
        self.layout
    }

    /// The slice.
    pub fn data(&mut self) -> &mut [E] {
        self.data
    }

    /// Number of coordinates.
    pub fn size(&self) -> i64 {
        self.layout.size()
    }

    /// The same, to read.
    pub fn as_tensor(&self) -> HostTensor<'_, E, L> {
        HostTensor {
            data: self.data,
            layout: self.layout,
        }
    }

    /// The element at a coordinate: 1-D, or one number for each mode. `None` out of range.
    #[inline]
    pub fn get<C: HostCoordinate>(&self, coord: C) -> Option<&E> {
        self.as_tensor().get(coord)
    }

    /// The element at a coordinate: 1-D, or one number for each mode. `None` out of range.
    #[inline]
    pub fn get_mut<C: HostCoordinate>(&mut self, coord: C) -> Option<&mut E> {
        let index = self.layout.index(self.layout.linear(coord)?)?;
        self.data.get_mut(usize::try_from(index).ok()?)
    }

    /// Writes one value to the element of each coordinate; what the layout leaves out stays as it is.
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
        for coord in 0..self.size() {
            if let Some(element) = self.get_mut(coord) {
                *element = value.clone();
            }
        }
    }

    /// Writes the elements of another tensor, 1-D coordinate by 1-D coordinate, as CuTe's `copy` does: the sizes agree, the
    /// layouts need not.
    /// ```
    /// use cute_runtime::{HostTensor, HostTensorMut, layout};
    /// let rows = HostTensor::new(&[1, 2, 3, 4, 5, 6], layout!((2,3):row))?;
    /// let mut columns = [0; 6];
    /// HostTensorMut::new(&mut columns, layout!((2,3):col))?.copy_from(&rows)?;
    /// assert_eq!(columns, [1, 4, 2, 5, 3, 6]);
    ///
    /// let error = HostTensorMut::new(&mut columns, layout!(5))?.copy_from(&rows).unwrap_err();
    /// assert_eq!(error.to_string(), "5:1 has 5 coordinates, but (2,3):(3,1), which is copied, has 6");
    /// # Ok::<(), cute_runtime::HostError>(())
    /// ```
    pub fn copy_from<M: HostLayout>(&mut self, from: &HostTensor<'_, E, M>) -> Result<(), HostError>
    where
        E: Clone,
    {
        if self.size() != from.size() {
            return Err(HostError::OtherSize {
                to: self.layout.text(),
                size: self.size(),
                from: from.layout.text(),
                from_size: from.size(),
            });
        }
        for coord in 0..self.size() {
            // Of two tiles, each may have an edge.
            if let (Some(to), Some(from)) = (self.get_mut(coord), from.get(coord)) {
                to.clone_from(from);
            }
        }
        Ok(())
    }

    /// The tiles of a tiling of this layout, in the order of the rest. That no two of them share an element was proved
    /// when the tiling was declared.
    pub fn tiles_mut<T: DisjointTiling>(
        &mut self,
    ) -> Result<impl DoubleEndedIterator<Item = HostTileMut<'_, E, T>> + ExactSizeIterator, HostError>
    {
        check_tiling::<T, L>(&self.layout)?;
        let elements = Elements::<E, T>::new(self.data);
        Ok((0..TileOf::<T>::COUNT).map(move |number| {
            // SAFETY: the range has each number once.
            unsafe { elements.tile(number) }
        }))
    }

    /// The tiles of a tiling of this layout, for the threads of rayon. That no two of them share an element was proved
    /// when the tiling was declared.
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
            // SAFETY: the range has each number once, whatever its parts are.
            unsafe { elements.tile(number) }
        }))
    }
}

fn check_tiling<T: StaticTiling, L: HostLayout>(layout: &L) -> Result<(), HostError> {
    let (tiled, tensor) = (T::TILING.whole(), layout);
    let leaves = tiled.profile().leaves();
    let same = tiled.profile() == tensor.profile()
        && (0..leaves).all(|leaf| HostLayout::leaf(&tiled, leaf) == tensor.leaf(leaf))
        && (tiled.offset(), tiled.swizzle()) == (tensor.offset(), tensor.swizzle());
    match same {
        true => Ok(()),
        false => Err(HostError::OtherLayout {
            tiled: tiled.to_string(),
            tensor: tensor.text(),
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

#[cold]
#[track_caller]
pub(super) fn no_element<C: HostCoordinate, L: HostLayout>(coord: C, layout: &L) -> ! {
    panic!("no element at coordinate {coord:?} of {}", layout.text())
}

impl<E, L: fmt::Debug> fmt::Debug for HostTensor<'_, E, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostTensor")
            .field("layout", &self.layout)
            .field("len", &self.data.len())
            .finish()
    }
}

impl<E, L: fmt::Debug> fmt::Debug for HostTensorMut<'_, E, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostTensorMut")
            .field("layout", &self.layout)
            .field("len", &self.data.len())
            .finish()
    }
}
