//! CUDA graphs: launches on a stream that is captured, and the executable graph that comes of it.

use std::ptr;
use std::sync::Arc;

use super::Gpu;
use super::context::Entered;
use super::driver::check;
use super::stream::handle;
use super::sys::{self, CUgraph, CUgraphExec};
use crate::Error;
use crate::device::backend::{Executable, Launch};

/// A graph that can be launched.
pub(super) struct Graph {
    gpu: Arc<Gpu>,
    graph: CUgraphExec,
}

// SAFETY: a CUgraphExec is a handle, which any thread may use while no other one does.
unsafe impl Send for Graph {}

impl Graph {
    /// The graph of some launches, at least one.
    ///
    /// # Safety
    /// Of each launch, as for [`Function::launch`](super::function::Function::launch).
    pub(super) unsafe fn new(gpu: Arc<Gpu>, launches: &[Launch]) -> Result<Self, Error> {
        let entered = gpu.context.enter()?;
        // The driver compiles them before the stream is captured.
        let functions = launches
            .iter()
            .map(|it| gpu.function(&entered, &it.image))
            .collect::<Result<Vec<_>, _>>()?;
        let template = {
            let mut stream = Stream::capturing(&entered)?;
            for (it, function) in launches.iter().zip(functions) {
                let (image, parameters) = (&it.image, &it.parameters);
                // SAFETY: the caller makes the promise that the call demands, and the stream is alive.
                unsafe {
                    function.launch(&entered, handle(stream.stream), image, it.grid, parameters)?
                };
            }
            stream.end()?
        };
        let mut graph = ptr::null_mut();
        // SAFETY: the pointer is valid for the write; the template is alive.
        check("cuGraphInstantiate", unsafe {
            sys::cuGraphInstantiateWithFlags(&raw mut graph, template.graph, 0)
        })?;
        drop(template);
        drop(entered);
        Ok(Graph { gpu, graph })
    }
}

impl Executable for Graph {
    unsafe fn launch(&self, stream: u64) -> Result<(), Error> {
        let _entered = self.gpu.context.enter()?;
        // SAFETY: the graph is alive, and no other thread uses it, since it is not `Sync`. The caller promises that the stream is alive
        // and the memory that its kernels use is allocated. A launch begins when earlier ones of the graph have ended, on any stream.
        let answer = unsafe { sys::cuGraphLaunch(self.graph, handle(stream)) };
        let launched = check("cuGraphLaunch", answer).map_err(Error::from);
        self.gpu.explained(launched)
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        if let Ok(_entered) = self.gpu.context.enter() {
            // SAFETY: the graph is from cuGraphInstantiate and is destroyed once. If it still runs, the driver destroys it
            // afterwards.
            let _ = unsafe { sys::cuGraphExecDestroy(self.graph) };
        }
    }
}

/// A stream that is captured.
struct Stream<'e> {
    entered: &'e Entered,
    stream: u64,
    capturing: bool,
}

impl<'e> Stream<'e> {
    fn capturing(entered: &'e Entered) -> Result<Self, Error> {
        let mut stream = Stream {
            entered,
            stream: entered.create_stream(0)?,
            capturing: false,
        };
        // Relaxed, so that other threads may allocate and compile meanwhile.
        // SAFETY: the stream is alive.
        check("cuStreamBeginCapture", unsafe {
            sys::cuStreamBeginCapture_v2(handle(stream.stream), sys::CU_STREAM_CAPTURE_MODE_RELAXED)
        })?;
        stream.capturing = true;
        Ok(stream)
    }

    fn end(&mut self) -> Result<Template<'e>, Error> {
        self.capturing = false;
        let mut graph = ptr::null_mut();
        // SAFETY: the stream is alive and is being captured; the pointer is valid for the write.
        check("cuStreamEndCapture", unsafe {
            sys::cuStreamEndCapture(handle(self.stream), &raw mut graph)
        })?;
        let _entered = self.entered;
        Ok(Template { _entered, graph })
    }
}

impl Drop for Stream<'_> {
    fn drop(&mut self) {
        if self.capturing {
            drop(self.end());
        }
        // SAFETY: the stream is of this value alone.
        unsafe { self.entered.destroy_stream(self.stream) };
    }
}

/// A graph as it was captured.
struct Template<'e> {
    _entered: &'e Entered,
    graph: CUgraph,
}

impl Drop for Template<'_> {
    fn drop(&mut self) {
        // SAFETY: the graph is from cuStreamEndCapture and is destroyed once, in its context.
        let _ = unsafe { sys::cuGraphDestroy(self.graph) };
    }
}
