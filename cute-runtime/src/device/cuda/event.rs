//! Events: the device time between two points of the default stream.

use std::ptr;
use std::time::Duration;

use super::context::{Context, Entered};
use super::driver::check;
use super::sys::{self, CUevent};
use crate::Error;
use crate::device::backend::Timer;

/// Measures the device time from its creation to `stop`, on the default stream.
pub(super) struct Stopwatch {
    start: Event,
}

impl Stopwatch {
    pub(super) fn start(entered: &Entered) -> Result<Self, Error> {
        Ok(Stopwatch {
            start: Event::record(entered)?,
        })
    }
}

impl Timer for Stopwatch {
    fn stop(self: Box<Self>) -> Result<Duration, Error> {
        let entered = self.start.context.enter()?;
        Event::record(&entered)?.since(&entered, &self.start)
    }
}

/// A point of the default stream of a context: it is reached once all earlier work of the stream has finished.
struct Event {
    context: Context,
    event: CUevent,
}

impl Event {
    fn record(entered: &Entered) -> Result<Self, Error> {
        let mut event = ptr::null_mut();
        // SAFETY: the pointer is valid for the write. Flags 0 make an event that records the time.
        check("cuEventCreate", unsafe {
            sys::cuEventCreate(&raw mut event, 0)
        })?;
        let event = Event {
            context: entered.context(),
            event,
        };
        // SAFETY: the event is alive; a null stream is the default stream.
        check("cuEventRecord", unsafe {
            sys::cuEventRecord(event.event, ptr::null_mut())
        })?;
        Ok(event)
    }

    /// Waits until this event is reached, and returns the device time since the earlier event `start`.
    fn since(&self, _entered: &Entered, start: &Event) -> Result<Duration, Error> {
        // SAFETY: the event is alive.
        check("cuEventSynchronize", unsafe {
            sys::cuEventSynchronize(self.event)
        })?;
        let mut milliseconds = 0.0;
        // SAFETY: both events are alive and have been recorded; the pointer is valid for the write.
        let answer =
            unsafe { sys::cuEventElapsedTime_v2(&raw mut milliseconds, start.event, self.event) };
        check("cuEventElapsedTime", answer)?;
        Ok(Duration::from_secs_f64(
            f64::from(milliseconds).max(0.0) / 1e3,
        ))
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if let Ok(_entered) = self.context.enter() {
            // SAFETY: the event is from cuEventCreate and is destroyed once. If it has not been reached yet, the driver frees
            // its resources only when it is.
            let _ = unsafe { sys::cuEventDestroy_v2(self.event) };
        }
    }
}
