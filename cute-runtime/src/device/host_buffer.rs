//! Memory of the host that a device copies from and to while the host goes on.

use std::fmt;
use std::iter;
use std::marker::PhantomData;
use std::ptr;
use std::slice;
use std::sync::Mutex;

use crate::device::order::Uses;
use crate::{Buffer, Device, Element, Error};

/// An array of elements in memory of the host that the device knows: page-locked ("pinned") memory on a GPU. Copies between it and a
/// [`Buffer`] are enqueued on a stream, and the host does not wait for them.
///
/// The elements are reached by [`read`](HostBuffer::read) and [`write`](HostBuffer::write), which wait for the copies that are under way.
/// Page-locked memory is scarce and slow to allocate: make few such buffers, and use them again.
///
/// ```
/// use cute_runtime::{Device, Error, HostBuffer};
///
/// let device = Device::default();
/// let mut staged = HostBuffer::<f32>::zeros(&device, 1000)?;
/// staged.write()?.fill(2.5);
/// let mut x = device.zeros::<f32>(1000)?;
/// x.copy_from_host(&staged)?;
/// // … other work of the host …
/// let mut back = HostBuffer::zeros(&device, 1000)?;
/// x.copy_to_host(&mut back)?;
/// assert_eq!(back.read()?, [2.5; 1000]);
/// # Ok::<(), Error>(())
/// ```
pub struct HostBuffer<T: Element> {
    device: Device,
    /// 0 if there are no elements.
    address: u64,
    len: usize,
    uses: Mutex<Uses>,
    element: PhantomData<T>,
}

impl<T: Element> HostBuffer<T> {
    /// A buffer of `len` zeros for copies from and to a device.
    ///
    /// # Errors
    /// [`Error::TooLarge`] or [`Error::Driver`] if the host has not that much memory.
    pub fn zeros(device: &Device, len: usize) -> Result<Self, Error> {
        let bytes = len.checked_mul(size_of::<T>()).ok_or(Error::TooLarge {
            len,
            element: T::TYPE,
        })?;
        device.check_stream("to allocate memory")?;
        let address = match bytes {
            0 => 0,
            _ => device.backend().alloc_host(bytes)?,
        };
        if address != 0 {
            // SAFETY: the memory is new and has so many bytes.
            unsafe { pointer::<u8>(address).write_bytes(0, bytes) };
        }
        Ok(HostBuffer {
            device: device.clone(),
            address,
            len,
            uses: Mutex::default(),
            element: PhantomData,
        })
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the buffer has no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The elements, once all copies into the buffer have ended.
    ///
    /// # Errors
    /// If the device failed.
    pub fn read(&self) -> Result<&[T], Error> {
        self.finish()?;
        Ok(match self.address {
            0 => &[],
            // SAFETY: the memory has so many elements, all initialised: any bytes are elements. No copy is under way, and one into the
            // buffer needs it mutably.
            address => unsafe { slice::from_raw_parts(pointer(address), self.len) },
        })
    }

    /// The elements, to change them, once all copies from and into the buffer have ended.
    ///
    /// # Errors
    /// If the device failed.
    pub fn write(&mut self) -> Result<&mut [T], Error> {
        self.finish()?;
        Ok(match self.address {
            0 => &mut [],
            // SAFETY: as in `read`; the buffer is borrowed mutably.
            address => unsafe { slice::from_raw_parts_mut(pointer(address), self.len) },
        })
    }

    fn finish(&self) -> Result<(), Error> {
        let backend = &**self.device.backend();
        backend.order().finish(backend, &self.uses)
    }

    fn bytes(&self) -> usize {
        self.len * size_of::<T>()
    }
}

impl<T: Element> Buffer<T> {
    /// Starts to overwrite all elements by those of the host's buffer, on the home stream. The host does not wait.
    ///
    /// # Errors
    /// [`Error::Length`] if it has another number of elements, [`Error::OtherStream`] if it is for another device, and
    /// [`Error::Capturing`] or [`Error::StreamCaptured`] in a capture.
    pub fn copy_from_host(&mut self, from: &HostBuffer<T>) -> Result<(), Error> {
        self.check_host("copy_from_host", from)?;
        let device = self.device().clone();
        device.uncaptured("to copy from the host")?;
        if self.is_empty() {
            return Ok(());
        }
        let (backend, address) = (&**device.backend(), self.address());
        let uses = iter::once(self.memory().used(true)).chain([(&from.uses, false)]);
        // SAFETY: the memory has so many initialised bytes. It is not changed while the copy is under way: `write` waits for it.
        let bytes = unsafe { slice::from_raw_parts(pointer::<u8>(from.address), from.bytes()) };
        // SAFETY: both have as many bytes, at least one, and the host's are neither changed nor freed before the copy has ended.
        let copy = |stream| unsafe { backend.start_write(stream, address, bytes) };
        backend.order().enqueue(backend, device.queue(), uses, copy)
    }

    /// Starts to copy all elements to the host's buffer, on the home stream. The host does not wait.
    ///
    /// # Errors
    /// As for [`copy_from_host`](Buffer::copy_from_host).
    pub fn copy_to_host(&self, to: &mut HostBuffer<T>) -> Result<(), Error> {
        self.check_host("copy_to_host", to)?;
        let device = self.device();
        device.uncaptured("to copy to the host")?;
        if self.is_empty() {
            return Ok(());
        }
        let (backend, address) = (&**device.backend(), self.address());
        let uses = iter::once(self.memory().used(false)).chain([(&to.uses, true)]);
        // SAFETY: the memory has so many bytes. Nobody has a reference to them, since the buffer is borrowed mutably and `read` and
        // `write` wait for the copy.
        let bytes = unsafe { slice::from_raw_parts_mut(pointer::<u8>(to.address), to.bytes()) };
        // SAFETY: both have as many bytes, at least one, and the host's are neither used nor freed before the copy has ended.
        let copy = |stream| unsafe { backend.start_read(stream, address, bytes) };
        backend.order().enqueue(backend, device.queue(), uses, copy)
    }

    fn check_host(&self, function: &'static str, host: &HostBuffer<T>) -> Result<(), Error> {
        if *self.device() != host.device {
            return Err(Error::OtherStream {
                what: "buffer of the host",
                found: host.device.name().to_string(),
                expected: self.device().name().to_string(),
            });
        }
        if host.len != self.len() {
            return Err(Error::Length {
                function,
                destination: "the whole buffer".to_owned(),
                expected: self.len(),
                found: host.len,
            });
        }
        Ok(())
    }
}

fn pointer<T>(address: u64) -> *mut T {
    ptr::with_exposed_provenance_mut(address as usize)
}

impl<T: Element> Drop for HostBuffer<T> {
    fn drop(&mut self) {
        if self.address != 0 {
            let (backend, uses) = (&**self.device.backend(), std::mem::take(&mut self.uses));
            let bytes = self.bytes();
            // SAFETY: the memory is from `alloc_host`, and only copies that are under way use it.
            unsafe {
                backend
                    .order()
                    .free_host(backend, self.address, bytes, uses)
            };
        }
    }
}

impl<T: Element> fmt::Debug for HostBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (len, device) = (self.len, self.device.name());
        write!(f, "{len} × {} of the host for {device}", T::TYPE)
    }
}
