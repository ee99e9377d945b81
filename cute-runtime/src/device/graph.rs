//! Graphs: launches that are recorded once and repeated by one call.
//!
//! A graph owns the memory of its tensors, so that its launch is safe without a lifetime. While a thread captures, its launches are only
//! recorded. The driver's stream is captured after the closure has returned, so no user code runs during the capture.

use std::fmt;

use crate::device::backend::{Executable, KeptTensor, Launch};
use crate::device::capture::{self, Capturing};
use crate::{Device, Error, Stream};

/// Launches that [`Device::capture`] has recorded: on a GPU, a CUDA graph. One call repeats them all, with the same arguments.
///
/// The graph keeps the memory of the tensors given to its launches. Their elements may change between the calls.
pub struct Graph {
    /// None if the device makes the launches one after another. It is dropped before the memory that it uses.
    executable: Option<Box<dyn Executable>>,
    launches: Vec<Launch>,
    device: Device,
}

impl Device {
    /// Records the launches on this device that a closure makes, in place of running them.
    ///
    /// Only launches by the thread of the call are recorded. Tensors that the closure makes exist at once, and belong to the graph
    /// if a launch uses them; their elements stay from one run of the graph to the next. On a GPU, the kernels are compiled and
    /// the graph is made after the closure has returned.
    ///
    /// ```
    /// use cute_runtime::{Device, Error, Tensor, kernels};
    ///
    /// #[kernels]
    /// mod scaling {
    ///     #[kernel(threads = 64)]
    ///     pub fn double(x: Global<i32, 1>) {
    ///         let i = block_idx().0 * 64 + thread();
    ///         if i < extent(x, 0) {
    ///             x[i] = x[i] * 2;
    ///         }
    ///     }
    /// }
    ///
    /// let device = Device::emulator();
    /// let mut x = Tensor::from_slice(&device, &[1; 100], [100])?;
    /// let graph = device.capture(|| {
    ///     scaling::double::launch(&device, 2, &mut x.view_mut())?;
    ///     scaling::double::launch(&device, 2, &mut x.view_mut())
    /// })?;
    /// assert_eq!(x.download()?, [1; 100]);
    /// graph.launch()?;
    /// graph.launch()?;
    /// assert_eq!(x.download()?, [16; 100]);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// The error of the closure; [`Error::Capturing`] if the thread already captures launches of this or another device. The same
    /// error stops a call in the closure that needs the results of earlier launches: to copy from or into a tensor that exists, to
    /// wait, to take the time, to launch a graph. A launch of a kernel that [reports](crate::Kernel::REPORTS) is refused.
    pub fn capture<E: From<Error>>(
        &self,
        launches: impl FnOnce() -> Result<(), E>,
    ) -> Result<Graph, E> {
        let capturing = Capturing::begin(self.backend())?;
        launches()?;
        let launches = capturing.end();
        // SAFETY: each has been made by `launch`, whose caller made the promise that the call demands, and keeps its memory.
        let executable = unsafe { self.backend().clone().graph(&launches)? };
        Ok(Graph {
            executable,
            launches,
            device: self.clone(),
        })
    }

    /// The number of the capture, while this thread captures launches on this device. Each capture has its own number.
    ///
    /// It is for libraries that keep memory from one launch to the next. Launches of a graph and others may run in any order, so
    /// only launches of the same capture may share such memory.
    pub fn capture_id(&self) -> Option<u64> {
        capture::id(self.backend())
    }
}

impl Graph {
    /// Starts the launches, each after the one before, on the stream of the handle that captured them. On a GPU, this returns before they
    /// have finished.
    ///
    /// # Errors
    /// As for [`launch_on`](Graph::launch_on).
    pub fn launch(&self) -> Result<(), Error> {
        self.launch_by(&self.device)
    }

    /// Starts the launches on another stream, behind the work of other streams on their tensors.
    ///
    /// # Errors
    /// If the device failed, or the thread captures launches of it; [`Error::OtherStream`] if the stream is one of another device, and
    /// [`Error::StreamCaptured`] if its owner captures it.
    pub fn launch_on(&self, stream: &Stream) -> Result<(), Error> {
        self.launch_by(&self.device.on(stream)?)
    }

    fn launch_by(&self, device: &Device) -> Result<(), Error> {
        device.uncaptured("to launch a graph")?;
        let (backend, queue) = (&**device.backend(), device.queue());
        if let Some(executable) = &self.executable {
            let tensors = self.launches.iter().flat_map(|it| &it.tensors);
            let uses = tensors.map(KeptTensor::used);
            // SAFETY: the launches keep the memory of the tensors.
            let launch = |stream| unsafe { executable.launch(stream) };
            return backend.order().enqueue(backend, queue, uses, launch);
        }
        self.launches.iter().try_for_each(|it| {
            let tensors: Vec<_> = it.tensors.iter().map(KeptTensor::get).collect();
            // SAFETY: the launch was made by `launch`, whose caller made the promise that the call demands.
            unsafe { backend.launch(queue, &it.image, it.grid, &it.parameters, &tensors) }
        })
    }
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (launches, device) = (self.launches.len(), self.device.name());
        write!(f, "Graph({launches} launches on {device})")
    }
}
