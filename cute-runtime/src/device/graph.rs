//! Graphs: launches that are recorded once and repeated by one call.

use std::cell::RefCell;
use std::fmt;
use std::mem;
use std::sync::Arc;

use crate::device::backend::{Recorded, Recording};
use crate::device::image::Image;
use crate::device::memory::Memory;
use crate::device::parameters::Parameters;
use crate::device::tensor_map::RawView;
use crate::{Device, Error, Grid, LaunchRule};

/// Launches that [`Device::capture`] has recorded: on a GPU, a CUDA graph. One call repeats them all, with the same arguments.
///
/// It keeps the memory of the tensors that the launches were given, whose elements may change between the calls.
pub struct Graph {
    recorded: Box<dyn Recorded>,
    device: Device,
    launches: usize,
    /// Freed after `recorded`, which uses it.
    _memory: Vec<Arc<Memory>>,
}

impl Device {
    /// Records the launches on this device that a closure makes, in place of running them.
    ///
    /// Only launches by the thread of the call are recorded, and they are all that this thread can do with the device meanwhile. On a
    /// GPU they are launched on a stream that is being captured, whose handle, a `CUstream`, the closure gets: other libraries may
    /// launch on it, too, if the memory that they use lives as long as the graph. Another thread that waits for the GPU, copies from
    /// it or frees its memory goes on when the capture ends, so the closure must not wait for such a thread.
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
    /// let graph = device.capture(|_| {
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
    /// The error of the closure; [`Error::Capturing`] if the thread captures launches of this or another device already. The same error
    /// is that of everything else that the closure does with this device: to allocate, to copy, to wait, to take the time, to launch a
    /// graph. A launch of a kernel that [reports](crate::Kernel::REPORTS) is refused.
    pub fn capture<E: From<Error>>(
        &self,
        launches: impl FnOnce(u64) -> Result<(), E>,
    ) -> Result<Graph, E> {
        let capturing = Capturing::begin(self)?;
        launches(capturing.stream)?;
        Ok(capturing.end()?)
    }
}

impl Graph {
    /// Starts the launches, each after the one before. On a GPU, this returns before they have finished.
    ///
    /// # Errors
    /// If the device failed, or the thread captures launches of it.
    pub fn launch(&self) -> Result<(), Error> {
        self.device.uncaptured()?;
        // SAFETY: the graph owns the memory of the tensors.
        unsafe { self.recorded.launch() }
    }
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (launches, device) = (self.launches, self.device.name());
        write!(f, "Graph({launches} launches on {device})")
    }
}

thread_local! {
    /// What this thread captures.
    static CAPTURE: RefCell<Option<Capture>> = const { RefCell::new(None) };
}

/// Launches that are being captured.
struct Capture {
    recording: Box<dyn Recording>,
    device: Device,
    launches: usize,
    memory: Vec<Arc<Memory>>,
    /// Memory that was dropped meanwhile. To free it waits for the device, which is possible afterwards.
    dropped: Vec<Memory>,
}

/// While it lives, this thread captures launches. What has been captured when it is dropped is forgotten.
struct Capturing {
    stream: u64,
}

impl Capturing {
    fn begin(device: &Device) -> Result<Self, Error> {
        if CAPTURE.with_borrow(Option::is_some) {
            return Err(Error::Capturing);
        }
        let recording = device.backend().clone().record()?;
        let stream = recording.stream();
        CAPTURE.set(Some(Capture {
            recording,
            device: device.clone(),
            launches: 0,
            memory: Vec::new(),
            dropped: Vec::new(),
        }));
        Ok(Capturing { stream })
    }

    fn end(self) -> Result<Graph, Error> {
        let Some(capture) = CAPTURE.take() else {
            return Err(Error::Capturing);
        };
        Ok(Graph {
            recorded: capture.recording.end()?,
            device: capture.device,
            launches: capture.launches,
            _memory: capture.memory,
        })
    }
}

impl Drop for Capturing {
    fn drop(&mut self) {
        CAPTURE.take();
    }
}

/// Whether this thread captures launches of the device.
pub(crate) fn is_capturing(device: &Device) -> bool {
    // A thread that ends captures nothing.
    let capturing = CAPTURE.try_with(|capture| {
        let capture = capture.try_borrow().ok()?;
        capture.as_ref().map(|it| it.device == *device)
    });
    matches!(capturing, Ok(Some(true)))
}

/// Starts a launch, or records it if this thread captures launches of the device.
///
/// # Safety
/// With these parameters and this grid, the kernel accesses only global memory of tensors that its arguments name, and `memory` is
/// theirs.
pub(crate) unsafe fn launch<'a>(
    device: &Device,
    image: &Image,
    grid: Grid,
    parameters: &Parameters,
    tensors: &[(&'static str, RawView<'_>)],
    memory: impl Iterator<Item = &'a Arc<Memory>>,
) -> Result<(), Error> {
    if !is_capturing(device) {
        // SAFETY: the caller makes the promise that the call demands.
        return unsafe { device.backend().launch(image, grid, parameters, tensors) };
    }
    if !image.reports.is_empty() {
        return Err(Error::Launch {
            kernel: image.name,
            rule: LaunchRule::Captured,
        });
    }
    CAPTURE.with_borrow_mut(|capture| {
        let Some(capture) = capture else {
            return Ok(());
        };
        capture.memory.extend(memory.cloned());
        capture.launches += 1;
        // SAFETY: as above.
        unsafe { capture.recording.launch(image, grid, parameters, tensors) }
    })
}

/// Takes memory that is dropped while this thread captures launches of its device, to free it afterwards. Returns whether it
/// did.
pub(crate) fn postpone(memory: &mut Memory) -> bool {
    let postponed = CAPTURE.try_with(|capture| {
        let mut capture = capture.try_borrow_mut().ok()?;
        let capture = capture.as_mut().filter(|it| it.device == memory.device)?;
        let device = memory.device.clone();
        let address = mem::take(&mut memory.address);
        capture.dropped.push(Memory { device, address });
        Some(())
    });
    matches!(postponed, Ok(Some(())))
}
