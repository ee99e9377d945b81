//! Streams and events.
//!
//! A device handle names a stream, and everything that takes a device runs on that stream: one convention for launches, tensors, copies,
//! plans and the workspace that they need, and no function exists twice. [`Device::on`] gives the handle.

use std::any::Any;
use std::ffi::c_void;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::device::backend::Backend;
use crate::device::order::Queue;
use crate::{Device, Error};

/// The default streams as others pass them: 0, `CU_STREAM_LEGACY` and `CU_STREAM_PER_THREAD`.
const LEGACY: u64 = 0;
const LEGACY_BY_NAME: u64 = 1;
const PER_THREAD: u64 = 2;

/// A stream of a device: work that is done in the order of the calls. Work on different streams may be done at the same time.
///
/// [`Device::on`] gives a handle of the device whose launches, copies and allocations are on the stream. A tensor may be used on every
/// stream: a launch waits, by an event and not on the host, for the work of other streams on its tensors. So no two streams race for
/// a tensor. This is a handle, whose clones name the same stream; the stream ends with its last handle, once its work is done.
///
/// ```
/// use cute_runtime::{Device, Error, Tensor, kernels};
///
/// #[kernels]
/// mod scaling {
///     #[kernel(threads = 64)]
///     pub fn double(x: Global<i32, 1>) {
///         let i = block_idx().0 * 64 + thread();
///         if i < extent(x, 0) {
///             x[i] = x[i] * 2;
///         }
///     }
/// }
///
/// let device = Device::default();
/// let (a, b) = (device.new_stream()?, device.new_stream()?);
/// let (on_a, on_b) = (device.on(&a)?, device.on(&b)?);
/// let mut x = Tensor::from_slice(&on_a, &[1; 100], [100])?;
/// scaling::double::launch(&on_a, 2, &mut x.view_mut())?;
/// // On another stream, behind the launch before, since both use `x`.
/// scaling::double::launch(&on_b, 2, &mut x.view_mut())?;
/// assert_eq!(x.download()?, [4; 100]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone)]
pub struct Stream {
    backend: Arc<dyn Backend>,
    queue: Arc<Queue>,
}

/// A point of a stream: it is reached once all work that was enqueued on the stream before has ended.
///
/// ```
/// use cute_runtime::{Device, Error};
///
/// let device = Device::default();
/// let (a, b) = (device.new_stream()?, device.new_stream()?);
/// let start = a.record_timed()?;
/// // … work on `a` …
/// let end = a.record_timed()?;
/// // Later work on `b` begins when `end` is reached. The host does not wait.
/// b.wait(&end)?;
/// println!("{:?}", end.elapsed_since(&start)?);
/// # Ok::<(), Error>(())
/// ```
pub struct Event {
    backend: Arc<dyn Backend>,
    event: u64,
    is_timed: bool,
    /// The owner of a borrowed event; `None` for one of this crate.
    owner: Option<Arc<dyn Any + Send + Sync>>,
}

impl Device {
    /// The device with this stream: what takes the handle runs on the stream.
    ///
    /// # Errors
    /// [`Error::OtherStream`] if the stream is one of another device.
    pub fn on(&self, stream: &Stream) -> Result<Device, Error> {
        check_home(self.backend(), &stream.backend, "stream")?;
        Ok(self.with_queue(stream.queue.clone()))
    }

    /// The stream of this handle: the default stream, unless [`on`](Device::on) gave the handle.
    pub fn stream(&self) -> Stream {
        Stream {
            backend: self.backend().clone(),
            queue: self.queue().clone(),
        }
    }

    /// A new stream, which waits for no other one: on a GPU, a non-blocking stream.
    ///
    /// # Errors
    /// [`Error::Driver`] if the driver makes none.
    pub fn new_stream(&self) -> Result<Stream, Error> {
        self.new_stream_with_priority(0)
    }

    /// A new stream with a priority. CTAs of a stream with a lower number start before waiting CTAs of others; 0 is the priority of other
    /// streams. The driver takes the nearest priority that the device has, such as −5 for −10 (CUDA driver API,
    /// `cuStreamCreateWithPriority`).
    ///
    /// # Errors
    /// As for [`new_stream`](Device::new_stream).
    pub fn new_stream_with_priority(&self, priority: i32) -> Result<Stream, Error> {
        let backend = self.backend().clone();
        let stream = backend.create_stream(priority)?;
        // SAFETY: the stream is new, and nobody else knows it.
        let queue = unsafe { Queue::owned(backend.clone(), stream) };
        Ok(Stream { backend, queue })
    }

    /// The default stream of the thread that uses the handle (CUDA driver API, "Stream synchronization behavior"). Each thread has its own.
    pub fn per_thread_stream(&self) -> Stream {
        let backend = self.backend().clone();
        let queue = Queue::per_thread(backend.clone());
        Stream { backend, queue }
    }
}

impl Stream {
    /// A stream that others made: a `CUstream` of the device's context. 0 and 1 are the default stream, and 2 is the default stream of the
    /// thread that uses it, as for the driver. On the emulator, each other number is a stream.
    ///
    /// `owner` is kept as long as anything names the stream. The stream is never destroyed here, nor waited for, unless a function says so.
    /// While its owner captures it into a graph, launches on it are captured. What a capture forbids is then an error: to allocate,
    /// copy from or to the host, wait, or launch a kernel that is not [compiled](Device::compile).
    ///
    /// # Safety
    /// - The stream is one of the device's context, or 0 to 2, and is not destroyed before the owner is dropped.
    /// - Who launches a graph into which launches of this crate were captured keeps their tensors, and keeps other work that uses them
    ///   from running at the same time.
    ///
    /// # Errors
    /// [`Error::OtherStream`] if the driver says that the stream is of another context.
    pub unsafe fn from_raw(
        device: &Device,
        stream: *mut c_void,
        owner: Arc<dyn Any + Send + Sync>,
    ) -> Result<Self, Error> {
        let backend = device.backend().clone();
        let stream = stream.expose_provenance() as u64;
        // The default streams have no owner, and the last one is another stream in each thread.
        match stream {
            LEGACY | LEGACY_BY_NAME => return Ok(Device::new(backend).stream()),
            PER_THREAD => return Ok(device.per_thread_stream()),
            _ => {}
        }
        // SAFETY: the caller promises that the stream is alive.
        unsafe { backend.check_stream(stream)? };
        // SAFETY: the caller makes the promise that the call demands.
        let queue = unsafe { Queue::foreign(backend.clone(), stream, owner) };
        Ok(Stream { backend, queue })
    }

    /// The stream as a `CUstream`, to pass to other libraries: 0 for the default stream, 2 for the per-thread default stream. Work that
    /// others enqueue on it is not known here: tell it by an event, or by [`synchronize`](Stream::synchronize).
    pub fn as_raw(&self) -> *mut c_void {
        self.queue.share();
        self.handle()
    }

    fn handle(&self) -> *mut c_void {
        let stream = self.queue.stream(&*self.backend);
        std::ptr::with_exposed_provenance_mut(stream as usize)
    }

    fn device(&self) -> Device {
        Device::new(self.backend.clone()).with_queue(self.queue.clone())
    }

    /// A point behind all work that is enqueued so far.
    ///
    /// # Errors
    /// If the device failed.
    pub fn record(&self) -> Result<Event, Error> {
        self.record_event(false)
    }

    /// A point behind all work that is enqueued so far, which has a time: see [`Event::elapsed_since`].
    ///
    /// # Errors
    /// If the device failed.
    pub fn record_timed(&self) -> Result<Event, Error> {
        self.record_event(true)
    }

    fn record_event(&self, is_timed: bool) -> Result<Event, Error> {
        let event = Event {
            event: self.backend.create_event(is_timed)?,
            backend: self.backend.clone(),
            is_timed,
            owner: None,
        };
        let stream = self.queue.stream(&*self.backend);
        // SAFETY: the event is new, and the stream has a handle.
        unsafe { self.backend.record(event.event, stream)? };
        Ok(event)
    }

    /// Work that is enqueued on this stream from now on begins after the event is reached. The host does not wait.
    ///
    /// # Errors
    /// [`Error::OtherStream`] if the event is one of another device.
    pub fn wait(&self, event: &Event) -> Result<(), Error> {
        check_home(&self.backend, &event.backend, "event")?;
        let stream = self.queue.stream(&*self.backend);
        // SAFETY: the stream and the event have handles.
        unsafe { self.backend.wait(stream, event.event) }
    }

    /// Waits, on the host, until all work that is enqueued so far has ended.
    ///
    /// # Errors
    /// If a kernel failed, [`Error::Capturing`] if the thread captures launches, and [`Error::StreamCaptured`] if the stream's owner
    /// captures it.
    pub fn synchronize(&self) -> Result<(), Error> {
        self.device().synchronize()
    }
}

impl Event {
    /// An event that others made and recorded: a `CUevent` of the device's context. `owner` is kept as long as the event. It is never
    /// destroyed here. On the emulator there are none.
    ///
    /// # Safety
    /// The event is one of the device's context, and is not destroyed before the owner is dropped.
    ///
    /// # Errors
    /// [`Error::NoForeignEvents`] on the emulator.
    pub unsafe fn from_raw(
        device: &Device,
        event: *mut c_void,
        owner: Arc<dyn Any + Send + Sync>,
    ) -> Result<Self, Error> {
        if device.is_emulator() {
            return Err(Error::NoForeignEvents);
        }
        Ok(Event {
            backend: device.backend().clone(),
            event: event.expose_provenance() as u64,
            is_timed: false,
            owner: Some(owner),
        })
    }

    /// The event as a `CUevent`, to pass to other libraries.
    pub fn as_raw(&self) -> *mut c_void {
        std::ptr::with_exposed_provenance_mut(self.event as usize)
    }

    /// Whether the work before it has ended. The host does not wait.
    ///
    /// # Errors
    /// If a kernel failed.
    pub fn is_reached(&self) -> Result<bool, Error> {
        // SAFETY: the event is alive.
        unsafe { self.backend.is_reached(self.event) }
    }

    /// Waits, on the host, until it is reached.
    ///
    /// # Errors
    /// If a kernel failed.
    pub fn synchronize(&self) -> Result<(), Error> {
        // SAFETY: the event is alive.
        unsafe { self.backend.finish_event(self.event) }
    }

    /// Waits, on the host, until it is reached, and returns the device time since the earlier event, to about half a microsecond. The
    /// emulator takes the clock of the host.
    ///
    /// # Errors
    /// [`Error::Untimed`] unless both are from [`Stream::record_timed`], and [`Error::OtherStream`] if they are of different devices.
    pub fn elapsed_since(&self, start: &Event) -> Result<Duration, Error> {
        check_home(&self.backend, &start.backend, "event")?;
        if !(self.is_timed && start.is_timed) {
            return Err(Error::Untimed);
        }
        self.synchronize()?;
        // SAFETY: both events are alive and timed.
        unsafe { self.backend.elapsed(start.event, self.event) }
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if self.owner.is_none() {
            // SAFETY: the event is of this value alone.
            unsafe { self.backend.destroy_event(self.event) };
        }
    }
}

/// Refuses a stream or an event of another device.
fn check_home(
    device: &Arc<dyn Backend>,
    home: &Arc<dyn Backend>,
    what: &'static str,
) -> Result<(), Error> {
    if Arc::ptr_eq(device, home) {
        return Ok(());
    }
    Err(Error::OtherStream {
        what,
        found: home.name().to_string(),
        expected: device.name().to_string(),
    })
}

impl PartialEq for Stream {
    fn eq(&self, other: &Self) -> bool {
        let [mine, others] = [self, other].map(|it| it.queue.stream(&*it.backend));
        Arc::ptr_eq(&self.backend, &other.backend) && mine == others
    }
}

impl Eq for Stream {}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stream({:?} of {})", self.handle(), self.backend.name())
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Event({:?} of {})", self.as_raw(), self.backend.name())
    }
}
