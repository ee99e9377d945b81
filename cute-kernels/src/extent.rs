//! Extents that are 0, and extents that are too large.
//!
//! A kernel is never launched with a tensor that has no elements. If the output of a function has no elements, the function only
//! checks the shapes of its arguments. If only its summed operands have none, the sums are those of zeros.

use cute_runtime::{Buffer, Device, Element, TensorView};

use crate::Error;

/// The largest extent of a tensor. TMA's coordinates are signed 32-bit numbers. The kernels compute coordinates in `u32`, so
/// those of the last tile, which may reach past the edge, do not overflow either.
const MAX_EXTENT: u32 = i32::MAX as u32;

/// An extent as a kernel argument; refused if it is larger than `MAX_EXTENT`.
pub(crate) fn extent(extent: usize) -> Result<u32, Error> {
    match u32::try_from(extent) {
        Ok(extent) if extent <= MAX_EXTENT => Ok(extent),
        _ => Err(Error::Extent {
            extent,
            limit: MAX_EXTENT,
        }),
    }
}

/// Whether a tensor of this shape has no elements.
pub(crate) fn is_empty(shape: &[usize]) -> bool {
    shape.contains(&0)
}

/// Zeros in place of a tensor without elements, such as the operands of a product whose K is 0.
pub(crate) struct Zeros<T: Element>(Buffer<T>);

impl<T: Element> Zeros<T> {
    /// Tensors with up to so many zeros along their last mode.
    pub(crate) fn new(device: &Device, last: usize) -> Result<Self, Error> {
        Ok(Self(device.zeros(last)?))
    }

    /// Zeros that fill 16 bytes, of which TMA and threads load whole vectors.
    pub(crate) fn vector(device: &Device) -> Result<Self, Error> {
        Self::new(device, 16 / size_of::<T>())
    }

    /// A tensor of zeros.
    pub(crate) fn view<const R: usize>(
        &self,
        shape: [usize; R],
    ) -> Result<TensorView<'_, T, R>, Error> {
        let mut strides = [0; R];
        strides[R - 1] = 1;
        Ok(self.0.view(0, shape, strides)?)
    }

    /// A tensor with the shape of another, but with all of the zeros along its last mode.
    pub(crate) fn like<const R: usize>(
        &self,
        x: &TensorView<'_, T, R>,
    ) -> Result<TensorView<'_, T, R>, Error> {
        let mut shape = x.shape();
        shape[R - 1] = self.0.len();
        self.view(shape)
    }
}
