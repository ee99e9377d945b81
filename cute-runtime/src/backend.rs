//! The interface that the GPU and the emulator implement.

use std::sync::Mutex;
use std::time::Duration;

use cute_emulator::Observed;
use cute_hopper::tma::{MAP_BYTES, TensorMap};

use crate::cache::Id;
use crate::compiled::Compiled;
use crate::report::Output;
use crate::{Error, Fact, Grid, Kernel, LaunchRule, Param, Report};

/// An instance of a kernel as a value: what [`Kernel`] has as constants.
#[derive(Clone, Debug)]
pub struct Image {
    pub(crate) id: Id,
    /// Name of the entry in the PTX.
    pub name: &'static str,
    /// The PTX module as text.
    pub ptx: &'static str,
    /// Threads of a CTA.
    pub threads: u32,
    /// CTAs of a cluster along x, y and z.
    pub cluster: [u32; 3],
    /// Dynamic shared memory of a CTA in bytes.
    pub smem_bytes: u32,
    /// The parameters, in the order of the arguments.
    pub params: &'static [Param],
    /// What must hold for the arguments of a launch.
    pub facts: &'static [Fact],
    /// The statements that report to the host.
    pub reports: &'static [Report],
}

impl Image {
    pub(crate) fn of<K: Kernel>() -> Self {
        Image {
            id: Id::of::<K>(),
            name: K::NAME,
            ptx: K::PTX,
            threads: K::THREADS,
            cluster: K::CLUSTER,
            smem_bytes: K::SMEM_BYTES,
            params: K::PARAMS,
            facts: K::FACTS,
            reports: K::REPORTS,
        }
    }

    /// Compares the lengths of the parameters with the sizes that the PTX entry declares. The driver reads as many bytes as
    /// the PTX declares, and an `unsafe impl Kernel` may describe its PTX wrongly.
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

/// A device: memory, copies, launches and time.
pub(crate) trait Backend: Send + Sync {
    fn name(&self) -> &str;
    fn is_emulator(&self) -> bool;
    fn multiprocessor_count(&self) -> u32;
    /// How many warp instructions the emulator has executed; 0 on a GPU, which does not count them.
    fn steps(&self) -> u64 {
        0
    }
    /// What was seen of the launches of the emulator; `None` on a GPU.
    fn observed(&self) -> Option<&Mutex<Observed>> {
        None
    }

    /// Allocates `bytes` bytes, at least 1, at an address that is a multiple of 256. They are not initialised.
    fn alloc(&self, bytes: usize) -> Result<u64, Error>;
    /// Sets `bytes` bytes at `address` to zero.
    ///
    /// # Safety
    /// The range lies in memory from `alloc` that is not freed, and no other code on the host uses it during the call.
    unsafe fn clear(&self, address: u64, bytes: usize) -> Result<(), Error>;
    /// Frees memory, once all work that was launched before has finished.
    ///
    /// # Safety
    /// `alloc` returned the address, and the caller does not use or free it again.
    unsafe fn free(&self, address: u64);
    /// Copies bytes of the host to the device.
    ///
    /// # Safety
    /// The destination is as `clear` demands, and `bytes` is not empty.
    unsafe fn write(&self, address: u64, bytes: &[u8]) -> Result<(), Error>;
    /// Copies bytes of the device to the host.
    ///
    /// # Safety
    /// The source lies in memory from `alloc` that is initialised and not freed, and `bytes` is not empty.
    unsafe fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Error>;

    /// The 128 bytes of a tensor map, which a kernel takes as a parameter.
    fn encode(&self, map: &TensorMap) -> Result<[u8; MAP_BYTES], Error>;
    fn compile(&self, image: &Image) -> Result<Compiled, Error>;
    /// Starts a launch. `parameters` holds the bytes of each PTX parameter, but for the address of the buffer of a kernel that
    /// reports.
    ///
    /// # Safety
    /// With these parameters and this grid, the kernel accesses only global memory of tensors that its arguments name.
    unsafe fn launch(&self, image: &Image, grid: Grid, parameters: &[Vec<u8>])
    -> Result<(), Error>;
    fn synchronize(&self) -> Result<(), Error>;
    /// Who gets the text that kernels print.
    fn output(&self) -> &Output;
    fn timer(&self) -> Result<Box<dyn Timer + '_>, Error>;
}

/// A running stopwatch.
pub(crate) trait Timer {
    /// Waits until everything launched since the start has finished, and returns the device time that it took.
    fn stop(self: Box<Self>) -> Result<Duration, Error>;
}
