//! Events of the driver.

use std::ptr;
use std::time::Duration;

use super::context::Entered;
use super::driver::check;
use super::stream;
use super::sys::{self, CUevent, CUresult};
use crate::Error;

fn handle(event: u64) -> CUevent {
    ptr::with_exposed_provenance_mut(event as usize)
}

/// Asks the driver about an event of a stream that is not captured. If others capture a stream by this thread, the driver would refuse, and
/// end the capture, unless the thread's mode is the relaxed one (CUDA driver API, `cuThreadExchangeStreamCaptureMode`).
fn beside_a_capture(ask: impl FnOnce() -> CUresult) -> Result<CUresult, Error> {
    let mut mode = sys::CU_STREAM_CAPTURE_MODE_RELAXED;
    let mut exchange = || {
        // SAFETY: the pointer is valid for a read and a write.
        let answer = unsafe { sys::cuThreadExchangeStreamCaptureMode(&raw mut mode) };
        check("cuThreadExchangeStreamCaptureMode", answer)
    };
    exchange()?;
    let answer = ask();
    exchange()?;
    Ok(answer)
}

impl Entered {
    pub(super) fn create_event(&self, is_timed: bool) -> Result<u64, Error> {
        let mut event = ptr::null_mut();
        let flags = match is_timed {
            true => sys::CU_EVENT_DEFAULT,
            false => sys::CU_EVENT_DISABLE_TIMING,
        };
        // SAFETY: the pointer is valid for the write.
        check("cuEventCreate", unsafe {
            sys::cuEventCreate(&raw mut event, flags.0)
        })?;
        Ok(event.expose_provenance() as u64)
    }

    /// # Safety
    /// The event is from `create_event`, and the caller does not use it again.
    pub(super) unsafe fn destroy_event(&self, event: u64) {
        // A failure is ignored: a drop cannot return it.
        // SAFETY: the caller makes the promise. If the event is not reached yet, the driver frees its resources when it is.
        let _ = unsafe { sys::cuEventDestroy_v2(handle(event)) };
    }

    /// # Safety
    /// The event and the stream are alive, here and below.
    pub(super) unsafe fn record(&self, event: u64, stream: u64) -> Result<(), Error> {
        // SAFETY: both are alive.
        check("cuEventRecord", unsafe {
            sys::cuEventRecord(handle(event), stream::handle(stream))
        })?;
        Ok(())
    }

    /// # Safety
    /// As above.
    pub(super) unsafe fn wait(&self, stream: u64, event: u64) -> Result<(), Error> {
        // SAFETY: both are alive.
        check("cuStreamWaitEvent", unsafe {
            sys::cuStreamWaitEvent(stream::handle(stream), handle(event), 0)
        })?;
        Ok(())
    }

    /// # Safety
    /// As above.
    pub(super) unsafe fn is_reached(&self, event: u64) -> Result<bool, Error> {
        // SAFETY: the event is alive.
        let answer = beside_a_capture(|| unsafe { sys::cuEventQuery(handle(event)) })?;
        if answer == sys::CUDA_ERROR_NOT_READY {
            return Ok(false);
        }
        check("cuEventQuery", answer)?;
        Ok(true)
    }

    /// # Safety
    /// As above.
    pub(super) unsafe fn finish_event(&self, event: u64) -> Result<(), Error> {
        // SAFETY: the event is alive.
        let answer = beside_a_capture(|| unsafe { sys::cuEventSynchronize(handle(event)) })?;
        check("cuEventSynchronize", answer)?;
        Ok(())
    }

    /// The device time from one event to another.
    ///
    /// # Safety
    /// As above. Both record the time and are reached.
    pub(super) unsafe fn elapsed(&self, start: u64, end: u64) -> Result<Duration, Error> {
        let mut milliseconds = 0.0;
        // SAFETY: both are alive and reached; the pointer is valid for the write.
        let answer = unsafe {
            sys::cuEventElapsedTime_v2(&raw mut milliseconds, handle(start), handle(end))
        };
        check("cuEventElapsedTime", answer)?;
        Ok(Duration::from_secs_f64(
            f64::from(milliseconds).max(0.0) / 1e3,
        ))
    }
}
