//! A CUDA graph of another library's work, like `Device::capture` for launches of ours.

use std::error::Error;
use std::sync::{Arc, OnceLock};

use cudarc::driver::result::{graph, stream};
use cudarc::driver::sys;
use cudarc::driver::{CudaContext, DriverError};

/// A graph that can be launched.
pub(crate) struct Captured(sys::CUgraphExec);

impl Captured {
    /// The graph of the work that a closure enqueues on a stream of device 0, a `CUstream`.
    ///
    /// # Safety
    ///
    /// The closure only enqueues work on this stream, and the memory of the work lives as long as the graph.
    pub(crate) unsafe fn new(
        enqueue: impl FnOnce(u64) -> Result<(), Box<dyn Error>>,
    ) -> Result<Self, Box<dyn Error>> {
        enter()?;
        let stream = stream::create(stream::StreamKind::NonBlocking)?;
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        // SAFETY: the stream is alive until it is destroyed, once; so is the template. The default flags are 0.
        unsafe {
            stream::begin_capture(stream, mode)?;
            let enqueued = enqueue(stream.expose_provenance() as u64);
            let template = stream::end_capture(stream);
            stream::destroy(stream)?;
            let template = enqueued.and(Ok(template?))?;
            let executable = graph::instantiate(template, sys::CUgraphInstantiate_flags(0));
            graph::destroy(template)?;
            Ok(Captured(executable?))
        }
    }

    /// Launches it on the default stream.
    pub(crate) fn launch(&self) -> Result<(), DriverError> {
        enter()?;
        // SAFETY: the graph is alive, and the caller of `new` has promised that its memory is.
        unsafe { graph::launch(self.0, std::ptr::null_mut()) }
    }
}

impl Drop for Captured {
    fn drop(&mut self) {
        // SAFETY: the graph is destroyed once.
        let _ = enter().and_then(|()| unsafe { graph::exec_destroy(self.0) });
    }
}

/// Makes the primary context of device 0 the one of this thread.
fn enter() -> Result<(), DriverError> {
    static CONTEXT: OnceLock<Arc<CudaContext>> = OnceLock::new();
    let context = match CONTEXT.get() {
        Some(context) => context,
        None => {
            let context = CudaContext::new(0)?;
            CONTEXT.get_or_init(|| context)
        }
    };
    context.bind_to_thread()
}
