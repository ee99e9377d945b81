//! Device memory: typed buffers.

use std::marker::PhantomData;

use zerocopy::IntoBytes;

use crate::{Device, Element, Error};

/// Elements in a device's memory. Freed when dropped, once everything launched before has finished: on a GPU, dropping waits.
pub struct Buffer<T: Element> {
    device: Device,
    address: u64,
    len: usize,
    element: PhantomData<T>,
}

impl Device {
    /// A buffer with a copy of the elements.
    pub fn upload<T: Element>(&self, data: &[T]) -> Result<Buffer<T>, Error> {
        Buffer::upload(self, data)
    }

    /// A buffer of zeros.
    pub fn zeros<T: Element>(&self, len: usize) -> Result<Buffer<T>, Error> {
        Buffer::zeros(self, len)
    }
}

impl<T: Element> Buffer<T> {
    fn zeros(device: &Device, len: usize) -> Result<Self, Error> {
        let buffer = Buffer::alloc(device, len)?;
        if buffer.address != 0 {
            // SAFETY: the memory is the buffer's, and nobody else knows of it.
            unsafe { device.backend().clear(buffer.address, buffer.bytes())? };
        }
        Ok(buffer)
    }

    fn upload(device: &Device, data: &[T]) -> Result<Self, Error> {
        let mut buffer = Buffer::alloc(device, data.len())?;
        buffer.copy_from(data)?;
        Ok(buffer)
    }

    fn alloc(device: &Device, len: usize) -> Result<Self, Error> {
        let bytes = len.checked_mul(size_of::<T>()).ok_or(Error::TooLarge {
            len,
            element: T::TYPE,
        })?;
        // No device allocates nothing: an empty buffer has no address.
        let address = if bytes == 0 {
            0
        } else {
            device.backend().alloc(bytes)?
        };
        Ok(Buffer {
            device: device.clone(),
            address,
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

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Where the buffer lives.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Address of the first element in the device's memory, for other libraries' calls; 0 where there are no elements. On a GPU
    /// it is in the device's primary context, which such a call has to make current: no call of this crate leaves it so.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Overwrites all elements.
    pub fn copy_from(&mut self, data: &[T]) -> Result<(), Error> {
        if data.len() != self.len {
            return Err(Error::Length {
                expected: self.len,
                found: data.len(),
            });
        }
        if data.is_empty() {
            return Ok(());
        }
        // SAFETY: the data are as long as the buffer, which is borrowed to write.
        unsafe { self.device.backend().write(self.address, data.as_bytes()) }
    }

    /// Copies all elements to the host, after everything launched before has finished.
    pub fn download(&self) -> Result<Vec<T>, Error> {
        self.download_range(0, self.len)
    }

    /// Copies some elements to the host.
    ///
    /// # Panics
    /// If they are not all in the buffer; views were checked when made.
    pub(crate) fn download_range(&self, offset: usize, len: usize) -> Result<Vec<T>, Error> {
        assert!(offset <= self.len && len <= self.len - offset);
        let mut data = T::new_vec_zeroed(len).map_err(|_| Error::TooLarge {
            len,
            element: T::TYPE,
        })?;
        if data.is_empty() {
            return Ok(data);
        }
        let address = self.address + (offset * size_of::<T>()) as u64;
        // SAFETY: the elements are the buffer's, which was cleared or written when it was made.
        unsafe { self.device.backend().read(address, data.as_mut_bytes())? };
        Ok(data)
    }
}

impl<T: Element> Drop for Buffer<T> {
    fn drop(&mut self) {
        if self.address != 0 {
            // SAFETY: the memory is the buffer's, which ends here.
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
            self.address,
            self.device.name()
        )
    }
}
