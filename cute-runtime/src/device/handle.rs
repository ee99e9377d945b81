//! Devices: a GPU through the CUDA driver, or the emulator.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use cute_chip::Chip;

use crate::Error;
use crate::device::backend::Backend;
use crate::device::capture;
#[cfg(feature = "cuda")]
use crate::device::cuda;
#[cfg(all(feature = "cuda", feature = "emulator"))]
use crate::device::logging::{Level, log};
use crate::device::order::Queue;

/// A GPU or an emulated device: it holds buffers and runs kernels. This is a handle, whose clones name the same device.
///
/// A handle also names a [stream](crate::Stream): the default stream, or the one that [`on`](Device::on) was given. What takes a device
/// runs on its stream, in the order of the calls. On a GPU, a launch returns before the kernel has finished; reading a buffer waits for
/// the work on it.
///
/// ```
/// use cute_runtime::{Device, Error, Tensor};
///
/// // The first GPU that can be used, or else the emulator; `Device::cuda(0)` is an error without a GPU.
/// let device = Device::default();
/// println!("{} with {} multiprocessors", device.name(), device.multiprocessor_count());
/// if let Some(reason) = device.fallback_reason() {
///     println!("on the emulator: {reason}");
/// }
///
/// // Tensors belong to a device, and a launch takes tensors of its own device only.
/// let x = Tensor::from_slice(&device, &[1, 2, 3], [3])?;
/// assert_eq!(x.download()?, [1, 2, 3]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone)]
pub struct Device {
    backend: Arc<dyn Backend>,
    /// The error for which `Device::default` chose the emulator; `None` for every other device.
    fallback: Option<Arc<Error>>,
    queue: Arc<Queue>,
}

impl Device {
    /// GPU number `ordinal`, from 0, of those that the CUDA driver lists. It runs kernels whose target its compute capability has:
    /// those for `sm_90a` on 9.0 only, those for `sm_80` on 8.0 and later. The compilation of another kernel is an
    /// [`Error::Capability`].
    #[cfg(feature = "cuda")]
    pub fn cuda(ordinal: usize) -> Result<Self, Error> {
        Ok(Device::new(cuda::Gpu::get(ordinal)?))
    }

    pub(super) fn new(backend: Arc<dyn Backend>) -> Self {
        Device {
            backend,
            fallback: None,
            queue: Queue::default_stream(),
        }
    }

    /// The same device with another stream.
    pub(super) fn with_queue(&self, queue: Arc<Queue>) -> Self {
        Device {
            queue,
            ..self.clone()
        }
    }

    /// Name of the device for messages, such as `NVIDIA H100 80GB HBM3`.
    pub fn name(&self) -> &str {
        self.backend.name()
    }

    /// Whether this is the emulator.
    pub fn is_emulator(&self) -> bool {
        self.backend.is_emulator()
    }

    /// The error that made [`Device::default`] choose the emulator in place of a GPU. `None` for a GPU, and for an emulator from
    /// [`Device::emulator`].
    ///
    /// ```
    /// let device = cute_runtime::Device::default();
    /// if let Some(reason) = device.fallback_reason() {
    ///     println!("on the emulator: {reason}");
    /// }
    /// assert_eq!(device.is_emulator(), device.fallback_reason().is_some());
    /// ```
    pub fn fallback_reason(&self) -> Option<&Error> {
        self.fallback.as_deref()
    }

    /// Number of streaming multiprocessors. A persistent kernel is launched with about one CTA on each; one in clusters, with
    /// [`max_active_clusters`](Device::max_active_clusters).
    pub fn multiprocessor_count(&self) -> u32 {
        self.backend.multiprocessor_count()
    }

    /// How many clusters of `ctas` CTAs run at the same time, where each CTA has a multiprocessor for itself, since it uses all of
    /// the shared memory. A persistent kernel is launched with so many clusters: one more would start only when another has ended,
    /// so that the kernel would take twice as long.
    ///
    /// The CTAs of a cluster are in one GPC, which is a group of multiprocessors. How many multiprocessors a GPC has differs within
    /// a GPU and between GPUs of one model, and some are left over. Of the 132 multiprocessors of one H200, 66 clusters of 2 CTAs
    /// run at the same time, 30 of 4 and not 33, and 15 of 8 and not 16.
    ///
    /// A GPU's driver is asked once for each number of CTAs from 2 on (`cuOccupancyMaxActiveClusters`, CUDA driver API,
    /// "Occupancy"), so that every launch may call this method. The emulator has as many clusters as its multiprocessors hold, at
    /// least 1.
    ///
    /// ```
    /// use cute_runtime::{Device, Error};
    ///
    /// let device = Device::default();
    /// assert_eq!(device.max_active_clusters(1)?, device.multiprocessor_count());
    /// // The grid of a persistent kernel in clusters of 4 CTAs.
    /// let grid = 4 * device.max_active_clusters(4)?;
    /// assert!(grid <= device.multiprocessor_count());
    /// assert_eq!(device.max_active_clusters(9).unwrap_err().to_string(), "a cluster has 1 to 8 CTAs, not 9");
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::ClusterSize`] unless a cluster has 1 to 8 CTAs, which every GPU can place. [`Error::Driver`] if the driver does not
    /// answer, and [`Error::Jit`] if it does not compile the kernel about which it is asked, which does nothing.
    /// [`Error::Capability`] if the GPU does not run that kernel, which is for `sm_90a`.
    pub fn max_active_clusters(&self, ctas: u32) -> Result<u32, Error> {
        let limit = Chip::DEFAULT.cluster_ctas;
        match ctas {
            1 => Ok(self.multiprocessor_count()),
            _ if (2..=limit).contains(&ctas) => self.backend.max_active_clusters(ctas),
            _ => Err(Error::ClusterSize { ctas, limit }),
        }
    }

    /// Peak bandwidth of the memory in bytes per second, by its clock and its width: 3.35e12 on an H100, 4.9e12 on an H200.
    /// Kernels reach a little more than nine tenths of it. The emulator has the bandwidth of an H100.
    pub fn memory_bandwidth(&self) -> f64 {
        self.backend.memory_bandwidth()
    }

    /// Waits until everything on the handle's stream has finished. Other streams are not waited for.
    ///
    /// # Errors
    /// If a kernel failed: launches on a GPU return before that is known. [`Error::Capturing`] if the thread captures launches, and
    /// [`Error::StreamCaptured`] if the stream's owner captures it.
    pub fn synchronize(&self) -> Result<(), Error> {
        self.uncaptured("to wait for the stream")?;
        self.finish()
    }

    /// Runs a closure and returns the device time of the work that it launched on the handle's stream. A GPU measures the time with CUDA events, the
    /// emulator with the clock of the host.
    pub fn time<E: From<Error>>(
        &self,
        work: impl FnOnce() -> Result<(), E>,
    ) -> Result<Duration, E> {
        self.uncaptured("to take the time")?;
        let stream = self.stream();
        let start = stream.record_timed()?;
        work()?;
        let elapsed = stream
            .record_timed()
            .and_then(|end| end.elapsed_since(&start));
        // An assertion that failed meanwhile explains more than the error of the event.
        let time = elapsed.map_err(|error| match self.synchronize() {
            Err(failure @ Error::Assertion(_)) => failure,
            _ => error,
        });
        Ok(time?)
    }

    /// Hands the text that kernels print on this device to `receiver`, in place of the standard output. A launch's text comes
    /// in one piece: on the emulator before the launch returns, on a GPU when the host waits for the launch, in
    /// [`synchronize`](Device::synchronize) or by reading a buffer.
    ///
    /// The receiver may use the device, also launch kernels that print, and set another receiver. Text that any thread's kernels
    /// print while it runs is given to it after it returns.
    ///
    /// ```
    /// use cute_runtime::{Device, kernels};
    /// use std::sync::mpsc;
    ///
    /// #[kernels]
    /// mod greeting {
    ///     #[kernel(threads = 32)]
    ///     pub fn greet(n: u32) {
    ///         if thread() < n {
    ///             println!("thread {} of {n}", thread());
    ///         }
    ///     }
    /// }
    ///
    /// let device = Device::emulator();
    /// let (sender, texts) = mpsc::channel();
    /// device.print_to(move |text| _ = sender.send(text.to_string()));
    /// greeting::greet::launch(&device, 1, 2)?;
    /// assert_eq!(texts.recv().unwrap(), "thread 0 of 2\nthread 1 of 2\n");
    /// # Ok::<(), cute_runtime::Error>(())
    /// ```
    pub fn print_to(&self, receiver: impl FnMut(&str) + Send + 'static) {
        self.backend.output().set(Box::new(receiver));
    }

    pub(crate) fn backend(&self) -> &Arc<dyn Backend> {
        &self.backend
    }

    /// Whether others capture the handle's stream into a graph: launches are captured, and run whenever the graph does. Only a stream that
    /// others know can be: one of [`Stream::from_raw`](crate::Stream::from_raw), the per-thread default stream, or one that
    /// [`Stream::as_raw`](crate::Stream::as_raw) has shown.
    ///
    /// It is for libraries that keep memory from one launch to the next, as [`capture_id`](Device::capture_id) is.
    ///
    /// # Errors
    /// If the device failed.
    pub fn is_captured(&self) -> Result<bool, Error> {
        self.queue.is_captured(&*self.backend)
    }

    pub(crate) fn queue(&self) -> &Arc<Queue> {
        &self.queue
    }

    /// Waits for the handle's stream.
    pub(crate) fn finish(&self) -> Result<(), Error> {
        let stream = self.queue.stream(&*self.backend);
        // SAFETY: the stream has a handle.
        unsafe { self.backend.finish(stream) }
    }

    /// Refuses what a capture forbids, such as `to copy to the host`.
    pub(crate) fn uncaptured(&self, what: &'static str) -> Result<(), Error> {
        match capture::id(&self.backend) {
            Some(_) => Err(Error::Capturing),
            None => self.check_stream(what),
        }
    }

    /// Refuses what is forbidden while others capture the stream.
    pub(crate) fn check_stream(&self, what: &'static str) -> Result<(), Error> {
        match self.queue.is_captured(&*self.backend)? {
            true => Err(Error::StreamCaptured { what }),
            false => Ok(()),
        }
    }
}

#[cfg(feature = "emulator")]
impl Default for Device {
    /// The first GPU in the driver's order that runs `sm_90a` code. Without one, a new emulated device at each call.
    ///
    /// The emulator is chosen if there is no driver ([`Error::NoDriver`]), if the driver lacks a function that this crate
    /// calls ([`Error::DriverSymbol`]) or does not start ([`Error::Driver`]), and if it has no device of compute capability
    /// 9.0 that can be opened ([`Error::NoUsableDevice`]). [`Device::fallback_reason`] returns that error. The first such
    /// error of a process is also logged through the `log` crate: as information if there is no driver, and as a warning
    /// if there is one that cannot be used.
    ///
    /// Each call asks the driver anew. [`Device::cuda`] returns an error in place of the emulator, and
    /// [`Device::emulator`] never asks the driver.
    ///
    /// Without the feature `cuda`, this is [`Device::emulator`].
    fn default() -> Self {
        #[cfg(feature = "cuda")]
        let fallback = match cuda::Gpu::first() {
            Ok(gpu) => return Device::new(gpu),
            Err(reason) => {
                log_once(&reason);
                Some(Arc::new(reason))
            }
        };
        #[cfg(not(feature = "cuda"))]
        let fallback = None;
        Device {
            fallback,
            ..Device::emulator()
        }
    }
}

/// Logs the first fallback of the process. A machine without a driver has no GPU on purpose, so that is only information; on a
/// machine with a driver, a GPU was expected, so that is a warning.
#[cfg(all(feature = "cuda", feature = "emulator"))]
fn log_once(reason: &Error) {
    use std::sync::atomic::{AtomicBool, Ordering};

    static LOGGED: AtomicBool = AtomicBool::new(false);
    if LOGGED.swap(true, Ordering::Relaxed) {
        return;
    }
    let level = match reason {
        Error::NoDriver => Level::Info,
        _ => Level::Warn,
    };
    let line = format_args!("the default device is the emulator: {reason}");
    log(level, "cute_runtime::device", line);
}

impl PartialEq for Device {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.backend, &other.backend)
    }
}

impl Eq for Device {}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Device({})", self.name())
    }
}
