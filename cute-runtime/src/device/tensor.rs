//! Tensors: a buffer with a shape and strides, and views of parts of them.
//!
//! Modes are in CuTe's order: mode 0 of a matrix counts its rows, mode 1 its columns. Strides are in elements and are never
//! negative. Every tensor keeps its strides, so no mode needs to be contiguous.

use std::ops::Range;

use crate::device::tensor_map::RawView;
use crate::{Buffer, Device, Element, Error, ViewError};

/// Where the elements of a tensor lie in its buffer: coordinate `c` at element `offset + Σ c[i]·strides[i]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Placement<const R: usize> {
    offset: usize,
    pub(super) shape: [usize; R],
    pub(super) strides: [usize; R],
}

/// A tensor of rank `R` that owns its buffer. No two coordinates name the same element.
///
/// Kernels take views: the whole tensor or a part, in any order of modes:
/// ```
/// use cute_runtime::{Device, Error, Tensor, TensorView};
///
/// let device = Device::emulator();
/// // Two rows of four elements. The last mode is contiguous.
/// let x = Tensor::from_slice(&device, &[0, 1, 2, 3, 10, 11, 12, 13], [2, 4])?;
/// assert_eq!((x.shape(), x.strides()), ([2, 4], [4, 1]));
///
/// let right: TensorView<'_, i32, 2> = x.view().slice(1, 2..4)?;
/// assert_eq!(right.download()?, [2, 3, 12, 13]);
/// let transposed = x.view().select([1, 0])?;
/// assert_eq!(transposed.download()?, [0, 10, 1, 11, 2, 12, 3, 13]);
///
/// // A wrong number of elements is an error with the numbers.
/// let error = Tensor::from_slice(&device, &[0.0f32; 7], [2, 4]).unwrap_err();
/// assert_eq!(error.to_string(), "`from_slice` takes 8 elements, those of the extents [2, 4], and got 7");
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug)]
pub struct Tensor<T: Element, const R: usize> {
    buffer: Buffer<T>,
    placement: Placement<R>,
}

/// A tensor or a part of one, borrowed to read. Several coordinates may name the same element, for example with a stride of 0.
#[derive(Clone, Copy, Debug)]
pub struct TensorView<'a, T: Element, const R: usize> {
    pub(crate) buffer: &'a Buffer<T>,
    placement: Placement<R>,
}

/// A tensor or a part of one, borrowed to write. No two coordinates name the same element.
#[derive(Debug)]
pub struct TensorViewMut<'a, T: Element, const R: usize> {
    pub(crate) buffer: &'a mut Buffer<T>,
    placement: Placement<R>,
}

impl<T: Element, const R: usize> Tensor<T, R> {
    /// A tensor over all or part of a buffer: coordinate `c` names element `Σ c[i]·strides[i]` of the buffer.
    ///
    /// # Errors
    /// If the last element lies outside the buffer ([`ViewError::OutOfBounds`]). If the stride of some mode is less than the span
    /// of the modes with smaller strides: two coordinates might then name the same element ([`ViewError::Overlap`]).
    pub fn new(buffer: Buffer<T>, shape: [usize; R], strides: [usize; R]) -> Result<Self, Error> {
        let placement = Placement {
            offset: 0,
            shape,
            strides,
        }
        .within(buffer.len())?
        .writable()?;
        Ok(Tensor { buffer, placement })
    }

    /// A tensor of zeros whose last mode is contiguous.
    #[track_caller]
    pub fn zeros(device: &Device, shape: [usize; R]) -> Result<Self, Error> {
        Tensor::zeros_strided(device, shape, row_major(shape)?)
    }

    /// A tensor of zeros with these strides, in a new buffer that ends with the last element. The strides must satisfy the rule
    /// of [`Tensor::new`].
    #[track_caller]
    pub fn zeros_strided(
        device: &Device,
        shape: [usize; R],
        strides: [usize; R],
    ) -> Result<Self, Error> {
        let span = Placement::new(shape, strides).span()?;
        Tensor::new(device.zeros(span)?, shape, strides)
    }

    /// A contiguous tensor with the given elements in row-major order: the last mode runs fastest.
    ///
    /// ```
    /// let device = cute_runtime::Device::emulator();
    /// let a = cute_runtime::Tensor::from_slice(&device, &[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3])?;
    /// assert_eq!(a.view().slice(1, 1..3)?.download()?, [2.0, 3.0, 5.0, 6.0]);
    /// # Ok::<(), cute_runtime::Error>(())
    /// ```
    #[track_caller]
    pub fn from_slice(device: &Device, data: &[T], shape: [usize; R]) -> Result<Self, Error> {
        let destination = format!("the extents {shape:?}");
        check_length("from_slice", data.len(), shape, destination)?;
        Tensor::new(device.upload(data)?, shape, row_major(shape)?)
    }

    /// A tensor of the given elements, listed in row-major order and placed by the strides, with zeros in the gaps. The list has no
    /// padding: one element for each coordinate. Use it to pad rows for TMA, which needs rows at multiples of 16 bytes:
    ///
    /// ```
    /// let device = cute_runtime::Device::emulator();
    /// let a = cute_runtime::Tensor::from_slice_strided(&device, &[1u32, 2, 3, 4, 5, 6], [2, 3], [4, 1])?;
    /// assert_eq!(a.buffer().download()?, [1, 2, 3, 0, 4, 5, 6]);
    /// # Ok::<(), cute_runtime::Error>(())
    /// ```
    #[track_caller]
    pub fn from_slice_strided(
        device: &Device,
        data: &[T],
        shape: [usize; R],
        strides: [usize; R],
    ) -> Result<Self, Error> {
        let destination = format!("the extents {shape:?} without padding");
        check_length("from_slice_strided", data.len(), shape, destination)?;
        let placement = Placement::new(shape, strides).writable()?;
        if strides == row_major(shape)? {
            return Tensor::new(device.upload(data)?, shape, strides);
        }
        let span = placement.span()?;
        let mut placed = reserve(span)?;
        placed.resize(span, T::new_zeroed());
        for (index, &element) in placement.indices().zip(data) {
            placed[index] = element;
        }
        Tensor::new(device.upload(&placed)?, shape, strides)
    }

    /// A view of the whole tensor, to read.
    pub fn view(&self) -> TensorView<'_, T, R> {
        TensorView {
            buffer: &self.buffer,
            placement: self.placement,
        }
    }

    /// A view of the whole tensor, to write.
    pub fn view_mut(&mut self) -> TensorViewMut<'_, T, R> {
        TensorViewMut {
            buffer: &mut self.buffer,
            placement: self.placement,
        }
    }

    /// The extents of the modes.
    pub fn shape(&self) -> [usize; R] {
        self.placement.shape
    }

    /// The strides of the modes, in elements.
    pub fn strides(&self) -> [usize; R] {
        self.placement.strides
    }

    /// Copies the elements to the host in row-major order (the last mode runs fastest), once all work on them has ended.
    pub fn download(&self) -> Result<Vec<T>, Error> {
        self.view().download()
    }

    /// The buffer, with any gaps between the elements.
    pub fn buffer(&self) -> &Buffer<T> {
        &self.buffer
    }

    /// Ends the tensor and returns its buffer.
    pub fn into_buffer(self) -> Buffer<T> {
        self.buffer
    }
}

impl<T: Element> Buffer<T> {
    /// A view of elements of this buffer, to read: coordinate `c` names element `offset + Σ c[i]·strides[i]`.
    ///
    /// # Errors
    /// If the last element lies outside the buffer.
    pub fn view<const R: usize>(
        &self,
        offset: usize,
        shape: [usize; R],
        strides: [usize; R],
    ) -> Result<TensorView<'_, T, R>, Error> {
        let placement = Placement {
            offset,
            shape,
            strides,
        }
        .within(self.len())?;
        Ok(TensorView {
            buffer: self,
            placement,
        })
    }

    /// A view of elements of this buffer, to write: coordinate `c` names element `offset + Σ c[i]·strides[i]`.
    ///
    /// # Errors
    /// If the last element lies outside the buffer, or if the strides break the rule of [`Tensor::new`].
    pub fn view_mut<const R: usize>(
        &mut self,
        offset: usize,
        shape: [usize; R],
        strides: [usize; R],
    ) -> Result<TensorViewMut<'_, T, R>, Error> {
        let placement = Placement {
            offset,
            shape,
            strides,
        }
        .within(self.len())?
        .writable()?;
        Ok(TensorViewMut {
            buffer: self,
            placement,
        })
    }
}

impl<'a, T: Element, const R: usize> TensorView<'a, T, R> {
    /// A view of a buffer that has all elements of the placement.
    pub(super) fn of(buffer: &'a Buffer<T>, placement: Placement<R>) -> Self {
        TensorView { buffer, placement }
    }

    /// The extents of the modes.
    pub fn shape(&self) -> [usize; R] {
        self.placement.shape
    }

    /// The strides of the modes, in elements.
    pub fn strides(&self) -> [usize; R] {
        self.placement.strides
    }

    /// Device address of the element at coordinate 0, in bytes.
    pub fn address(&self) -> u64 {
        self.placement.address(self.buffer)
    }

    /// The data of the view that a launch needs.
    pub(crate) fn raw(&self) -> RawView<'_> {
        self.placement.raw(self.buffer)
    }

    /// The part of the view whose coordinates along `mode` lie in `range`. The other modes are kept whole.
    ///
    /// # Errors
    /// If there is no such mode, or the range is reversed or ends past the extent of the mode.
    pub fn slice(self, mode: usize, range: Range<usize>) -> Result<Self, Error> {
        Ok(TensorView {
            placement: self.placement.slice(mode, range)?,
            ..self
        })
    }

    /// The same elements with the modes in another order: mode `i` of the result is mode `order[i]`. So `select([1, 0])` is the
    /// transpose.
    ///
    /// # Errors
    /// If `order` is not a permutation of the modes.
    pub fn select(self, order: [usize; R]) -> Result<Self, Error> {
        Ok(TensorView {
            placement: self.placement.select(order)?,
            ..self
        })
    }

    /// The same elements with modes of extent 1 before the first: `prepend::<3>()` of a matrix is a batch of one matrix.
    ///
    /// # Errors
    /// If `N` is smaller than `R`.
    pub fn prepend<const N: usize>(self) -> Result<TensorView<'a, T, N>, Error> {
        Ok(TensorView {
            placement: self.placement.prepend()?,
            buffer: self.buffer,
        })
    }

    /// Copies the elements to the host in row-major order (the last mode runs fastest), once all work on them has ended.
    pub fn download(&self) -> Result<Vec<T>, Error> {
        let Placement { offset, shape, .. } = self.placement;
        let span = self.buffer.download_range(offset, self.placement.span()?)?;
        // A view with a stride of 0 may have more elements than its buffer, and more than fit in the host's memory.
        let mut elements = reserve(volume(shape)?)?;
        elements.extend(self.placement.indices().map(|index| span[index]));
        Ok(elements)
    }
}

impl<'a, T: Element, const R: usize> TensorViewMut<'a, T, R> {
    /// The extents of the modes.
    pub fn shape(&self) -> [usize; R] {
        self.placement.shape
    }

    /// The strides of the modes, in elements.
    pub fn strides(&self) -> [usize; R] {
        self.placement.strides
    }

    /// Device address of the element at coordinate 0, in bytes.
    pub fn address(&self) -> u64 {
        self.placement.address(self.buffer)
    }

    /// The data of the view that a launch needs.
    pub(crate) fn raw(&self) -> RawView<'_> {
        self.placement.raw(self.buffer)
    }

    /// The part of the view whose coordinates along `mode` lie in `range`. The other modes are kept whole.
    ///
    /// # Errors
    /// If there is no such mode, or the range is reversed or ends past the extent of the mode.
    pub fn slice(self, mode: usize, range: Range<usize>) -> Result<Self, Error> {
        let placement = self.placement.slice(mode, range)?;
        Ok(TensorViewMut {
            placement,
            buffer: self.buffer,
        })
    }

    /// The same elements with their modes in another order: see [`TensorView::select`].
    pub fn select(self, order: [usize; R]) -> Result<Self, Error> {
        let placement = self.placement.select(order)?;
        Ok(TensorViewMut {
            placement,
            buffer: self.buffer,
        })
    }

    /// The same elements with modes of extent 1 before the first: see [`TensorView::prepend`].
    pub fn prepend<const N: usize>(self) -> Result<TensorViewMut<'a, T, N>, Error> {
        Ok(TensorViewMut {
            placement: self.placement.prepend()?,
            buffer: self.buffer,
        })
    }

    /// A view of the same elements, to write while this one is borrowed.
    pub fn as_view_mut(&mut self) -> TensorViewMut<'_, T, R> {
        TensorViewMut {
            buffer: self.buffer,
            placement: self.placement,
        }
    }

    /// A view of the same elements, to read.
    pub fn as_view(&self) -> TensorView<'_, T, R> {
        TensorView {
            buffer: self.buffer,
            placement: self.placement,
        }
    }
}

impl<const R: usize> Placement<R> {
    pub(super) fn new(shape: [usize; R], strides: [usize; R]) -> Self {
        Placement {
            offset: 0,
            shape,
            strides,
        }
    }

    /// Device address of the element at coordinate 0.
    fn address<T: Element>(&self, buffer: &Buffer<T>) -> u64 {
        buffer.address() + (self.offset * size_of::<T>()) as u64
    }

    fn raw<T: Element>(&self, buffer: &Buffer<T>) -> RawView<'_> {
        RawView {
            element: T::TYPE,
            address: self.address(buffer),
            shape: &self.shape,
            strides: &self.strides,
        }
    }

    /// The largest index of an element in the buffer; `None` if the tensor is empty.
    fn last(&self) -> Result<Option<usize>, ViewError> {
        if self.shape.contains(&0) {
            return Ok(None);
        }
        self.shape
            .iter()
            .zip(self.strides)
            .try_fold(self.offset, |last, (extent, stride)| {
                last.checked_add((extent - 1).checked_mul(stride)?)
            })
            .map(Some)
            .ok_or_else(|| ViewError::Overflow {
                shape: self.shape.to_vec(),
                strides: self.strides.to_vec(),
                offset: self.offset,
            })
    }

    /// Number of elements of the buffer from the first element to the last, gaps included.
    pub(super) fn span(&self) -> Result<usize, ViewError> {
        Ok(self
            .last()?
            .map_or(0, |last| (last - self.offset).saturating_add(1)))
    }

    /// The index of each element relative to the first one, in row-major order.
    fn indices(self) -> impl Iterator<Item = usize> {
        let first = (!self.shape.contains(&0)).then_some([0; R]);
        let coordinates =
            std::iter::successors(first, move |coordinate| next(*coordinate, self.shape));
        coordinates.map(move |coordinate| {
            coordinate
                .iter()
                .zip(self.strides)
                .map(|(c, stride)| c * stride)
                .sum()
        })
    }

    /// Refuses a placement whose last element lies outside a buffer of `len` elements.
    fn within(self, len: usize) -> Result<Self, ViewError> {
        match self.last()? {
            Some(last) if last >= len => Err(ViewError::OutOfBounds {
                shape: self.shape.to_vec(),
                strides: self.strides.to_vec(),
                offset: self.offset,
                last,
                len,
            }),
            // An empty view has no element, but its address must not lie past the end of the buffer.
            None if self.offset > len => Ok(Placement {
                offset: len,
                ..self
            }),
            _ => Ok(self),
        }
    }

    /// Refuses a placement in which two coordinates might name the same element: in order of increasing strides, the stride
    /// of each mode must be at least the span of the modes before it.
    pub(super) fn writable(self) -> Result<Self, ViewError> {
        if self.shape.contains(&0) {
            return Ok(self);
        }
        let mut modes: Vec<usize> = (0..R).filter(|&mode| self.shape[mode] > 1).collect();
        modes.sort_by_key(|&mode| self.strides[mode]);
        let mut span = 1;
        for mode in modes {
            let stride = self.strides[mode];
            if stride < span {
                let (shape, strides) = (self.shape.to_vec(), self.strides.to_vec());
                return Err(ViewError::Overlap {
                    shape,
                    strides,
                    mode,
                    stride,
                    span,
                });
            }
            // A span that saturates exceeds every buffer, and `within` refuses the placement.
            span = (self.shape[mode] - 1)
                .saturating_mul(stride)
                .saturating_add(span);
        }
        Ok(self)
    }

    fn slice(mut self, mode: usize, range: Range<usize>) -> Result<Self, ViewError> {
        let Range { start, end } = range;
        let extent = *self.shape.get(mode).ok_or_else(|| ViewError::Modes {
            order: vec![mode],
            rank: R,
        })?;
        if start > end || end > extent {
            return Err(ViewError::Range {
                mode,
                start,
                end,
                extent,
            });
        }
        self.shape[mode] = end - start;
        // An empty part has no first element, and this offset might lie past the end of the buffer.
        if !self.shape.contains(&0) {
            self.offset += start * self.strides[mode];
        }
        Ok(self)
    }

    fn select(self, order: [usize; R]) -> Result<Self, ViewError> {
        let mut seen = [false; R];
        for &mode in &order {
            match seen.get_mut(mode) {
                Some(seen) if !*seen => *seen = true,
                _ => {
                    return Err(ViewError::Modes {
                        order: order.to_vec(),
                        rank: R,
                    });
                }
            }
        }
        Ok(Placement {
            shape: order.map(|mode| self.shape[mode]),
            strides: order.map(|mode| self.strides[mode]),
            ..self
        })
    }

    fn prepend<const N: usize>(self) -> Result<Placement<N>, ViewError> {
        let new = N.checked_sub(R).ok_or_else(|| ViewError::Modes {
            order: (0..N).collect(),
            rank: R,
        })?;
        let mut placement = Placement {
            offset: self.offset,
            shape: [1; N],
            strides: [0; N],
        };
        placement.shape[new..].copy_from_slice(&self.shape);
        placement.strides[new..].copy_from_slice(&self.strides);
        Ok(placement)
    }
}

/// The product of the extents.
fn volume<const R: usize>(shape: [usize; R]) -> Result<usize, ViewError> {
    shape
        .iter()
        .try_fold(1usize, |n, &extent| n.checked_mul(extent))
        .ok_or_else(|| ViewError::Overflow {
            shape: shape.to_vec(),
            strides: Vec::new(),
            offset: 0,
        })
}

/// Refuses a slice that does not have one element for each coordinate.
fn check_length<const R: usize>(
    function: &'static str,
    found: usize,
    shape: [usize; R],
    destination: String,
) -> Result<(), Error> {
    match volume(shape)? {
        expected if expected == found => Ok(()),
        expected => Err(Error::Length {
            function,
            destination,
            expected,
            found,
        }),
    }
}

/// Strides of a compact tensor whose last mode is contiguous.
fn row_major<const R: usize>(shape: [usize; R]) -> Result<[usize; R], ViewError> {
    let mut strides = [1usize; R];
    for mode in (1..R).rev() {
        strides[mode - 1] =
            strides[mode]
                .checked_mul(shape[mode])
                .ok_or_else(|| ViewError::Overflow {
                    shape: shape.to_vec(),
                    strides: Vec::new(),
                    offset: 0,
                })?;
    }
    Ok(strides)
}

/// The next coordinate in row-major order; `None` after the last one.
fn next<const R: usize>(mut coordinate: [usize; R], shape: [usize; R]) -> Option<[usize; R]> {
    for mode in (0..R).rev() {
        coordinate[mode] += 1;
        if coordinate[mode] < shape[mode] {
            return Some(coordinate);
        }
        coordinate[mode] = 0;
    }
    None
}

/// An empty vector with capacity for `len` elements, or an error where the host has not that much memory.
fn reserve<T: Element>(len: usize) -> Result<Vec<T>, Error> {
    let mut elements = Vec::new();
    elements
        .try_reserve_exact(len)
        .map_err(|_| Error::TooLarge {
            len,
            element: T::TYPE,
        })?;
    Ok(elements)
}
