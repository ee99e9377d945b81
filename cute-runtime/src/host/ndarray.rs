//! Host tensors and the views of the crate `ndarray`: the same elements, without a copy and without unsafe code.

use cute_algebra::{Counterexample, Verdict};
use ndarray::{ArrayView, ArrayViewMut, Dim, Dimension, Ix, ShapeBuilder, ShapeError, StrideShape};

use super::bounds::check_bounds;
use super::layout::text;
use super::{HostError, HostLayout, HostTensor, HostTensorMut, Strided};

/// A view of `ndarray` with `N` axes, to read.
type View<'a, E, const N: usize> = ArrayView<'a, E, Dim<[Ix; N]>>;

/// A view of `ndarray` with `N` axes, to write.
type ViewMut<'a, E, const N: usize> = ArrayViewMut<'a, E, Dim<[Ix; N]>>;

impl<'a, E, L: HostLayout> HostTensor<'a, E, L> {
    /// The same elements as a view of `ndarray`, with an axis for each top-level mode. A nested mode is an axis if its elements
    /// are one stride apart. Strides may be negative, and elements may be shared.
    ///
    /// With the feature `ndarray`.
    /// ```
    /// use cute_runtime::{HostTensor, layout};
    /// let data: Vec<f32> = (0..12u8).map(f32::from).collect();
    /// let columns = HostTensor::new(&data, layout!((3,4):(1,3)))?;
    /// let view = columns.to_ndarray::<2>()?;
    /// assert_eq!((view.shape(), view.strides()), (&[3, 4][..], &[1, 3][..]));
    /// assert_eq!(view.row(1).sum(), 1.0 + 4.0 + 7.0 + 10.0);
    /// # Ok::<(), cute_runtime::HostError>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`Strided::of`], and [`HostError::NoView`] if `ndarray` refuses the extents.
    pub fn to_ndarray<const N: usize>(&self) -> Result<View<'a, E, N>, HostError>
    where
        Dim<[Ix; N]>: Dimension,
    {
        let layout = Strided::of(&self.layout())?;
        let data = self.data();
        let first = first(&layout, data.len())?;
        ArrayView::from_shape(shape(&layout), &data[first..])
            .map_err(|error| refused(&layout, &error))
    }
}

impl<E, L: HostLayout> HostTensorMut<'_, E, L> {
    /// The same elements as a view of `ndarray`, to write: see [`HostTensor::to_ndarray`].
    ///
    /// With the feature `ndarray`.
    /// ```
    /// use cute_runtime::{HostError, HostTensorMut, layout};
    /// let mut data = [0; 6];
    /// let mut matrix = HostTensorMut::new(&mut data, layout!((2,3):(3,1)))?;
    /// matrix.to_ndarray_mut::<2>()?.column_mut(1).fill(7);
    /// assert_eq!(data, [0, 7, 0, 0, 7, 0]);
    ///
    /// let mut windows = HostTensorMut::new(&mut data, layout!((2,3):(1,1)))?;
    /// assert_eq!(
    ///     windows.to_ndarray_mut::<2>().unwrap_err().to_string(),
    ///     "coordinates 1 and 2 of (2,3):(1,1) share element 1, so that no view can write them"
    /// );
    /// # Ok::<(), HostError>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`Strided::of`], [`HostError::Shared`] if two coordinates have the same element, and [`HostError::NoView`] if
    /// `ndarray` refuses the strides: it takes no strides that interleave, such as those of `(3,2):(2,3)`, whose elements are distinct.
    pub fn to_ndarray_mut<const N: usize>(&mut self) -> Result<ViewMut<'_, E, N>, HostError>
    where
        Dim<[Ix; N]>: Dimension,
    {
        let layout = Strided::of(&self.layout())?;
        let data = self.data();
        let first = first(&layout, data.len())?;
        ArrayViewMut::from_shape(shape(&layout), &mut data[first..])
            .map_err(|error| shared(&layout).unwrap_or_else(|| refused(&layout, &error)))
    }
}

impl<'a, E, const N: usize> HostTensor<'a, E, Strided<N>>
where
    Dim<[Ix; N]>: Dimension,
{
    /// The elements of a view of `ndarray`, in any order of its axes and with strides of either sign.
    ///
    /// With the feature `ndarray`.
    /// ```
    /// use cute_runtime::{HostError, HostTensor};
    /// let mut array = ndarray::array![[1, 2, 3], [4, 5, 6]];
    /// array.invert_axis(ndarray::Axis(1));
    /// let turned = HostTensor::from_ndarray(array.t())?;
    /// assert_eq!(turned.layout().to_string(), "Sw<0,0,0> o 2 o (3,2):(-1,3)");
    /// assert_eq!((turned[[0, 0]], turned[[2, 1]]), (3, 4));
    ///
    /// // The elements between those of a column are not the column's.
    /// let error = HostTensor::from_ndarray(array.column(0)).unwrap_err();
    /// assert!(matches!(error, HostError::Gaps { .. }));
    /// # Ok::<(), HostError>(())
    /// ```
    ///
    /// # Errors
    /// [`HostError::Gaps`] if there is other memory between the elements, or two axes share elements;
    /// [`HostError::Layout`] if there are no elements.
    pub fn from_ndarray(view: View<'a, E, N>) -> Result<Self, HostError> {
        let layout = axes(view.shape(), view.strides())?;
        let data = view.to_slice_memory_order();
        Self::new(data.ok_or_else(|| gaps(&layout))?, layout)
    }
}

impl<'a, E, const N: usize> HostTensorMut<'a, E, Strided<N>>
where
    Dim<[Ix; N]>: Dimension,
{
    /// The elements of a view of `ndarray`, to write: see [`HostTensor::from_ndarray`].
    ///
    /// With the feature `ndarray`.
    /// ```
    /// use cute_runtime::HostTensorMut;
    /// let mut array = ndarray::Array2::zeros((2, 3));
    /// HostTensorMut::from_ndarray(array.view_mut())?[[1, 2]] = 7;
    /// assert_eq!(array, ndarray::array![[0, 0, 0], [0, 0, 7]]);
    /// # Ok::<(), cute_runtime::HostError>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`HostTensor::from_ndarray`].
    pub fn from_ndarray(view: ViewMut<'a, E, N>) -> Result<Self, HostError> {
        let layout = axes(view.shape(), view.strides())?;
        let data = view.into_slice_memory_order();
        Self::new(data.ok_or_else(|| gaps(&layout))?, layout)
    }
}

/// The index of the first element in memory, where a view begins; an error if an element is not in the slice.
fn first<const N: usize>(layout: &Strided<N>, len: usize) -> Result<usize, HostError> {
    check_bounds(layout, len)?;
    Ok(layout.lowest() as usize)
}

/// Extents and strides for `ndarray`, which holds strides as unsigned integers and reads them as signed ones.
fn shape<const N: usize>(layout: &Strided<N>) -> StrideShape<Dim<[Ix; N]>>
where
    Dim<[Ix; N]>: Dimension,
{
    let dim = |numbers: [i64; N]| {
        let mut dim = Dim::<[Ix; N]>::zeros(N);
        let places = dim.slice_mut().iter_mut().zip(numbers);
        places.for_each(|(place, number)| *place = number as usize);
        dim
    };
    dim(layout.shape()).strides(dim(layout.stride()))
}

/// The layout of a view, in the slice that begins at its first element in memory.
fn axes<const N: usize>(shape: &[usize], strides: &[isize]) -> Result<Strided<N>, HostError> {
    let shape = std::array::from_fn(|axis| shape[axis] as i64);
    let strides = std::array::from_fn(|axis| strides[axis] as i64);
    let at_zero = Strided::new(shape, strides, 0)?;
    Strided::new(shape, strides, -at_zero.lowest())
}

/// Two coordinates that share an element, if the algebra finds them.
fn shared<const N: usize>(layout: &Strided<N>) -> Option<HostError> {
    match layout.composed().ok()?.layout().injective() {
        Verdict::No(Counterexample::Collision { first, second, .. }) => Some(HostError::Shared {
            layout: text(layout),
            first,
            second,
            value: layout.place(first)?,
        }),
        _ => None,
    }
}

fn refused<const N: usize>(layout: &Strided<N>, reason: &ShapeError) -> HostError {
    HostError::NoView {
        layout: text(layout),
        reason: reason.to_string(),
    }
}

fn gaps<const N: usize>(layout: &Strided<N>) -> HostError {
    HostError::Gaps {
        shape: layout.shape().to_vec(),
        strides: layout.stride().to_vec(),
    }
}
