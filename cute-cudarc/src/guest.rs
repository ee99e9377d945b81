//! A stream of cudarc's as a device, and its slices as tensors.

use std::ops::Deref;
use std::sync::Arc;

use cudarc::driver::{
    CudaContext, CudaStream, CudaView, CudaViewMut, DeviceSlice, SyncOnDrop, sys,
};
use cute_runtime::{Device, Element, SharedTensor, Stream, Tensor, TensorView, TensorViewMut};

use crate::{Error, Holds};

/// The device of a context of cudarc's, on its default stream. It keeps the context.
///
/// # Errors
/// Those of [`Device::from_raw`].
pub fn device(context: &Arc<CudaContext>) -> Result<Device, Error> {
    let raw = context.cu_ctx().cast();
    // SAFETY: cudarc ends its use of a context when the `Arc` is dropped, which the owner keeps from happening.
    let device = unsafe { Device::from_raw(context.ordinal(), raw, context.clone())? };
    Ok(device)
}

/// `cute-runtime` as a guest on a stream of cudarc's: a device whose launches are on the stream, and tensors in cudarc's memory.
///
/// A clone is a guest on the same stream. It keeps the stream and its context.
#[derive(Clone, Debug)]
pub struct Guest {
    device: Device,
    stream: Arc<CudaStream>,
}

/// A tensor in a slice of cudarc's, to read: [`Guest::read`] makes one. Its drop tells cudarc that the slice was read.
#[derive(Debug)]
pub struct Read<'a, E: Element, const R: usize> {
    // Dropped first: the stream then comes behind all work that used the tensor, and the event is recorded behind that.
    tensor: SharedTensor<E, R>,
    _recorded: SyncOnDrop<'a>,
}

/// A tensor in a slice of cudarc's, to write: [`Guest::write`] makes one. Its drop tells cudarc that the slice was written.
#[derive(Debug)]
pub struct Write<'a, E: Element, const R: usize> {
    // Dropped first, as above.
    tensor: Tensor<E, R>,
    _recorded: SyncOnDrop<'a>,
}

impl Guest {
    /// A guest on this stream, which may be the default one, or cudarc's `per_thread_stream`.
    ///
    /// # Safety
    /// - What [`read`](Guest::read), [`write`](Guest::write), [`lend`](Guest::lend) and [`lend_mut`](Guest::lend_mut) return is dropped
    ///   and not forgotten (`std::mem::forget`), and no [`Graph`](cute_runtime::Graph) that uses it is launched after that.
    /// - Who captures the stream into a graph launches that graph only while the slices and tensors are alive that were used meanwhile,
    ///   and keeps other work that uses them from running at the same time.
    ///
    /// # Errors
    /// Those of [`device`] and of [`Stream::from_raw`].
    pub unsafe fn new(stream: &Arc<CudaStream>) -> Result<Self, Error> {
        let device = device(stream.context())?;
        // SAFETY: cudarc destroys the stream when the `Arc` is dropped, which the owner keeps from happening. The caller makes the
        // promise about graphs.
        let named =
            unsafe { Stream::from_raw(&device, stream.cu_stream().cast(), stream.clone())? };
        Ok(Guest {
            device: device.on(&named)?,
            stream: stream.clone(),
        })
    }

    /// The device, on the guest's stream: for launches, and for tensors of our own.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The stream, as cudarc's.
    pub fn stream(&self) -> &Arc<CudaStream> {
        &self.stream
    }

    /// A tensor in a slice of cudarc's, to read: coordinate `c` names element `Σ c[i]·strides[i]` of the slice. Strides may be 0.
    ///
    /// The stream waits for the work that wrote the slice, as cudarc knows it. The drop of the tensor records cudarc's event of reads.
    ///
    /// ```no_run
    /// # use cute_cudarc::{Error, Guest, cudarc::driver::CudaSlice};
    /// # fn norms(guest: &Guest, x: &CudaSlice<f32>) -> Result<(), Error> {
    /// // Rows 2 to 5 of a matrix with rows of 100 elements.
    /// let rows = guest.read(x.slice(200..600), [4, 100], [100, 1])?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Bounds`] if the last element lies outside of the slice, [`Error::OtherContext`], [`Error::TrackedCapture`], and
    /// [`Error::Cudarc`] if an earlier call of cudarc's failed where it could not say so, such as in a drop.
    pub fn read<'a, T: Holds<E>, E: Element, const R: usize>(
        &'a self,
        slice: CudaView<'a, T>,
        shape: [usize; R],
        strides: [usize; R],
    ) -> Result<Read<'a, E, R>, Error> {
        check_bounds(shape, strides, slice.len())?;
        self.check(slice.stream())?;
        let (address, recorded) = slice.view_ptr(&self.stream);
        self.stream.context().check_err()?;
        // SAFETY: the slice is borrowed up to the drop of the tensor, and has all elements, of which any bytes are values. Its earlier
        // work comes before that of the stream, and its later work behind the event. The creator of the guest promised that the tensor
        // is dropped.
        let tensor =
            unsafe { Tensor::from_raw_parts(pointer(address), shape, strides, &self.device, ())? };
        Ok(Read {
            tensor,
            _recorded: recorded,
        })
    }

    /// A tensor in a slice of cudarc's, to read and write: as [`read`](Guest::read), where the stream also waits for the work that read
    /// the slice, and the drop records cudarc's event of writes.
    ///
    /// # Errors
    /// As for [`read`](Guest::read), and [`ViewError::Overlap`](cute_runtime::ViewError::Overlap) if two coordinates may name the same
    /// element.
    pub fn write<'a, T: Holds<E>, E: Element, const R: usize>(
        &'a self,
        slice: CudaViewMut<'a, T>,
        shape: [usize; R],
        strides: [usize; R],
    ) -> Result<Write<'a, E, R>, Error> {
        check_bounds(shape, strides, slice.len())?;
        self.check(slice.stream())?;
        let (address, recorded) = slice.view_ptr_mut(&self.stream);
        self.stream.context().check_err()?;
        // SAFETY: as in `read`, and the slice is borrowed mutably.
        let tensor = unsafe {
            Tensor::from_raw_parts_mut(pointer(address), shape, strides, &self.device, ())?
        };
        Ok(Write {
            tensor,
            _recorded: recorded,
        })
    }

    /// Refuses memory of a stream of another context, and what would break a capture.
    pub(crate) fn check(&self, stream: &CudaStream) -> Result<(), Error> {
        let (memory, own) = (stream.context(), self.stream.context());
        if memory != own {
            return Err(Error::OtherContext {
                slice: memory.ordinal(),
                stream: own.ordinal(),
            });
        }
        // Also reports what failed before where cudarc could not say so.
        own.bind_to_thread()?;
        let is_tracked = [memory, own]
            .iter()
            .any(|it| it.is_managing_stream_synchronization());
        let none = sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE;
        match is_tracked && self.stream.capture_status()? != none {
            true => Err(Error::TrackedCapture),
            false => Ok(()),
        }
    }
}

/// Refuses a tensor whose last element lies outside of its slice.
pub(crate) fn check_bounds<const R: usize>(
    shape: [usize; R],
    strides: [usize; R],
    len: usize,
) -> Result<(), Error> {
    let modes = shape.iter().zip(&strides);
    let last = modes.fold(0u128, |last, (&extent, &stride)| {
        last.saturating_add(extent.saturating_sub(1) as u128 * stride as u128)
    });
    let needed = match shape.contains(&0) {
        true => 0,
        false => last.saturating_add(1),
    };
    match needed > len as u128 {
        true => Err(Error::Bounds {
            shape: shape.to_vec(),
            strides: strides.to_vec(),
            needed,
            len,
        }),
        false => Ok(()),
    }
}

/// An address of the driver's as a pointer.
pub(crate) fn pointer<T>(address: sys::CUdeviceptr) -> *mut T {
    std::ptr::with_exposed_provenance_mut(address as usize)
}

impl<E: Element, const R: usize> Deref for Read<'_, E, R> {
    type Target = SharedTensor<E, R>;

    fn deref(&self) -> &SharedTensor<E, R> {
        &self.tensor
    }
}

impl<E: Element, const R: usize> Deref for Write<'_, E, R> {
    type Target = Tensor<E, R>;

    fn deref(&self) -> &Tensor<E, R> {
        &self.tensor
    }
}

impl<E: Element, const R: usize> Read<'_, E, R> {
    /// A view of the whole tensor, to read.
    pub fn view(&self) -> TensorView<'_, E, R> {
        self.tensor.view()
    }
}

// There is no `DerefMut`: `std::mem::swap` would take the tensor away from its guard.
impl<E: Element, const R: usize> Write<'_, E, R> {
    /// A view of the whole tensor, to read.
    pub fn view(&self) -> TensorView<'_, E, R> {
        self.tensor.view()
    }

    /// A view of the whole tensor, to write.
    pub fn view_mut(&mut self) -> TensorViewMut<'_, E, R> {
        self.tensor.view_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tensor_lies_in_its_slice() {
        let needed = |shape, strides, len| match check_bounds::<2>(shape, strides, len) {
            Err(Error::Bounds { needed, .. }) => Some(needed),
            other => other.map(|()| None).unwrap(),
        };
        assert_eq!(needed([4, 100], [100, 1], 400), None);
        assert_eq!(needed([4, 100], [100, 1], 399), Some(400));
        assert_eq!(needed([4, 100], [128, 1], 483), Some(484));
        assert_eq!(needed([4, 100], [128, 1], 484), None);
        // Strides of 0 repeat elements; without elements, nothing is needed.
        assert_eq!(needed([1000, 1000], [0, 0], 1), None);
        assert_eq!(needed([1000, 0], [usize::MAX, 1], 0), None);
        assert_eq!(needed([1, 1], [7, 7], 0), Some(1));
        let most = [usize::MAX; 2];
        assert_eq!(needed(most, most, usize::MAX), Some(u128::MAX));
        let error = check_bounds([4, 100], [128, 1], 480).unwrap_err();
        assert_eq!(
            error.to_string(),
            "a tensor of the extents [4, 100] and the strides [128, 1] needs 484 elements, and the slice has 480"
        );
    }
}
