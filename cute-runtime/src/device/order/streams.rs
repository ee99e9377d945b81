//! What the order of work needs of a device: streams, events, and the end of memory.

use std::time::Duration;

use crate::Error;

/// Streams and events of a device, by numbers.
pub(crate) trait Streams: Send + Sync {
    /// Called when the last handle of a stream is dropped: see [`Order::close`](super::Order::close).
    fn close(&self, queue: u64) -> bool;
    /// A new stream.
    fn create_stream(&self, priority: i32) -> Result<u64, Error>;
    /// The default stream of a thread. The device may have one number for the streams of all threads.
    fn stream_of_thread(&self, thread: u64) -> u64;
    /// Refuses a stream that is not one of the device's context.
    ///
    /// # Safety
    /// The stream is alive.
    unsafe fn check_stream(&self, stream: u64) -> Result<(), Error>;
    /// Destroys a stream. Its work is done all the same.
    ///
    /// # Safety
    /// `create_stream` returned it, and the caller does not use it again.
    unsafe fn destroy_stream(&self, stream: u64);
    /// Whether others capture the stream into a graph.
    ///
    /// # Safety
    /// The stream is alive, here and below.
    unsafe fn is_capturing(&self, stream: u64) -> Result<bool, Error>;
    /// Waits until the work of the stream has ended.
    ///
    /// # Safety
    /// As above.
    unsafe fn finish(&self, stream: u64) -> Result<(), Error>;

    /// A new event, not yet recorded. Only a timed one has a time.
    fn create_event(&self, is_timed: bool) -> Result<u64, Error>;
    /// # Safety
    /// `create_event` returned it, and the caller does not use it again.
    unsafe fn destroy_event(&self, event: u64);
    /// Makes the event a point behind the work of the stream.
    ///
    /// # Safety
    /// The event and the stream are alive, here and below.
    unsafe fn record(&self, event: u64, stream: u64) -> Result<(), Error>;
    /// Later work of the stream begins when the event is reached.
    ///
    /// # Safety
    /// As above.
    unsafe fn wait(&self, stream: u64, event: u64) -> Result<(), Error>;
    /// # Safety
    /// As above.
    unsafe fn is_reached(&self, event: u64) -> Result<bool, Error>;
    /// Whether the host may take it for reached, without a wait that a program does not make.
    ///
    /// # Safety
    /// As above.
    unsafe fn is_known_to_be_reached(&self, event: u64) -> bool {
        // SAFETY: the caller makes the promise that the call demands.
        unsafe { self.is_reached(event) }.unwrap_or(false)
    }
    /// Waits until the event is reached.
    ///
    /// # Safety
    /// As above.
    unsafe fn finish_event(&self, event: u64) -> Result<(), Error>;
    /// The device time from one event to another.
    ///
    /// # Safety
    /// As above, and both are timed and reached.
    unsafe fn elapsed(&self, start: u64, end: u64) -> Result<Duration, Error>;

    /// Frees memory behind the work of the stream.
    ///
    /// # Safety
    /// `alloc` returned the address, the caller does not use or free it again, and no work of other streams uses it later than the
    /// stream's work so far.
    unsafe fn free(&self, stream: u64, address: u64) -> Result<(), Error>;
    /// Called when memory was freed.
    fn freed(&self, address: u64);
    /// # Safety
    /// `alloc_host` returned the address for so many bytes, nothing uses it any more, and it is freed once.
    unsafe fn free_host(&self, address: u64, bytes: usize);
}
