//! Device memory.
//!
//! Copies, clears and launches all go to the default stream of the one context, one after the other: what a call reads or
//! writes on the device, it reads or writes after everything that was started before it.

use cudarc::driver::sys;

use super::context::Entered;
use super::driver::check;
use crate::Error;

impl Entered {
    /// Memory that is not initialised.
    pub(super) fn alloc(&self, bytes: usize) -> Result<u64, Error> {
        let mut address = 0;
        // SAFETY: the pointer is valid for the write.
        check("cuMemAlloc", unsafe {
            sys::cuMemAlloc_v2(&raw mut address, bytes)
        })?;
        Ok(address)
    }

    /// Frees what `alloc` returned, once everything that was started has finished.
    ///
    /// Launches return before their kernels end, and the driver's documentation promises of `cuMemFree` no wait for them,
    /// nor of `cuMemFreeAsync` that it takes memory from `cuMemAlloc`. So the wait is a call of its own. It is for the whole
    /// context, since addresses are handed out for other libraries' calls on other streams. Where the wait fails, a kernel
    /// may still run: the memory is leaked, not freed under it.
    ///
    /// # Safety
    /// The address is from `alloc`, and is not used or freed again.
    pub(super) unsafe fn free(&self, address: u64) {
        if self.synchronize().is_ok() {
            // A failure here is an earlier launch's, which the next call reports as well.
            // SAFETY: the address is from `alloc` and freed once, as the caller promises, and nothing runs that uses it.
            let _ = unsafe { sys::cuMemFree_v2(address) };
        }
    }

    /// Sets bytes to zero. The call returns before they are.
    ///
    /// # Safety
    /// They lie in memory from `alloc` that the caller has to itself.
    pub(super) unsafe fn clear(&self, address: u64, bytes: usize) -> Result<(), Error> {
        // SAFETY: the range is memory, as the caller promises. Later calls come after it on the stream, and so does
        // `free`, which waits.
        check("cuMemsetD8", unsafe {
            sys::cuMemsetD8_v2(address, 0, bytes)
        })?;
        Ok(())
    }

    /// Copies to the device. The bytes may still be on their way from the driver's staging memory when this returns.
    ///
    /// # Safety
    /// The destination lies in memory from `alloc` that the caller has to itself.
    pub(super) unsafe fn write(&self, address: u64, bytes: &[u8]) -> Result<(), Error> {
        // SAFETY: the destination is memory, as the caller promises, and what comes later on the stream finds it written. The source is a slice that the driver has read to its end when the call returns: it was staged if it is
        // pageable, and copied if it is pinned.
        check("cuMemcpyHtoD", unsafe {
            sys::cuMemcpyHtoD_v2(address, bytes.as_ptr().cast(), bytes.len())
        })?;
        Ok(())
    }

    /// Copies from the device, after everything that was started before has finished.
    ///
    /// # Safety
    /// The source lies in memory from `alloc` that is initialised.
    pub(super) unsafe fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Error> {
        // SAFETY: the source is memory, as the caller promises. The destination is a slice of plain bytes; copies to
        // the host return only once they are complete, whether it is pageable or pinned.
        check("cuMemcpyDtoH", unsafe {
            sys::cuMemcpyDtoH_v2(bytes.as_mut_ptr().cast(), address, bytes.len())
        })?;
        Ok(())
    }
}
