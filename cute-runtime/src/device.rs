//! Devices: a GPU behind the CUDA driver, or the emulator, behind one interface.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::backend::Backend;
use crate::{Error, cuda, emulator};

/// Where buffers live and kernels run. A handle: clones name the same device.
///
/// Work on a device happens in order. On a GPU, launches return at once, and reading or dropping a buffer waits for them.
#[derive(Clone)]
pub struct Device {
    backend: Arc<dyn Backend>,
    /// Why this is the emulator, where a GPU was asked for first.
    fallback: Option<Arc<Error>>,
}

impl Device {
    /// The `ordinal`-th GPU that the CUDA driver lists. It must be of compute capability 9.0.
    pub fn cuda(ordinal: usize) -> Result<Self, Error> {
        Ok(Device::new(cuda::Gpu::get(ordinal)?))
    }

    /// An emulated device on the CPU, with memory of its own.
    pub fn emulator() -> Self {
        Device::emulator_with_seed(0)
    }

    /// An emulated device whose asynchronous work is scheduled in another order, which a correct kernel does not notice.
    pub fn emulator_with_seed(seed: u64) -> Self {
        Device::new(Arc::new(emulator::Emulator::new(seed)))
    }

    fn new(backend: Arc<dyn Backend>) -> Self {
        Device {
            backend,
            fallback: None,
        }
    }

    /// Name of the device, for people.
    pub fn name(&self) -> &str {
        self.backend.name()
    }

    /// Whether this is the emulator.
    pub fn is_emulator(&self) -> bool {
        self.backend.is_emulator()
    }

    /// Why [`Device::default`] made this the emulator in place of a GPU: the error that kept it from one. `None` for a GPU,
    /// and for an emulator that was asked for by name.
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

    /// Number of streaming multiprocessors: what a persistent kernel's grid is made from.
    pub fn multiprocessor_count(&self) -> u32 {
        self.backend.multiprocessor_count()
    }

    /// Waits until everything launched has finished, and reports what went wrong in it.
    pub fn synchronize(&self) -> Result<(), Error> {
        self.backend.synchronize()
    }

    /// How long the device takes for what the closure launches: by CUDA events on a GPU, by the clock on the emulator.
    pub fn time<E: From<Error>>(
        &self,
        work: impl FnOnce() -> Result<(), E>,
    ) -> Result<Duration, E> {
        let timer = self.backend.timer()?;
        work()?;
        Ok(timer.stop()?)
    }

    pub(crate) fn backend(&self) -> &dyn Backend {
        &*self.backend
    }
}

impl Default for Device {
    /// The first GPU in the driver's order that runs `sm_90a` code, else an emulator of its own for each call.
    ///
    /// The emulator is chosen where there is no driver ([`Error::NoDriver`]), where the driver lacks a function that is
    /// needed here ([`Error::DriverSymbol`]) or does not start ([`Error::Driver`]), and where none of its devices is of
    /// compute capability 9.0 or can be opened ([`Error::NoUsableDevice`]). [`Device::fallback_reason`] returns that error.
    /// The first time in a process it is also logged through the `log` crate: as information where there is no driver,
    /// and as a warning where there is one that cannot be used.
    ///
    /// Each call asks the driver anew. [`Device::cuda`] insists on a GPU, and [`Device::emulator`] on the emulator.
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

/// A machine without a driver is meant to have no GPU; one with a driver is meant to have one.
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
