//! Device memory: typed buffers.

use std::marker::PhantomData;
use std::sync::Arc;

use zerocopy::IntoBytes;

use crate::device::backend::Backend;
use crate::{Device, Element, Error};

/// An array of elements in a device's memory.
///
/// Dropping it frees the memory, once everything launched before has finished: on a GPU, the drop waits for that. Memory that a
/// [`Graph`](crate::Graph) uses is freed only after the graph is dropped, too.
pub struct Buffer<T: Element> {
    memory: Arc<Memory>,
    len: usize,
    element: PhantomData<T>,
}

/// Memory of a device, freed when the last of its owners is dropped: a buffer, and graphs whose launches use it.
#[derive(Debug)]
pub(crate) struct Memory {
    pub(crate) device: Device,
    /// 0 if there are no bytes.
    pub(crate) address: u64,
}

impl Device {
    /// A new buffer with a copy of the elements of a slice of the host.
    pub fn upload<T: Element>(&self, data: &[T]) -> Result<Buffer<T>, Error> {
        Buffer::upload(self, data)
    }

    /// A new buffer of `len` zeros.
    pub fn zeros<T: Element>(&self, len: usize) -> Result<Buffer<T>, Error> {
        Buffer::zeros(self, len)
    }
}

impl<T: Element> Buffer<T> {
    fn zeros(device: &Device, len: usize) -> Result<Self, Error> {
        let buffer = Buffer::alloc(device, len)?;
        if buffer.address() != 0 {
            // SAFETY: `alloc` has just returned the memory to this buffer, and no other code knows its address.
            unsafe { device.backend().clear(buffer.address(), buffer.bytes())? };
        }
        Ok(buffer)
    }

    fn upload(device: &Device, data: &[T]) -> Result<Self, Error> {
        let mut buffer = Buffer::alloc(device, data.len())?;
        buffer.write(device.backend().as_ref(), data)?;
        Ok(buffer)
    }

    fn alloc(device: &Device, len: usize) -> Result<Self, Error> {
        let bytes = len.checked_mul(size_of::<T>()).ok_or(Error::TooLarge {
            len,
            element: T::TYPE,
        })?;
        // Backends do not allocate 0 bytes. An empty buffer has address 0.
        let address = if bytes == 0 {
            0
        } else {
            device.backend().alloc(bytes)?
        };
        let device = device.clone();
        Ok(Buffer {
            memory: Arc::new(Memory { device, address }),
            len,
            element: PhantomData,
        })
    }

    fn bytes(&self) -> usize {
        self.len * size_of::<T>()
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the buffer has no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The device whose memory this is.
    pub fn device(&self) -> &Device {
        &self.memory.device
    }

    /// The memory, for a launch that uses it.
    pub(crate) fn memory(&self) -> &Arc<Memory> {
        &self.memory
    }

    /// Device address of the first element, to pass to other libraries; 0 if there are no elements.
    ///
    /// On a GPU, the address is valid in the device's primary context. Make that context current before you call the other
    /// library: the calls of this crate leave the thread's current context as it was.
    pub fn address(&self) -> u64 {
        self.memory.address
    }

    /// Overwrites all elements of the buffer.
    ///
    /// # Errors
    /// If `data` has another length than the buffer ([`Error::Length`]).
    pub fn copy_from(&mut self, data: &[T]) -> Result<(), Error> {
        if data.len() != self.len {
            return Err(Error::Length {
                function: "copy_from",
                destination: "the whole buffer".to_owned(),
                expected: self.len,
                found: data.len(),
            });
        }
        let device = self.device().clone();
        self.write(device.uncaptured()?, data)
    }

    /// Overwrites all elements by as many others.
    fn write(&mut self, backend: &dyn Backend, data: &[T]) -> Result<(), Error> {
        debug_assert_eq!(data.len(), self.len);
        if data.is_empty() {
            return Ok(());
        }
        // SAFETY: the bytes are not empty and are exactly as many as the buffer's, and `&mut self` gives exclusive access to
        // the buffer's memory, which is from `alloc` of this backend.
        unsafe { backend.write(self.address(), data.as_bytes()) }
    }

    /// Copies all elements to the host, after everything launched before has finished.
    pub fn download(&self) -> Result<Vec<T>, Error> {
        self.download_range(0, self.len)
    }

    /// Copies `len` elements from `offset` on to the host.
    ///
    /// # Panics
    /// If they do not all lie in the buffer. Views are checked when they are made, so theirs do.
    pub(crate) fn download_range(&self, offset: usize, len: usize) -> Result<Vec<T>, Error> {
        assert!(offset <= self.len && len <= self.len - offset);
        let mut data = T::new_vec_zeroed(len).map_err(|_| Error::TooLarge {
            len,
            element: T::TYPE,
        })?;
        if data.is_empty() {
            return Ok(data);
        }
        let address = self.address() + (offset * size_of::<T>()) as u64;
        // SAFETY: the assertion above keeps the range within the buffer's memory, all of which was cleared or written when
        // the buffer was made; the range is not empty.
        unsafe {
            self.device()
                .uncaptured()?
                .read(address, data.as_mut_bytes())?
        };
        Ok(data)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.address != 0 {
            // SAFETY: `alloc` returned the address to the buffer of this memory. Only this drop frees it, and nobody can use
            // the memory after its drop.
            unsafe { self.device.backend().free(self.address) };
        }
    }
}

impl<T: Element> std::fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} × {} at {:#x} on {}",
            self.len,
            T::TYPE,
            self.address(),
            self.device().name()
        )
    }
}
