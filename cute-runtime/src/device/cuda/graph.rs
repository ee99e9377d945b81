//! Graphs: launches on a stream that is captured, and the executable graph that comes of it.

use std::ptr;
use std::sync::{Arc, LockResult, RwLockWriteGuard};

use cudarc::driver::sys::{
    self, CUgraph, CUgraphExec, CUstream, CUstream_flags, CUstreamCaptureMode,
};

use super::Gpu;
use super::context::{Context, Entered};
use super::driver::check;
use crate::device::backend::{Recorded, Recording};
use crate::device::image::Image;
use crate::device::parameters::Parameters;
use crate::device::tensor_map::RawView;
use crate::{Error, Grid};

/// Launches that are being captured.
pub(super) struct Capture {
    gpu: Arc<Gpu>,
    stream: Stream,
    /// Nobody waits for the context meanwhile. It is released after the stream is.
    _alone: LockResult<RwLockWriteGuard<'static, ()>>,
}

impl Capture {
    pub(super) fn begin(gpu: Arc<Gpu>) -> Result<Self, Error> {
        let alone = gpu.capturing.write();
        let entered = gpu.context.enter()?;
        let stream = Stream::capturing(&entered)?;
        drop(entered);
        Ok(Capture {
            gpu,
            stream,
            _alone: alone,
        })
    }
}

impl Recording for Capture {
    fn stream(&self) -> u64 {
        self.stream.stream.addr() as u64
    }

    unsafe fn launch(
        &mut self,
        image: &Image,
        grid: Grid,
        parameters: &Parameters,
        _: &[(&'static str, RawView<'_>)],
    ) -> Result<(), Error> {
        let entered = self.gpu.context.enter()?;
        let function = self.gpu.function(&entered, image)?;
        // SAFETY: the caller makes the promise that the call demands, and the stream is alive.
        self.gpu.explained(unsafe {
            function.launch(&entered, self.stream.stream, image, grid, parameters)
        })
    }

    fn end(mut self: Box<Self>) -> Result<Box<dyn Recorded>, Error> {
        let gpu = self.gpu.clone();
        let entered = gpu.context.enter()?;
        let template = self.stream.end(&entered)?;
        let executable = Executable::new(gpu.clone(), &entered, &template)?;
        Ok(Box::new(executable))
    }
}

/// A stream of its own, which waits for no other, and no other for it.
struct Stream {
    context: Context,
    stream: CUstream,
    capturing: bool,
}

impl Stream {
    fn capturing(entered: &Entered) -> Result<Self, Error> {
        let mut stream = ptr::null_mut();
        // SAFETY: the pointer is valid for the write.
        check("cuStreamCreate", unsafe {
            sys::cuStreamCreate(
                &raw mut stream,
                CUstream_flags::CU_STREAM_NON_BLOCKING as u32,
            )
        })?;
        let mut stream = Stream {
            context: entered.context(),
            stream,
            capturing: false,
        };
        // Relaxed, so that a kernel may be compiled meanwhile. `Device` refuses what cannot be captured.
        // SAFETY: the stream is alive.
        check("cuStreamBeginCapture", unsafe {
            sys::cuStreamBeginCapture_v2(
                stream.stream,
                CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED,
            )
        })?;
        stream.capturing = true;
        Ok(stream)
    }

    fn end(&mut self, entered: &Entered) -> Result<Template, Error> {
        self.capturing = false;
        let mut graph = ptr::null_mut();
        // SAFETY: the stream is alive and is being captured; the pointer is valid for the write.
        check("cuStreamEndCapture", unsafe {
            sys::cuStreamEndCapture(self.stream, &raw mut graph)
        })?;
        Ok(Template {
            context: entered.context(),
            graph,
        })
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if let Ok(entered) = self.context.enter() {
            if self.capturing {
                drop(self.end(&entered));
            }
            // SAFETY: the stream is from cuStreamCreate and is destroyed once.
            let _ = unsafe { sys::cuStreamDestroy_v2(self.stream) };
        }
    }
}

/// A graph as it was captured.
struct Template {
    context: Context,
    graph: CUgraph,
}

impl Template {
    fn is_empty(&self, _entered: &Entered) -> Result<bool, Error> {
        let mut nodes = 0;
        // SAFETY: the graph is alive, and the pointer is valid for the write. Without room for nodes, the call counts them.
        check("cuGraphGetNodes", unsafe {
            sys::cuGraphGetNodes(self.graph, ptr::null_mut(), &raw mut nodes)
        })?;
        Ok(nodes == 0)
    }
}

impl Drop for Template {
    fn drop(&mut self) {
        if let Ok(_entered) = self.context.enter() {
            // SAFETY: the graph is from cuStreamEndCapture and is destroyed once.
            let _ = unsafe { sys::cuGraphDestroy(self.graph) };
        }
    }
}

/// A graph that can be launched.
struct Executable {
    gpu: Arc<Gpu>,
    /// None if nothing was captured.
    graph: Option<CUgraphExec>,
}

// SAFETY: a CUgraphExec is a handle, which any thread may use while no other one does.
unsafe impl Send for Executable {}

impl Executable {
    fn new(gpu: Arc<Gpu>, entered: &Entered, template: &Template) -> Result<Self, Error> {
        if template.is_empty(entered)? {
            return Ok(Executable { gpu, graph: None });
        }
        let mut graph = ptr::null_mut();
        // SAFETY: the pointer is valid for the write; the template is alive.
        check("cuGraphInstantiate", unsafe {
            sys::cuGraphInstantiateWithFlags(&raw mut graph, template.graph, 0)
        })?;
        let graph = Some(graph);
        Ok(Executable { gpu, graph })
    }
}

impl Recorded for Executable {
    /// On the default stream.
    unsafe fn launch(&self) -> Result<(), Error> {
        let Some(graph) = self.graph else {
            return Ok(());
        };
        let _entered = self.gpu.context.enter()?;
        // SAFETY: the graph is alive, and no other thread uses it, since it is not `Sync`. The caller promises that the memory
        // that its kernels use is allocated.
        let answer = unsafe { sys::cuGraphLaunch(graph, ptr::null_mut()) };
        let launched = check("cuGraphLaunch", answer).map_err(Error::from);
        self.gpu.explained(launched)
    }
}

impl Drop for Executable {
    fn drop(&mut self) {
        let Some(graph) = self.graph else {
            return;
        };
        if let Ok(_entered) = self.gpu.context.enter() {
            // SAFETY: the graph is from cuGraphInstantiate and is destroyed once. If it still runs, the driver destroys it
            // afterwards.
            let _ = unsafe { sys::cuGraphExecDestroy(graph) };
        }
    }
}
