//! Devices: a GPU through the CUDA driver, or the emulator.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::backend::Backend;
use crate::lock::lock;
use crate::{Counts, EmulatorOptions, Error, Trace, cuda, emulator};

/// A GPU or an emulated device: it holds buffers and runs kernels. This is a handle, whose clones name the same device.
///
/// A device does its work in the order of the calls. On a GPU, a launch returns before the kernel has finished; reading or
/// dropping a buffer waits for everything launched before.
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
}

impl Device {
    /// GPU number `ordinal`, from 0, of those that the CUDA driver lists. Its compute capability must be 9.0.
    pub fn cuda(ordinal: usize) -> Result<Self, Error> {
        Ok(Device::new(cuda::Gpu::get(ordinal)?))
    }

    /// A new emulated device on the CPU, with its own memory.
    pub fn emulator() -> Self {
        Device::emulator_with(EmulatorOptions::default())
    }

    /// A new emulated device whose schedule is chosen by `seed`: [`EmulatorOptions::from_seed`]. A correct kernel gives the
    /// same results under every seed; a kernel that does not wait where it must may not.
    pub fn emulator_with_seed(seed: u64) -> Self {
        Device::emulator_with(EmulatorOptions::from_seed(seed))
    }

    /// A new emulated device with these options.
    pub fn emulator_with(options: EmulatorOptions) -> Self {
        Device::new(Arc::new(emulator::Emulator::new(options, None)))
    }

    /// A new emulated device that runs, in place of each kernel's PTX, what `rewrite` makes of it: a test that breaks a kernel
    /// on purpose sees whether anything notices.
    ///
    /// ```
    /// use cute_runtime::{Device, EmulatorOptions, Error, Tensor, kernels};
    ///
    /// #[kernels]
    /// mod reversal {
    ///     #[kernel(threads = 64)]
    ///     pub fn reverse(#[facts(extent(x, 0) >= 64)] x: Global<u32, 1>) {
    ///         let kept = smem::<u32>(64);
    ///         kept[thread()] = x[thread()];
    ///         sync_threads();
    ///         x[thread()] = kept[63 - thread()];
    ///     }
    /// }
    ///
    /// let unsynchronised = |ptx: &str| ptx.replace("bar.sync 0;", "");
    /// let device = Device::emulator_rewriting(EmulatorOptions::default(), unsynchronised);
    /// let mut x = Tensor::<u32, 1>::zeros(&device, [64])?;
    /// let error = reversal::reverse::launch(&device, 1, &mut x.view_mut()).unwrap_err();
    /// assert!(error.to_string().contains("kept: u32 at 64:1"), "{error}");
    /// # Ok::<(), Error>(())
    /// ```
    pub fn emulator_rewriting(
        options: EmulatorOptions,
        rewrite: impl Fn(&str) -> String + Send + Sync + 'static,
    ) -> Self {
        let emulator = emulator::Emulator::new(options, Some(Box::new(rewrite)));
        Device::new(Arc::new(emulator))
    }

    fn new(backend: Arc<dyn Backend>) -> Self {
        Device {
            backend,
            fallback: None,
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

    /// The error because of which [`Device::default`] chose the emulator in place of a GPU. `None` for a GPU, and for an
    /// emulator from [`Device::emulator`].
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

    /// Number of streaming multiprocessors. A persistent kernel is launched with about one CTA on each.
    pub fn multiprocessor_count(&self) -> u32 {
        self.backend.multiprocessor_count()
    }

    /// Waits until everything launched has finished.
    ///
    /// # Errors
    /// If a kernel failed: launches on a GPU return before that is known.
    pub fn synchronize(&self) -> Result<(), Error> {
        self.backend.synchronize()
    }

    /// Runs a closure and returns the time that the device took for the work that it launched. A GPU measures it with CUDA
    /// events, the emulator with the clock of the host.
    pub fn time<E: From<Error>>(
        &self,
        work: impl FnOnce() -> Result<(), E>,
    ) -> Result<Duration, E> {
        let timer = self.backend.timer()?;
        work()?;
        // An assertion that failed meanwhile explains more than the error of the timer.
        let time = timer.stop().map_err(|error| match self.synchronize() {
            Err(failure @ Error::Assertion(_)) => failure,
            _ => error,
        });
        Ok(time?)
    }

    /// Hands the text that kernels print on this device to `receiver`, in place of the standard output. A launch's text comes
    /// in one piece: on the emulator before the launch returns, on a GPU when the host waits for the launch, in
    /// [`synchronize`](Device::synchronize) or by reading a buffer.
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

    /// What the launches on this emulator executed, moved and waited for since it was made or this was last called, those that
    /// failed included. `None` on a GPU.
    ///
    /// ```
    /// use cute_runtime::{Class, Device, Error, Tensor, kernels};
    ///
    /// #[kernels]
    /// mod columns {
    ///     /// Each lane reads a row of its own, 128 bytes after that of the lane before.
    ///     #[kernel(threads = 32)]
    ///     pub fn sum_of_rows(#[facts(extent(sums, 0) == 32)] sums: Global<f32, 1>) {
    ///         let tile = smem::<f32>(layout!((32,32):(32,1)));
    ///         for j in 0..32 {
    ///             tile[(j, thread())] = 1.0;
    ///         }
    ///         sync_threads();
    ///         let mut sum = 0.0;
    ///         for j in 0..32 {
    ///             sum += tile[(thread(), j)];
    ///         }
    ///         sums[thread()] = sum;
    ///     }
    /// }
    ///
    /// let device = Device::emulator();
    /// let mut sums = Tensor::<f32, 1>::zeros(&device, [32])?;
    /// columns::sum_of_rows::launch(&device, 1, &mut sums.view_mut())?;
    /// let counts = device.take_counts().unwrap();
    /// // Each of the 32 loads finds its 32 words in one bank; the stores and the barrier cost nothing in addition.
    /// assert_eq!(counts.shared.bank_conflicts, 32 * 31);
    /// assert_eq!((counts.global.written, counts.global.sectors), (128, 4));
    /// assert_eq!(counts.instructions[Class::Memory], 32 + 32 + 1 + 1);
    /// println!("{counts}");
    /// # Ok::<(), Error>(())
    /// ```
    pub fn take_counts(&self) -> Option<Counts> {
        let observed = self.backend.observed()?;
        Some(std::mem::take(&mut lock(observed).counts))
    }

    /// What the launches on this emulator did when, since it was made or this was last called: `Display` of it is for
    /// <https://ui.perfetto.dev>. `None` unless [`EmulatorOptions::trace`] is set.
    ///
    /// ```
    /// use cute_runtime::{Device, EmulatorOptions, Error, kernels};
    ///
    /// #[kernels]
    /// mod meeting {
    ///     #[kernel(threads = 64)]
    ///     pub fn meet() {
    ///         sync_threads();
    ///     }
    /// }
    ///
    /// let device = Device::emulator_with(EmulatorOptions { trace: true, ..EmulatorOptions::default() });
    /// meeting::meet::launch(&device, 1)?;
    /// let json = device.take_trace().unwrap().to_string();
    /// assert!(json.contains("waits: barrier 0"));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn take_trace(&self) -> Option<Trace> {
        let observed = self.backend.observed()?;
        lock(observed).trace.as_mut().map(std::mem::take)
    }

    pub(crate) fn backend(&self) -> &dyn Backend {
        &*self.backend
    }
}

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
    fn default() -> Self {
        let reason = match cuda::Gpu::first() {
            Ok(gpu) => return Device::new(gpu),
            Err(reason) => reason,
        };
        log_once(&reason);
        Device {
            fallback: Some(Arc::new(reason)),
            ..Device::emulator()
        }
    }
}

/// Logs the first fallback of the process. A machine without a driver has no GPU on purpose, so that is only information; on a
/// machine with a driver, a GPU was expected, so that is a warning.
fn log_once(reason: &Error) {
    static LOGGED: AtomicBool = AtomicBool::new(false);
    if LOGGED.swap(true, Ordering::Relaxed) {
        return;
    }
    let level = match reason {
        Error::NoDriver => log::Level::Info,
        _ => log::Level::Warn,
    };
    log::log!(level, "the default device is the emulator: {reason}");
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
