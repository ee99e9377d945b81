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
use crate::device::held::Held;
use crate::device::image::Image;
use crate::device::maps::Maps;
use crate::device::memory::Memory;
use crate::device::parameters::Parameters;
use crate::device::report::Output;
use crate::device::stream::{Order, Queue, Use};
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

    /// The order of the work on the device's streams.
    fn order(&self) -> &Order;
    /// What is allocated.
    fn held(&self) -> &Held;
    /// Gives memory that is not allocated back to the driver, but for so many bytes.
    fn trim(&self, keep: usize) -> Result<(), Error>;
    /// Allocates `bytes` bytes of the host, at least 1, which `start_write` and `start_read` copy without a wait.
    fn alloc_host(&self, bytes: usize) -> Result<u64, Error>;
    /// # Safety
    /// `alloc_host` returned the address for so many bytes, nothing uses it any more, and it is freed once.
    unsafe fn free_host(&self, address: u64, bytes: usize);
    /// A new stream.
    fn create_stream(&self, priority: i32) -> Result<u64, Error>;
    /// The default stream of a thread. The device may have one number for the streams of all threads.
    fn stream_of_thread(&self, thread: u64) -> u64;
    /// Refuses a stream that is not one of the device's context.
    ///
    /// # Safety
    /// The stream is alive, or 0.
    unsafe fn check_stream(&self, stream: u64) -> Result<(), Error>;
    /// Destroys a stream. Its work is done all the same.
    ///
    /// # Safety
    /// `create_stream` returned it, and the caller does not use it again.
    unsafe fn destroy_stream(&self, stream: u64);
    /// Whether others capture the stream into a graph.
    ///
    /// # Safety
    /// The stream is alive, here and below.
    unsafe fn is_capturing(&self, stream: u64) -> Result<bool, Error>;
    /// Waits until the work of the stream has ended.
    ///
    /// # Safety
    /// As above.
    unsafe fn finish(&self, stream: u64) -> Result<(), Error>;

    /// A new event, not yet recorded. Only a timed one has a time.
    fn create_event(&self, is_timed: bool) -> Result<u64, Error>;
    /// # Safety
    /// `create_event` returned it, and the caller does not use it again.
    unsafe fn destroy_event(&self, event: u64);
    /// Makes the event a point behind the work of the stream.
    ///
    /// # Safety
    /// The event and the stream are alive, here and below.
    unsafe fn record(&self, event: u64, stream: u64) -> Result<(), Error>;
    /// Later work of the stream begins when the event is reached.
    ///
    /// # Safety
    /// As above.
    unsafe fn wait(&self, stream: u64, event: u64) -> Result<(), Error>;
    /// # Safety
    /// As above.
    unsafe fn is_reached(&self, event: u64) -> Result<bool, Error>;
    /// Whether the host may take it for reached, without a wait that a program does not make.
    ///
    /// # Safety
    /// As above.
    unsafe fn is_known_to_be_reached(&self, event: u64) -> bool {
        // SAFETY: the caller makes the promise that the call demands.
        unsafe { self.is_reached(event) }.unwrap_or(false)
    }
    /// Waits until the event is reached.
    ///
    /// # Safety
    /// As above.
    unsafe fn finish_event(&self, event: u64) -> Result<(), Error>;
    /// The device time from one event to another.
    ///
    /// # Safety
    /// As above, and both are timed and reached.
    unsafe fn elapsed(&self, start: u64, end: u64) -> Result<Duration, Error>;

    /// Allocates `bytes` bytes, at least 1, at an address that is a multiple of 256. They are not initialised, and may be used by later
    /// work of the stream.
    fn alloc(&self, stream: u64, bytes: usize) -> Result<u64, Error>;
    /// Frees memory behind the work of the stream.
    ///
    /// # Safety
    /// `alloc` returned the address, the caller does not use or free it again, and no work of other streams uses it later than the
    /// stream's work so far.
    unsafe fn free(&self, stream: u64, address: u64) -> Result<(), Error>;
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
    pub(crate) memory: &'a Arc<Memory>,
    pub(crate) writes: bool,
}

/// The memory of the arguments, as the launch uses it.
pub(crate) fn uses<'a>(
    tensors: &'a [TensorArgument<'_>],
) -> impl Iterator<Item = Use<'a>> + Clone + 'a {
    tensors.iter().map(|it| it.memory.used(it.writes))
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
    memory: Arc<Memory>,
    writes: bool,
}

impl KeptTensor {
    pub(crate) fn new(tensor: &TensorArgument<'_>) -> Self {
        KeptTensor {
            name: tensor.name,
            element: tensor.view.element,
            address: tensor.view.address,
            shape: tensor.view.shape.to_vec(),
            strides: tensor.view.strides.to_vec(),
            memory: tensor.memory.clone(),
            writes: tensor.writes,
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
            memory: &self.memory,
            writes: self.writes,
        }
    }

    /// The memory, as a launch uses it.
    pub(crate) fn used(&self) -> Use<'_> {
        self.memory.used(self.writes)
    }
}

/// Launches that one call makes, in order.
pub(crate) trait Executable: Send {
    /// # Safety
    /// The memory of their tensors is not freed, and the stream is alive.
    unsafe fn launch(&self, stream: u64) -> Result<(), Error>;
}
