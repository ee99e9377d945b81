//! Device memory.
//!
//! Copies, clears and launches all go to the default stream of the device's one context, which does them in order: each call
//! reads and writes the device's memory after everything that was started before it.
//!
//! Freeing device memory waits for the device, by a call of its own: launches return before their kernels end, and the driver does not
//! document that `cuMemFree` waits. If the wait fails, the memory is freed at the next drop.

use super::context::Entered;
use super::driver::check;
use super::sys;
use crate::Error;

impl Entered {
    /// Allocates memory, which is not initialised.
    pub(super) fn alloc(&self, bytes: usize) -> Result<u64, Error> {
        let mut address = 0;
        // SAFETY: the pointer is valid for the write.
        check("cuMemAlloc", unsafe {
            sys::cuMemAlloc_v2(&raw mut address, bytes)
        })?;
        Ok(address)
    }

    /// Frees memory from `alloc`, after a wait for everything that was started.
    ///
    /// Launches return before their kernels end. The driver's documentation does not promise that `cuMemFree` waits for
    /// them, nor that `cuMemFreeAsync` accepts memory from `cuMemAlloc`, so the caller waits by a call of its own. It waits
    /// for the whole context, because other libraries may use the address on other streams. If the wait fails, a kernel may
    /// still be running, and the memory is leaked.
    ///
    /// # Safety
    /// The address is from `alloc`, and the caller does not use or free it again. Nothing that could use it is running.
    pub(super) unsafe fn free(&self, address: u64) {
        // A failure is ignored: it comes from an earlier launch, and the next call reports it too.
        // SAFETY: the address is from `alloc` and is freed once, as the caller promises. No kernel or copy that could use it
        // is running.
        let _ = unsafe { sys::cuMemFree_v2(address) };
    }

    /// Sets bytes to zero. It may return before they are.
    ///
    /// # Safety
    /// The range lies in memory from `alloc` that is not freed, and no other code on the host uses it during the call.
    pub(super) unsafe fn clear(&self, address: u64, bytes: usize) -> Result<(), Error> {
        // SAFETY: the range is allocated, as the caller promises. Later calls work on the same stream, so they find the bytes
        // cleared, and `free` waits for it.
        check("cuMemsetD8", unsafe {
            sys::cuMemsetD8_v2(address, 0, bytes)
        })?;
        Ok(())
    }

    /// Copies to the device. It may return while the driver still copies the bytes from its own staging memory.
    ///
    /// # Safety
    /// As for `clear`.
    pub(super) unsafe fn write(&self, address: u64, bytes: &[u8]) -> Result<(), Error> {
        // SAFETY: the destination is allocated, as the caller promises. Later calls work on the same stream, so they find it
        // written, and `free` waits for it. The source is a slice, valid during the call, and the driver does not read it
        // afterwards: when the call returns, pageable memory has been staged and pinned memory has been copied.
        check("cuMemcpyHtoD", unsafe {
            sys::cuMemcpyHtoD_v2(address, bytes.as_ptr().cast(), bytes.len())
        })?;
        Ok(())
    }

    /// Copies from the device, after everything that was started before has finished.
    ///
    /// # Safety
    /// The source lies in memory from `alloc` that is initialised and not freed.
    pub(super) unsafe fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Error> {
        // SAFETY: the source is allocated and initialised, as the caller promises. The destination is a slice of bytes that
        // is borrowed mutably during the call, and a copy to the host returns only once it is complete, for pageable and for
        // pinned memory.
        check("cuMemcpyDtoH", unsafe {
            sys::cuMemcpyDtoH_v2(bytes.as_mut_ptr().cast(), address, bytes.len())
        })?;
        Ok(())
    }
}
