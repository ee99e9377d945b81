//! The buffers into which kernels report. They are memory of the host to which the device writes, so that it can be read even
//! after a failed assertion, when the driver refuses every call.

use std::ptr;

use super::context::{Context, Entered};
use super::driver::check;
use super::sys;
use crate::Error;
use crate::device::image::Image;
use crate::device::report::Buffer;

/// The buffer of a launch. It must not be dropped while the kernel may run, since the drop frees the memory.
pub(super) struct Pinned {
    context: Context,
    host: *mut u32,
    len: usize,
    buffer: Buffer,
    /// The address by which the device knows the memory.
    pub(super) address: u64,
}

// SAFETY: the memory belongs to the value alone, and the driver allows any thread to free it.
unsafe impl Send for Pinned {}

impl Pinned {
    /// The buffer for a launch; `None` for a kernel that reports nothing.
    pub(super) fn new(entered: &Entered, image: &Image) -> Result<Option<Self>, Error> {
        let Some(buffer) = Buffer::new(image.name, image.reports) else {
            return Ok(None);
        };
        let words = buffer.words();
        let host = entered.alloc_host(size_of_val(&words[..]))?;
        let host: *mut u32 = ptr::with_exposed_provenance_mut(host as usize);
        let mut pinned = Pinned {
            context: entered.context(),
            host,
            len: words.len(),
            buffer,
            address: 0,
        };
        // SAFETY: the driver has allocated that many bytes, at an address that is a multiple of a page, and nothing else uses
        // them.
        unsafe { ptr::copy_nonoverlapping(words.as_ptr(), host, words.len()) };
        // SAFETY: the pointer is valid for the write; the memory is from cuMemHostAlloc and mapped.
        check("cuMemHostGetDevicePointer", unsafe {
            sys::cuMemHostGetDevicePointer_v2(&raw mut pinned.address, host.cast(), 0)
        })?;
        Ok(Some(pinned))
    }

    /// The text that the kernel printed. The kernel must have ended, normally or by a fault.
    pub(super) fn text(&self) -> String {
        self.buffer.text(&self.words())
    }

    /// The first assertion that failed.
    pub(super) fn failure(&self) -> Option<Error> {
        self.buffer.failure(&self.words())
    }

    fn words(&self) -> Vec<u32> {
        let word = |index| {
            // SAFETY: the memory has `len` words, all initialised, and is freed only by the drop. The read is volatile, so a
            // late write of the device after a fault is harmless.
            unsafe { self.host.add(index).read_volatile() }
        };
        (0..self.len).map(word).collect()
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if let Ok(entered) = self.context.enter() {
            // After a fault of the device, the driver keeps the memory until the process ends.
            // SAFETY: the memory is from `alloc_host` and is freed once. The kernel that writes to it has ended.
            unsafe { entered.free_host(self.host.expose_provenance() as u64) };
        }
    }
}
