//! The interface that the GPU and the emulator implement.

use std::fmt;
use std::sync::Arc;
#[cfg(feature = "emulator")]
use std::sync::Mutex;

use cute_chip::tma::{MAP_BYTES, TensorMap};
#[cfg(feature = "emulator")]
use cute_emulator::Observed;

use crate::device::compiled::Compiled;
use crate::device::held::Held;
use crate::device::image::Image;
use crate::device::maps::Maps;
use crate::device::order::{Order, Queue, Streams, Use, Used};
use crate::device::parameters::Parameters;
use crate::device::report::Output;
use crate::device::tensor_map::RawView;
use crate::{ElementType, Error, Grid};

/// A device: memory, copies, launches and time.
pub(crate) trait Backend: Streams {
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

    /// The order of the work on the device's streams.
    fn order(&self) -> &Order;
    /// What is allocated.
    fn held(&self) -> &Held;
    /// Gives memory that is not allocated back to the driver, but for so many bytes.
    fn trim(&self, keep: usize) -> Result<(), Error>;
    /// Allocates `bytes` bytes of the host, at least 1, which `start_write` and `start_read` copy without a wait.
    fn alloc_host(&self, bytes: usize) -> Result<u64, Error>;
    /// Allocates `bytes` bytes, at least 1, at an address that is a multiple of 256. They are not initialised, and may be used by later
    /// work of the stream.
    fn alloc(&self, stream: u64, bytes: usize) -> Result<u64, Error>;
    /// Sets `bytes` bytes at `address` to zero.
    ///
    /// # Safety
    /// The range lies in memory that is not freed, and no other code on the host uses it during the call.
    unsafe fn clear(&self, stream: u64, address: u64, bytes: usize) -> Result<(), Error>;
    /// Starts to copy bytes of the host to the device.
    ///
    /// # Safety
    /// The destination is as `clear` demands, and `bytes` is not empty. The caller calls `finish` for the stream before the borrow of
    /// the bytes ends.
    unsafe fn start_write(&self, stream: u64, address: u64, bytes: &[u8]) -> Result<(), Error>;
    /// Starts to copy bytes of the device to the host.
    ///
    /// # Safety
    /// The source lies in memory that is initialised and not freed, and `bytes` is not empty. The caller calls `finish` for the stream
    /// before the borrow of the bytes ends.
    unsafe fn start_read(&self, stream: u64, address: u64, bytes: &mut [u8]) -> Result<(), Error>;

    /// The address by which kernels know memory of others, of `bytes` bytes, at least 1.
    ///
    /// # Safety
    /// As for [`Tensor::from_raw_parts_mut`](crate::Tensor::from_raw_parts_mut), up to the call of `release`.
    unsafe fn import(&self, address: u64, bytes: usize) -> Result<u64, Error>;
    /// Ends the use of memory of others.
    ///
    /// # Safety
    /// `import` returned the address, and nothing uses it any more.
    unsafe fn release(&self, address: u64);

    /// Records on the emulator that others work on so many bytes of the host from the address on, on the stream, and lets them have what
    /// earlier work has written there.
    #[cfg(feature = "emulator")]
    fn lend(&self, _stream: u64, _address: u64, _bytes: usize) -> Result<(), Error> {
        Err(Error::NotEmulated)
    }

    /// The 128 bytes of a tensor map, which a kernel takes as a parameter.
    fn encode(&self, map: &TensorMap) -> Result<[u8; MAP_BYTES], Error>;
    /// The tensor maps encoded so far.
    fn maps(&self) -> &Maps;
    fn compile(&self, image: &Image) -> Result<Compiled, Error>;
    /// Starts a launch behind the work on other streams that its tensors need. `parameters` holds the bytes of each PTX parameter, without
    /// the address of the report buffer.
    ///
    /// # Safety
    /// With these parameters and this grid, the kernel accesses only global memory of the tensors, and writes only those that it says.
    unsafe fn launch(
        &self,
        queue: &Queue,
        image: &Image,
        grid: Grid,
        parameters: &Parameters,
        tensors: &[TensorArgument<'_>],
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
    /// The receiver of the text that kernels print.
    fn output(&self) -> &Output;
}

/// A tensor that is an argument of a launch.
pub(crate) struct TensorArgument<'a> {
    pub(crate) name: ArgumentName,
    pub(crate) view: RawView<'a>,
    pub(crate) used: Use<'a>,
}

/// The memory of the arguments, as the launch uses it.
pub(crate) fn uses<'a>(
    tensors: &'a [TensorArgument<'_>],
) -> impl Iterator<Item = Use<'a>> + Clone + 'a {
    tensors.iter().map(|it| it.used)
}

/// A launch that has been checked, to be made later.
pub(crate) struct Launch {
    pub(crate) image: Image,
    pub(crate) grid: Grid,
    pub(crate) parameters: Parameters,
    pub(crate) tensors: Vec<KeptTensor>,
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

/// A tensor argument of a launch that is made later. It keeps the memory.
pub(crate) struct KeptTensor {
    name: ArgumentName,
    element: ElementType,
    address: u64,
    shape: Vec<usize>,
    strides: Vec<usize>,
    memory: Arc<dyn Used>,
    writes: bool,
}

impl KeptTensor {
    pub(crate) fn new(tensor: &TensorArgument<'_>, memory: Arc<dyn Used>) -> Self {
        KeptTensor {
            name: tensor.name,
            element: tensor.view.element,
            address: tensor.view.address,
            shape: tensor.view.shape.to_vec(),
            strides: tensor.view.strides.to_vec(),
            memory,
            writes: tensor.used.1,
        }
    }

    pub(crate) fn get(&self) -> TensorArgument<'_> {
        TensorArgument {
            name: self.name,
            view: RawView {
                element: self.element,
                address: self.address,
                shape: &self.shape,
                strides: &self.strides,
            },
            used: self.used(),
        }
    }

    /// The memory, as a launch uses it.
    pub(crate) fn used(&self) -> Use<'_> {
        (self.memory.uses(), self.writes)
    }
}

/// Launches that one call makes, in order.
pub(crate) trait Executable: Send {
    /// # Safety
    /// The memory of their tensors is not freed, and the stream is alive.
    unsafe fn launch(&self, stream: u64) -> Result<(), Error>;
}
