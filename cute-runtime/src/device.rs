//! Devices: a GPU behind the CUDA driver, or the emulator, behind one interface.

use std::any::TypeId;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::launch::image;
use crate::tensor_map::TensorMap;
use crate::{Buffer, Element, Error, Grid, Kernel, cuda, emulator};

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

    /// A buffer with a copy of the elements.
    pub fn upload<T: Element>(&self, data: &[T]) -> Result<Buffer<T>, Error> {
        Buffer::upload(self, data)
    }

    /// A buffer of zeros.
    pub fn zeros<T: Element>(&self, len: usize) -> Result<Buffer<T>, Error> {
        Buffer::zeros(self, len)
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

    /// Compiles a kernel for this device, as its first launch does, and says what came out.
    pub fn compile<K: Kernel>(&self) -> Result<Compiled, Error> {
        self.backend.compile(&image::<K>()?)
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

/// What the device's compiler says of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Compiled {
    /// The compiler's log. Empty where the driver took the code from its cache, and on the emulator.
    pub log: String,
    /// Registers of a thread at entry; `None` on the emulator.
    pub registers: Option<u32>,
    /// Local memory of a thread in bytes, which is where registers spill; `None` on the emulator.
    pub local_bytes: Option<u32>,
}

/// A kernel without its type, within the hardware's limits.
pub(crate) struct Image {
    pub(crate) id: TypeId,
    pub(crate) name: &'static str,
    pub(crate) ptx: &'static str,
    pub(crate) threads: u32,
    pub(crate) cluster: [u32; 3],
    pub(crate) smem_bytes: u32,
}

/// What a device must be able to do.
pub(crate) trait Backend: Send + Sync {
    fn name(&self) -> &str;
    fn is_emulator(&self) -> bool;
    fn multiprocessor_count(&self) -> u32;

    /// Memory of `bytes` bytes, which are not 0, aligned to 256.
    fn alloc(&self, bytes: usize) -> Result<u64, Error>;
    /// Sets bytes to zero.
    ///
    /// # Safety
    /// They lie in memory from `alloc` that the caller has to itself.
    unsafe fn clear(&self, address: u64, bytes: usize) -> Result<(), Error>;
    /// Frees memory, once work that was launched before has finished.
    ///
    /// # Safety
    /// `alloc` returned the address, and it is not used or freed again.
    unsafe fn free(&self, address: u64);
    /// Copies from the host.
    ///
    /// # Safety
    /// As for `clear`, unless there are no bytes.
    unsafe fn write(&self, address: u64, bytes: &[u8]) -> Result<(), Error>;
    /// Copies to the host.
    ///
    /// # Safety
    /// The bytes lie in memory from `alloc` that is initialised, unless there are none.
    unsafe fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Error>;

    /// What a kernel's tensor-map parameter holds.
    fn encode(&self, map: &TensorMap) -> Result<[u8; 128], Error>;
    fn compile(&self, image: &Image) -> Result<Compiled, Error>;
    /// Starts a launch; `parameters` are the PTX parameters' bytes.
    ///
    /// # Safety
    /// With them and this grid, the kernel stays inside of the memory that it may access.
    unsafe fn launch(&self, image: &Image, grid: Grid, parameters: &[Vec<u8>])
    -> Result<(), Error>;
    fn synchronize(&self) -> Result<(), Error>;
    fn timer(&self) -> Result<Box<dyn Timer + '_>, Error>;
}

/// A running stopwatch.
pub(crate) trait Timer {
    /// The device time since the start, once everything launched in between has finished.
    fn stop(self: Box<Self>) -> Result<Duration, Error>;
}
