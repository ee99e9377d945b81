//! What a device must be able to do, whatever it is.

use std::any::TypeId;
use std::time::Duration;

use cute_hopper::tma::{MAP_BYTES, TensorMap};

use crate::{Error, Grid, LaunchRule};

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

impl Image {
    /// Holds the bytes of the parameters against the entry's own sizes: the type of a kernel may misdescribe its PTX, and the
    /// driver reads as many bytes as the PTX declares.
    pub(crate) fn check_parameters(
        &self,
        sizes: &[usize],
        parameters: &[Vec<u8>],
    ) -> Result<(), Error> {
        let given = parameters.iter().map(Vec::len);
        if given.clone().eq(sizes.iter().copied()) {
            return Ok(());
        }
        let rule = LaunchRule::Parameters {
            expected: sizes.to_vec(),
            found: given.collect(),
        };
        Err(Error::Launch {
            kernel: self.name,
            rule,
        })
    }
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
    /// As for `clear`. There are bytes.
    unsafe fn write(&self, address: u64, bytes: &[u8]) -> Result<(), Error>;
    /// Copies to the host.
    ///
    /// # Safety
    /// The bytes lie in memory from `alloc` that is initialised. There are some.
    unsafe fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Error>;

    /// What a kernel's tensor-map parameter holds.
    fn encode(&self, map: &TensorMap) -> Result<[u8; MAP_BYTES], Error>;
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
