//! A copy of a buffer by the driver. Its bandwidth is the bound of kernels that only read and write.

use std::error::Error;
use std::time::Duration;

use cudarc::driver::sys::cuMemcpyDtoDAsync_v2;
use cute_runtime::{Buffer, Device, Element};

/// A copy from one buffer to another.
pub(crate) struct PlainCopy<'a, T: Element> {
    device: &'a Device,
    source: &'a Buffer<T>,
    target: Buffer<T>,
}

impl<'a, T: Element> PlainCopy<'a, T> {
    /// A copy of this buffer to a new one. The context of the device's memory must be current on this thread.
    pub(crate) fn new(device: &'a Device, source: &'a Buffer<T>) -> Result<Self, Box<dyn Error>> {
        let target = device.zeros::<T>(source.len())?;
        Ok(Self {
            device,
            source,
            target,
        })
    }

    /// The time of one copy.
    pub(crate) fn time(&self) -> Result<Duration, Box<dyn Error>> {
        self.device.time(|| -> Result<(), Box<dyn Error>> {
            // SAFETY: both buffers have this length and belong to the current context.
            let status = unsafe {
                cuMemcpyDtoDAsync_v2(
                    self.target.address(),
                    self.source.address(),
                    self.source.len() * size_of::<T>(),
                    std::ptr::null_mut(),
                )
            };
            Ok(status.result()?)
        })
    }
}
