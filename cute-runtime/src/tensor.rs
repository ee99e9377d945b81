//! Tensors: a buffer with a shape and strides, and views of parts of them.
//!
//! Modes are in CuTe's order: the first mode of a matrix is its rows. Strides are in elements, are not negative, and are
//! explicit: nothing is contiguous by assumption.

use std::ops::Range;

use crate::{Buffer, Device, Element, Error, ViewError};

/// Where the elements of a tensor lie in its buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Placement<const R: usize> {
    offset: usize,
    shape: [usize; R],
    strides: [usize; R],
}

/// A tensor that owns its buffer.
#[derive(Debug)]
pub struct Tensor<T: Element, const R: usize> {
    buffer: Buffer<T>,
    placement: Placement<R>,
}

/// A tensor or a part of one, borrowed to read.
#[derive(Clone, Copy, Debug)]
pub struct TensorView<'a, T: Element, const R: usize> {
    pub(crate) buffer: &'a Buffer<T>,
    placement: Placement<R>,
}

/// A tensor or a part of one, borrowed to write. No two coordinates name one element.
#[derive(Debug)]
pub struct TensorViewMut<'a, T: Element, const R: usize> {
    pub(crate) buffer: &'a mut Buffer<T>,
    placement: Placement<R>,
}

impl<T: Element, const R: usize> Tensor<T, R> {
    /// A tensor over all or part of a buffer: the element at coordinate `c` is the buffer's `Σ c[i]·strides[i]`, and no two
    /// coordinates name one element.
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
    pub fn zeros(device: &Device, shape: [usize; R]) -> Result<Self, Error> {
        Tensor::zeros_strided(device, shape, row_major(shape)?)
    }

    /// A tensor of zeros in a buffer that ends with the last element.
    pub fn zeros_strided(
        device: &Device,
        shape: [usize; R],
        strides: [usize; R],
    ) -> Result<Self, Error> {
        let span = Placement::new(shape, strides).span()?;
        Tensor::new(device.zeros(span)?, shape, strides)
    }

    /// A tensor with the given elements, last mode fastest, and as such contiguous.
    ///
    /// ```
    /// let device = cute_runtime::Device::emulator();
    /// let a = cute_runtime::Tensor::from_slice(&device, &[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3])?;
    /// assert_eq!(a.view().slice(1, 1..3)?.download()?, [2.0, 3.0, 5.0, 6.0]);
    /// # Ok::<(), cute_runtime::Error>(())
    /// ```
    pub fn from_slice(device: &Device, data: &[T], shape: [usize; R]) -> Result<Self, Error> {
        Tensor::from_slice_strided(device, data, shape, row_major(shape)?)
    }

    /// A tensor with the given elements, last mode fastest, placed by the strides; zeros between them. TMA, for one, wants
    /// rows at multiples of 16 bytes:
    ///
    /// ```
    /// let device = cute_runtime::Device::emulator();
    /// let a = cute_runtime::Tensor::from_slice_strided(&device, &[1u32, 2, 3, 4, 5, 6], [2, 3], [4, 1])?;
    /// assert_eq!(a.buffer().download()?, [1, 2, 3, 0, 4, 5, 6]);
    /// # Ok::<(), cute_runtime::Error>(())
    /// ```
    pub fn from_slice_strided(
        device: &Device,
        data: &[T],
        shape: [usize; R],
        strides: [usize; R],
    ) -> Result<Self, Error> {
        let expected = volume(shape)?;
        if data.len() != expected {
            return Err(Error::Length {
                expected,
                found: data.len(),
            });
        }
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

    /// The whole tensor, to read.
    pub fn view(&self) -> TensorView<'_, T, R> {
        TensorView {
            buffer: &self.buffer,
            placement: self.placement,
        }
    }

    /// The whole tensor, to write.
    pub fn view_mut(&mut self) -> TensorViewMut<'_, T, R> {
        TensorViewMut {
            buffer: &mut self.buffer,
            placement: self.placement,
        }
    }

    /// The extents.
    pub fn shape(&self) -> [usize; R] {
        self.placement.shape
    }

    /// The strides in elements.
    pub fn strides(&self) -> [usize; R] {
        self.placement.strides
    }

    /// The elements on the host, last mode fastest.
    pub fn download(&self) -> Result<Vec<T>, Error> {
        self.view().download()
    }

    /// The buffer.
    pub fn buffer(&self) -> &Buffer<T> {
        &self.buffer
    }

    /// Gives the buffer back.
    pub fn into_buffer(self) -> Buffer<T> {
        self.buffer
    }
}

impl<T: Element> Buffer<T> {
    /// A tensor in this buffer, to read: the element at coordinate `c` is the buffer's `offset + Σ c[i]·strides[i]`.
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

    /// A tensor in this buffer, to write. Its coordinates must name distinct elements.
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
    /// The extents.
    pub fn shape(&self) -> [usize; R] {
        self.placement.shape
    }

    /// The strides in elements.
    pub fn strides(&self) -> [usize; R] {
        self.placement.strides
    }

    /// Address of the element at the origin, in the device's memory.
    pub fn address(&self) -> u64 {
        self.buffer.address() + (self.placement.offset * size_of::<T>()) as u64
    }

    /// The part whose coordinates of one mode lie in a range.
    pub fn slice(self, mode: usize, range: Range<usize>) -> Result<Self, Error> {
        Ok(TensorView {
            placement: self.placement.slice(mode, range)?,
            ..self
        })
    }

    /// The same elements with their modes in another order: `select([1, 0])` is the transpose.
    pub fn select(self, order: [usize; R]) -> Result<Self, Error> {
        Ok(TensorView {
            placement: self.placement.select(order)?,
            ..self
        })
    }

    /// The elements on the host, last mode fastest.
    pub fn download(&self) -> Result<Vec<T>, Error> {
        let Placement { offset, shape, .. } = self.placement;
        let span = self.buffer.download_range(offset, self.placement.span()?)?;
        // A view with a stride of 0 may hold more elements than its buffer, and than the host.
        let mut elements = reserve(volume(shape)?)?;
        elements.extend(self.placement.indices().map(|index| span[index]));
        Ok(elements)
    }
}

impl<'a, T: Element, const R: usize> TensorViewMut<'a, T, R> {
    /// The extents.
    pub fn shape(&self) -> [usize; R] {
        self.placement.shape
    }

    /// The strides in elements.
    pub fn strides(&self) -> [usize; R] {
        self.placement.strides
    }

    /// Address of the element at the origin, in the device's memory.
    pub fn address(&self) -> u64 {
        self.buffer.address() + (self.placement.offset * size_of::<T>()) as u64
    }

    /// The part whose coordinates of one mode lie in a range.
    pub fn slice(self, mode: usize, range: Range<usize>) -> Result<Self, Error> {
        let placement = self.placement.slice(mode, range)?;
        Ok(TensorViewMut {
            placement,
            buffer: self.buffer,
        })
    }

    /// The same elements with their modes in another order: `select([1, 0])` is the transpose.
    pub fn select(self, order: [usize; R]) -> Result<Self, Error> {
        let placement = self.placement.select(order)?;
        Ok(TensorViewMut {
            placement,
            buffer: self.buffer,
        })
    }

    /// The same part, to read.
    pub fn as_view(&self) -> TensorView<'_, T, R> {
        TensorView {
            buffer: self.buffer,
            placement: self.placement,
        }
    }
}

impl<const R: usize> Placement<R> {
    fn new(shape: [usize; R], strides: [usize; R]) -> Self {
        Placement {
            offset: 0,
            shape,
            strides,
        }
    }

    /// Index of the last element, `None` where there are none.
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

    /// Number of elements from the first to the last.
    fn span(&self) -> Result<usize, ViewError> {
        Ok(self
            .last()?
            .map_or(0, |last| (last - self.offset).saturating_add(1)))
    }

    /// Where the elements lie, counted from the first; last mode fastest.
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

    fn within(self, len: usize) -> Result<Self, ViewError> {
        match self.last()? {
            Some(last) if last >= len => Err(ViewError::OutOfBounds {
                shape: self.shape.to_vec(),
                strides: self.strides.to_vec(),
                offset: self.offset,
                last,
                len,
            }),
            // An empty view at an offset past the end has no address.
            None if self.offset > len => Ok(Placement {
                offset: len,
                ..self
            }),
            _ => Ok(self),
        }
    }

    /// Refuses a placement whose modes, from the smallest stride on, do not each step past all of the modes before.
    fn writable(self) -> Result<Self, ViewError> {
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
            // What saturates lies outside of every buffer, and is refused for that.
            span = (self.shape[mode] - 1)
                .saturating_mul(stride)
                .saturating_add(span);
        }
        Ok(self)
    }

    fn slice(mut self, mode: usize, range: Range<usize>) -> Result<Self, ViewError> {
        let Range { start, end } = range;
        let extent = *self.shape.get(mode).ok_or(ViewError::Modes {
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
        // An empty part has no first element, and an offset might lie past the buffer.
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
}

/// Number of elements of a shape.
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

/// The next coordinate, last mode fastest.
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

/// Room for elements on the host.
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
