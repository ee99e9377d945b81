//! Tensors that keep a slice of cudarc's, without a borrow.

use std::sync::Arc;

use cudarc::driver::{CudaSlice, CudaStream, DevicePtr, DevicePtrMut};
use cute_runtime::{Element, SharedTensor, Tensor};

use crate::guest::{check_bounds, pointer};
use crate::{Error, Guest, Holds};

impl Guest {
    /// Turns a slice into a tensor, to read and write, as [`write`](Guest::write) does. The tensor keeps the slice, which is dropped
    /// behind all launches that use it, and after the graphs of [`Device::capture`](cute_runtime::Device::capture) that do.
    ///
    /// # Errors
    /// As for [`write`](Guest::write); the slice is dropped then.
    pub fn keep<T: Holds<E>, E: Element, const R: usize>(
        &self,
        mut slice: CudaSlice<T>,
        shape: [usize; R],
        strides: [usize; R],
    ) -> Result<Tensor<E, R>, Error> {
        check_bounds(shape, strides, slice.len())?;
        self.check(slice.stream())?;
        let (address, recorded) = slice.device_ptr_mut(self.stream());
        drop(recorded);
        self.stream().context().check_err()?;
        let guard = Kept::new(slice, self.stream(), |slice, stream| {
            drop(slice.device_ptr_mut(stream).1);
        });
        // SAFETY: the guard keeps the slice, which nobody else has. It has all elements, of which any bytes are values. Its earlier work
        // comes before that of the stream, and its later work is its drop, behind the event.
        let tensor = unsafe {
            Tensor::from_raw_parts_mut(pointer(address), shape, strides, self.device(), guard)?
        };
        Ok(tensor)
    }

    /// A tensor in a slice that others also read, as [`read`](Guest::read) makes it. It keeps the `Arc`, up to the end of all launches
    /// and graphs that use it.
    ///
    /// # Errors
    /// As for [`read`](Guest::read).
    pub fn share<T: Holds<E>, E: Element, const R: usize>(
        &self,
        slice: &Arc<CudaSlice<T>>,
        shape: [usize; R],
        strides: [usize; R],
    ) -> Result<SharedTensor<E, R>, Error> {
        check_bounds(shape, strides, slice.len())?;
        self.check(slice.stream())?;
        let (address, recorded) = slice.device_ptr(self.stream());
        drop(recorded);
        self.stream().context().check_err()?;
        let guard = Kept::new(slice.clone(), self.stream(), |slice, stream| {
            drop(slice.device_ptr(stream).1);
        });
        // SAFETY: as in `keep`; nobody writes the slice while the guard has an `Arc`.
        let tensor = unsafe {
            Tensor::from_raw_parts(pointer(address), shape, strides, self.device(), guard)?
        };
        Ok(tensor)
    }
}

/// A slice that a tensor keeps. Its drop records cudarc's event, and then drops the slice.
struct Kept<S: Send> {
    slice: S,
    stream: Arc<CudaStream>,
    record: fn(&mut S, &CudaStream),
}

impl<S: Send> Kept<S> {
    fn new(slice: S, stream: &Arc<CudaStream>, record: fn(&mut S, &CudaStream)) -> Self {
        Kept {
            slice,
            stream: stream.clone(),
            record,
        }
    }
}

impl<S: Send> Drop for Kept<S> {
    fn drop(&mut self) {
        (self.record)(&mut self.slice, &self.stream);
    }
}
