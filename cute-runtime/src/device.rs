//! Devices: a GPU behind the CUDA driver, or the emulator, behind one interface.

use std::any::TypeId;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::launch::image;
use crate::tensor_map::TensorMap;
use crate::{Buffer, Element, Error, Grid, Kernel, cuda, emulator};

/// Where buffers live and kernels run. A handle: clones name the same device.
///
/// Work on a device happens in order. On a GPU, launches return at once, and reading a buffer waits for them.
#[derive(Clone)]
pub struct Device(Arc<dyn Backend>);

impl Device {
    /// The `ordinal`-th GPU that the CUDA driver lists. It must be of compute capability 9.0.
    pub fn cuda(ordinal: usize) -> Result<Self, Error> {
        Ok(Device(cuda::Context::get(ordinal)?))
    }

    /// An emulated device on the CPU, with memory of its own.
    pub fn emulator() -> Self {
        Device::emulator_with_seed(0)
    }

    /// An emulated device whose asynchronous work is scheduled in another order, which a correct kernel does not notice.
    pub fn emulator_with_seed(seed: u64) -> Self {
        Device(Arc::new(emulator::Emulator::new(seed)))
    }

    /// Name of the device, for people.
    pub fn name(&self) -> &str {
        self.0.name()
    }

    /// Whether this is the emulator.
    pub fn is_emulator(&self) -> bool {
        self.0.is_emulator()
    }

    /// Number of streaming multiprocessors: what a persistent kernel's grid is made from.
    pub fn multiprocessor_count(&self) -> u32 {
        self.0.multiprocessor_count()
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
        self.0.synchronize()
    }

    /// How long the device takes for what the closure launches: by CUDA events on a GPU, by the clock on the emulator.
    pub fn time<E: From<Error>>(
        &self,
        work: impl FnOnce() -> Result<(), E>,
    ) -> Result<Duration, E> {
        let timer = self.0.timer()?;
        work()?;
        Ok(timer.stop()?)
    }

    /// Compiles a kernel for this device, as its first launch does, and says what came out.
    pub fn compile<K: Kernel>(&self) -> Result<Compiled, Error> {
        self.0.compile(&image::<K>()?)
    }

    pub(crate) fn backend(&self) -> &dyn Backend {
        &*self.0
    }
}

impl Default for Device {
    /// The first GPU that runs `sm_90a` code, else the emulator.
    fn default() -> Self {
        cuda::Context::first().map_or_else(Device::emulator, |context| Device(context))
    }
}

impl PartialEq for Device {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
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
    fn clear(&self, address: u64, bytes: usize) -> Result<(), Error>;
    /// Frees what `alloc` returned for `bytes`, once work that was launched before has finished.
    fn free(&self, address: u64, bytes: usize);
    fn write(&self, address: u64, bytes: &[u8]) -> Result<(), Error>;
    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Error>;

    /// What a kernel's tensor-map parameter holds.
    fn encode(&self, map: &TensorMap) -> Result<[u8; 128], Error>;
    fn compile(&self, image: &Image) -> Result<Compiled, Error>;
    /// Starts a checked launch; `parameters` are the PTX parameters' bytes.
    fn launch(&self, image: &Image, grid: Grid, parameters: &[Vec<u8>]) -> Result<(), Error>;
    fn synchronize(&self) -> Result<(), Error>;
    fn timer(&self) -> Result<Box<dyn Timer + '_>, Error>;
}

/// A running stopwatch.
pub(crate) trait Timer {
    /// The device time since the start, once everything launched in between has finished.
    fn stop(self: Box<Self>) -> Result<Duration, Error>;
}
