//! Memory, contexts and streams of other libraries.
//!
//! Each is kept alive by an owner token of the caller's, and `unsafe` is in the constructors alone. What is borrowed is never reset,
//! destroyed or freed here.

use std::any::Any;
#[cfg(feature = "cuda")]
use std::ffi::c_void;
#[cfg(feature = "cuda")]
use std::sync::Arc;

#[cfg(feature = "cuda")]
use crate::device::cuda;
use crate::device::tensor::Placement;
use crate::{Buffer, Device, Element, Error, ForeignRule, Tensor, TensorView};

/// A tensor in memory of others that is only read. Several coordinates may name the same element. [`Tensor::from_raw_parts`] makes one.
#[derive(Debug)]
pub struct SharedTensor<T: Element, const R: usize> {
    buffer: Buffer<T>,
    placement: Placement<R>,
}

impl Device {
    /// GPU number `ordinal` by a `CUcontext` that others made: its primary context or another one.
    ///
    /// `owner` keeps the context alive, as long as any handle, buffer, stream, event or graph of it exists. The context is never reset,
    /// destroyed or waited for here, and each call leaves the thread's current context as it was. All handles of one context name one
    /// device, which is that of [`Device::cuda`] if the context is the primary one. Keep the handle: the kernels that were compiled for it
    /// stay loaded as long as the context, and those of a context that is not the primary one are compiled again once no handle of it is
    /// left.
    ///
    /// # Safety
    /// The context is not destroyed or reset before the owner is dropped.
    ///
    /// # Errors
    /// [`Error::OtherContext`] if the context is one of another device, and the errors of [`Device::cuda`].
    #[cfg(feature = "cuda")]
    pub unsafe fn from_raw(
        ordinal: usize,
        context: *mut c_void,
        owner: Arc<dyn Any + Send + Sync>,
    ) -> Result<Self, Error> {
        // SAFETY: the caller makes the promise that the call demands.
        let gpu = unsafe { cuda::Gpu::of_context(ordinal, context.cast(), owner)? };
        Ok(Device::new(gpu))
    }
}

#[cfg(feature = "emulator")]
impl Device {
    /// On the emulator, does work of others on the handle's stream: `work` gets the `len` elements of the host from `pointer` on, and may
    /// read and write them. What earlier work has written to tensors in this memory is there.
    ///
    /// A test of a program that is a guest does what its host does on a GPU by this function. The emulator then finds a missing event between
    /// such work and launches on other streams, as it does between two launches, in whatever order they are made here.
    ///
    /// ```
    /// use cute_runtime::{Device, Error, Tensor, kernels};
    ///
    /// #[kernels]
    /// mod scaling {
    ///     #[kernel(threads = 64)]
    ///     pub fn double(x: Global<i32, 1>) {
    ///         let i = thread();
    ///         if i < extent(x, 0) {
    ///             x[i] = x[i] * 2;
    ///         }
    ///     }
    /// }
    ///
    /// let device = Device::emulator();
    /// let (ours, theirs) = (device.on(&device.new_stream()?)?, device.on(&device.new_stream()?)?);
    /// let mut numbers = vec![0; 64];
    /// let pointer = numbers.as_mut_ptr();
    /// // SAFETY: `numbers` is used by `emulate_others` alone until the tensor is dropped. That their stream is not waited for is found.
    /// let mut x = unsafe { Tensor::from_raw_parts_mut(pointer, [64], [1], &ours, ())? };
    /// // SAFETY: as above.
    /// unsafe { theirs.emulate_others(pointer, 64, |numbers| numbers.fill(5))? };
    /// let error = scaling::double::launch(&ours, 1, &mut x.view_mut()).unwrap_err();
    /// assert!(error.to_string().contains("with work of others on stream"), "{error}");
    ///
    /// ours.stream().wait(&theirs.stream().record()?)?;
    /// scaling::double::launch(&ours, 1, &mut x.view_mut())?;
    /// assert_eq!(x.download()?, [10; 64]);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Safety
    /// The elements are initialised memory of the host that nobody else uses during the call. A tensor in the memory does not forbid it.
    ///
    /// # Errors
    /// [`Error::EmulatorMemory`] if work of another stream accesses the memory, and the handle's stream has not waited for it;
    /// [`Error::NotEmulated`] on a GPU.
    pub unsafe fn emulate_others<T: Element>(
        &self,
        pointer: *mut T,
        len: usize,
        work: impl FnOnce(&mut [T]),
    ) -> Result<(), Error> {
        let stream = self.queue().stream(&**self.backend());
        let address = pointer.expose_provenance() as u64;
        (self.backend()).lend(stream, address, len * size_of::<T>())?;
        // SAFETY: the caller makes the promise.
        work(unsafe { std::slice::from_raw_parts_mut(pointer, len) });
        Ok(())
    }
}

impl<T: Element, const R: usize> Tensor<T, R> {
    /// A tensor in memory of others, to read and write: coordinate `c` names the element at `pointer + Σ c[i]·strides[i]`. On the emulator,
    /// the memory is the host's.
    ///
    /// The handle's stream is the tensor's home. What others did with the memory comes before later work of that stream, and so does what
    /// this crate does, on whatever stream, before the guard is dropped: at the drop, the home stream waits for the others, and the host
    /// does not. So a guard's drop may record an event on the home stream, or give the memory back to a pool of that stream.
    ///
    /// On the emulator, kernels work on a copy. Elements that kernels have written are in the memory of the host once the host has waited
    /// for them, by [`Device::synchronize`] or an event, or the guard is dropped.
    ///
    /// ```
    /// use cute_runtime::{Device, Error, Tensor, kernels};
    ///
    /// #[kernels]
    /// mod scaling {
    ///     #[kernel(threads = 64)]
    ///     pub fn double(x: Global<i32, 1>) {
    ///         let i = block_idx().0 * 64 + thread();
    ///         if i < extent(x, 0) {
    ///             x[i] = x[i] * 2;
    ///         }
    ///     }
    /// }
    ///
    /// let device = Device::emulator();
    /// let mut numbers = vec![7; 100];
    /// // SAFETY: `numbers` is not used or dropped before the tensor is.
    /// let mut x = unsafe { Tensor::from_raw_parts_mut(numbers.as_mut_ptr(), [100], [1], &device, ())? };
    /// scaling::double::launch(&device, 2, &mut x.view_mut())?;
    /// device.synchronize()?;
    /// drop(x);
    /// assert_eq!(numbers, [14; 100]);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Safety
    /// - Up to the drop of the guard, the memory holds the elements, gaps included: initialised memory of the device or managed memory, or
    ///   on the emulator memory of the host.
    /// - Work of others that uses it is ordered by the home stream: it ends before what is enqueued on that stream from now on, or begins
    ///   after what was enqueued on that stream when the guard is dropped. Code of the host does not use it in between.
    ///
    /// # Errors
    /// [`Error::Foreign`] for a null pointer, one that is no multiple of an element's size, and one that the driver says is memory of the
    /// host or of another device; [`ViewError::Overlap`](crate::ViewError::Overlap) as for [`Tensor::new`].
    pub unsafe fn from_raw_parts_mut(
        pointer: *mut T,
        shape: [usize; R],
        strides: [usize; R],
        device: &Device,
        guard: impl Any + Send,
    ) -> Result<Self, Error> {
        Placement::new(shape, strides).writable()?;
        // SAFETY: the caller makes the promise that the call demands.
        let buffer = unsafe { buffer(pointer, shape, strides, device, guard)? };
        Tensor::new(buffer, shape, strides)
    }

    /// A tensor in memory of others that is only read: see [`from_raw_parts_mut`](Tensor::from_raw_parts_mut). Strides may be 0.
    ///
    /// # Safety
    /// As for [`from_raw_parts_mut`](Tensor::from_raw_parts_mut), where work and code of others may read the memory at any time.
    ///
    /// # Errors
    /// As for [`from_raw_parts_mut`](Tensor::from_raw_parts_mut), without the rule of strides.
    pub unsafe fn from_raw_parts(
        pointer: *const T,
        shape: [usize; R],
        strides: [usize; R],
        device: &Device,
        guard: impl Any + Send,
    ) -> Result<SharedTensor<T, R>, Error> {
        let placement = Placement::new(shape, strides);
        // SAFETY: the caller makes the promise that the call demands. The buffer is lent to read only.
        let buffer = unsafe { buffer(pointer.cast_mut(), shape, strides, device, guard)? };
        Ok(SharedTensor { buffer, placement })
    }
}

/// The buffer from the first element of a tensor to the last.
///
/// # Safety
/// As for [`Tensor::from_raw_parts_mut`].
unsafe fn buffer<T: Element, const R: usize>(
    pointer: *mut T,
    shape: [usize; R],
    strides: [usize; R],
    device: &Device,
    guard: impl Any + Send,
) -> Result<Buffer<T>, Error> {
    let len = Placement::new(shape, strides).span()?;
    let address = pointer.expose_provenance() as u64;
    let refuse = |rule| Error::Foreign { address, rule };
    if address == 0 && len > 0 {
        return Err(refuse(ForeignRule::Null { elements: len }));
    }
    if !address.is_multiple_of(size_of::<T>() as u64) {
        return Err(refuse(ForeignRule::Misaligned {
            element: T::TYPE,
            bytes: size_of::<T>(),
        }));
    }
    // SAFETY: the caller makes the promise that the call demands.
    unsafe { Buffer::of_guest(device, address, len, Box::new(guard)) }
}

impl<T: Element, const R: usize> SharedTensor<T, R> {
    /// A view of the whole tensor, to read.
    pub fn view(&self) -> TensorView<'_, T, R> {
        TensorView::of(&self.buffer, self.placement)
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
}
