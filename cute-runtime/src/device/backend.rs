//! The interface that the GPU and the emulator implement.

use std::fmt;
use std::sync::Arc;
#[cfg(feature = "emulator")]
use std::sync::Mutex;
use std::time::Duration;

use cute_chip::tma::{MAP_BYTES, TensorMap};
#[cfg(feature = "emulator")]
use cute_emulator::Observed;

use crate::device::compiled::Compiled;
use crate::device::image::Image;
use crate::device::maps::Maps;
use crate::device::parameters::Parameters;
use crate::device::report::Output;
use crate::device::tensor_map::RawView;
use crate::{ElementType, Error, Grid};

/// A device: memory, copies, launches and time.
pub(crate) trait Backend: Send + Sync {
    fn name(&self) -> &str;
    fn is_emulator(&self) -> bool;
    fn multiprocessor_count(&self) -> u32;
    /// `ctas` is 2 to 8.
    fn max_active_clusters(&self, ctas: u32) -> Result<u32, Error>;
    fn memory_bandwidth(&self) -> f64;
    /// How many warp instructions the emulator has executed; 0 on a GPU, which does not count them.
    #[cfg(feature = "emulator")]
    fn steps(&self) -> u64 {
        0
    }
    /// The records of the emulator's launches; `None` on a GPU.
    #[cfg(feature = "emulator")]
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
    /// The tensor maps encoded so far.
    fn maps(&self) -> &Maps;
    fn compile(&self, image: &Image) -> Result<Compiled, Error>;
    /// Starts a launch. `parameters` holds the bytes of each PTX parameter, without the address of the report buffer. `tensors`
    /// names the arguments that are tensors.
    ///
    /// # Safety
    /// With these parameters and this grid, the kernel accesses only global memory of tensors that its arguments name.
    unsafe fn launch(
        &self,
        image: &Image,
        grid: Grid,
        parameters: &Parameters,
        tensors: &[(ArgumentName, RawView<'_>)],
    ) -> Result<(), Error>;
    /// One call for all these launches; `None` if the device can only make them one after another.
    ///
    /// # Safety
    /// The contract of `launch`, for each launch.
    unsafe fn graph(
        self: Arc<Self>,
        _launches: &[Launch],
    ) -> Result<Option<Box<dyn Executable>>, Error> {
        Ok(None)
    }
    fn synchronize(&self) -> Result<(), Error>;
    /// The receiver of the text that kernels print.
    fn output(&self) -> &Output;
    fn timer(&self) -> Result<Box<dyn Timer + '_>, Error>;
}

/// A launch that has been checked, to be made later.
pub(crate) struct Launch {
    pub(crate) image: Image,
    pub(crate) grid: Grid,
    pub(crate) parameters: Parameters,
    pub(crate) tensors: Vec<NamedView>,
    /// Keeps the memory of the tensors.
    pub(crate) _memory: Vec<Arc<dyn Send + Sync>>,
}

/// The name of an argument: the name of the parameter, and the index of the item if it is a list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ArgumentName {
    pub(crate) parameter: &'static str,
    pub(crate) item: Option<usize>,
}

impl fmt::Display for ArgumentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.item {
            Some(item) => write!(f, "{}[{item}]", self.parameter),
            None => f.write_str(self.parameter),
        }
    }
}

/// A tensor argument of a launch, with its name.
pub(crate) struct NamedView {
    name: ArgumentName,
    element: ElementType,
    address: u64,
    shape: Vec<usize>,
    strides: Vec<usize>,
}

impl NamedView {
    pub(crate) fn new(&(name, view): &(ArgumentName, RawView<'_>)) -> Self {
        NamedView {
            name,
            element: view.element,
            address: view.address,
            shape: view.shape.to_vec(),
            strides: view.strides.to_vec(),
        }
    }

    pub(crate) fn get(&self) -> (ArgumentName, RawView<'_>) {
        let view = RawView {
            element: self.element,
            address: self.address,
            shape: &self.shape,
            strides: &self.strides,
        };
        (self.name, view)
    }
}

/// Launches that one call makes, in order.
pub(crate) trait Executable: Send {
    /// # Safety
    /// The memory of their tensors is not freed.
    unsafe fn launch(&self) -> Result<(), Error>;
}

/// A running stopwatch.
pub(crate) trait Timer {
    /// Waits until everything launched since the start has finished, and returns the device time that it took.
    fn stop(self: Box<Self>) -> Result<Duration, Error>;
}
