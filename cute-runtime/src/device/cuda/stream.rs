//! Streams of the driver.

use std::ptr;

use super::context::Entered;
use super::driver::check;
use super::sys::{self, CUcontext, CUstream, CUstreamCaptureStatus};
use crate::Error;

/// The driver's number of the default stream of the calling thread, `CU_STREAM_PER_THREAD`.
pub(super) const PER_THREAD: u64 = 2;

/// A stream as the driver takes it. Those of the driver itself are small numbers.
pub(super) fn handle(stream: u64) -> CUstream {
    ptr::with_exposed_provenance_mut(stream as usize)
}

impl Entered {
    /// A stream that waits for no other, and no other for it.
    pub(super) fn create_stream(&self, priority: i32) -> Result<u64, Error> {
        let mut stream = ptr::null_mut();
        let flags = sys::CU_STREAM_NON_BLOCKING.0;
        // SAFETY: the pointer is valid for the write.
        check("cuStreamCreate", unsafe {
            sys::cuStreamCreateWithPriority(&raw mut stream, flags, priority)
        })?;
        Ok(stream.expose_provenance() as u64)
    }

    /// # Safety
    /// The stream is from `create_stream`, and the caller does not use it again.
    pub(super) unsafe fn destroy_stream(&self, stream: u64) {
        // A failure is ignored: a drop cannot return it.
        // SAFETY: the caller makes the promise. The driver does the stream's work all the same.
        let _ = unsafe { sys::cuStreamDestroy_v2(handle(stream)) };
    }

    /// The context of a stream.
    ///
    /// # Safety
    /// The stream is alive, here and below.
    pub(super) unsafe fn context_of(&self, stream: u64) -> Result<CUcontext, Error> {
        let mut context = ptr::null_mut();
        // SAFETY: the pointer is valid for the write, and the stream is alive.
        check("cuStreamGetCtx", unsafe {
            sys::cuStreamGetCtx(handle(stream), &raw mut context)
        })?;
        Ok(context)
    }

    /// # Safety
    /// As above.
    pub(super) unsafe fn is_capturing(&self, stream: u64) -> Result<bool, Error> {
        let mut status = CUstreamCaptureStatus(0);
        // SAFETY: the pointer is valid for the write, and the stream is alive.
        check("cuStreamIsCapturing", unsafe {
            sys::cuStreamIsCapturing(handle(stream), &raw mut status)
        })?;
        Ok(status != sys::CU_STREAM_CAPTURE_STATUS_NONE)
    }

    /// Waits until the work of the stream has ended.
    ///
    /// # Safety
    /// As above.
    pub(super) unsafe fn finish(&self, stream: u64) -> Result<(), Error> {
        // SAFETY: the stream is alive.
        check("cuStreamSynchronize", unsafe {
            sys::cuStreamSynchronize(handle(stream))
        })?;
        Ok(())
    }
}
