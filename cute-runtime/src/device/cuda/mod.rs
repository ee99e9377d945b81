//! The CUDA backend. It uses the primary context of each GPU, or one of others, and loads the driver at run time, so that nothing is
//! linked at build time. No call waits for a context: other libraries may have work in it.

mod clusters;
mod context;
mod driver;
mod event;
mod function;
mod graph;
mod memory;
mod module;
mod report;
mod stream;
mod sys;
mod tensor_map;

use std::any::Any;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::{c_char, c_int};
use std::mem::ManuallyDrop;
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::Duration;

use cute_chip::tma::{MAP_BYTES, TensorMap};
use cute_chip::{Chip, Target};

use crate::device::backend::{Backend, Executable, Launch, TensorArgument, uses};
use crate::device::cache::Cache;
use crate::device::compiled::Compiled;
use crate::device::compiling::Compiling;
use crate::device::held::Held;
use crate::device::image::Image;
use crate::device::lock::lock;
use crate::device::maps::Maps;
use crate::device::order::{Order, Queue, Streams};
use crate::device::parameters::Parameters;
use crate::device::report::Output;
use crate::{Error, ForeignRule, Grid, LaunchRule};
use context::{Context, Entered};
use driver::check;
use function::Function;
use memory::Pool;
use report::Pinned;
use sys::{CUcontext, CUdevice, CUdevice_attribute};

/// The most launches whose reports wait for the host: each has a buffer of its own.
const MAX_WAITING: usize = 16;

/// A GPU. There is one `Gpu` for each context, which all handles share. That of a primary context, and the functions compiled for it,
/// live until the process ends.
pub(crate) struct Gpu {
    context: Context,
    ordinal: usize,
    listed: Listed,
    multiprocessors: u32,
    bandwidth: f64,
    /// Never dropped: a kernel may run, and the code of a module must stay then.
    functions: ManuallyDrop<Cache<Function>>,
    /// How many clusters run at the same time, by their CTAs, as far as the driver was asked.
    active_clusters: Mutex<BTreeMap<u32, u32>>,
    maps: Maps,
    output: Output,
    /// The buffers of launches that may still run, each with an event behind its launch.
    reports: Mutex<Vec<(Pinned, u64)>>,
    /// The first failed assertion. The driver refuses every call after it.
    failure: OnceLock<Error>,
    order: Order,
    held: Held,
    /// `None` if the driver has no pools of memory.
    pool: Option<Pool>,
    /// Keeps a context of others; the last field, since the others are of the context.
    _owner: Option<Arc<dyn Any + Send + Sync>>,
}

impl Gpu {
    /// GPU number `ordinal`, from 0. The first call opens it.
    pub(crate) fn get(ordinal: usize) -> Result<Arc<Self>, Error> {
        static GPUS: Mutex<Vec<Arc<Gpu>>> = Mutex::new(Vec::new());
        let mut gpus = lock(&GPUS);
        if let Some(gpu) = gpus.iter().find(|gpu| gpu.ordinal == ordinal) {
            return Ok(gpu.clone());
        }
        driver::init()?;
        let gpu = Arc::new(Gpu::open(ordinal)?);
        gpus.push(gpu.clone());
        Ok(gpu)
    }

    /// GPU number `ordinal` by a context of others. There is one `Gpu` for a context as long as a handle names it.
    ///
    /// # Safety
    /// The context is alive as long as the owner.
    pub(crate) unsafe fn of_context(
        ordinal: usize,
        context: CUcontext,
        owner: Arc<dyn Any + Send + Sync>,
    ) -> Result<Arc<Self>, Error> {
        static GPUS: Mutex<Vec<Weak<Gpu>>> = Mutex::new(Vec::new());
        driver::init()?;
        let listed = Listed::get(ordinal)?;
        if Context::is_primary_active(listed.device)? {
            let primary = Gpu::get(ordinal)?;
            if primary.context.is(context) {
                return Ok(primary);
            }
        }
        let mut gpus = lock(&GPUS);
        gpus.retain(|gpu| gpu.strong_count() > 0);
        let known = gpus.iter().filter_map(Weak::upgrade);
        if let Some(gpu) = { known }.find(|gpu| gpu.context.is(context)) {
            return match gpu.ordinal == ordinal {
                true => Ok(gpu),
                false => Err(other_context(gpu.listed.device, ordinal)),
            };
        }
        // SAFETY: the context lives as long as the owner, which the `Gpu` keeps.
        let context = unsafe { Context::foreign(context) };
        let found = context.enter()?.device()?;
        if found != listed.device {
            return Err(other_context(found, ordinal));
        }
        let gpu = Arc::new(Gpu::in_context(ordinal, listed, context, Some(owner))?);
        gpus.push(Arc::downgrade(&gpu));
        Ok(gpu)
    }

    /// The first GPU that runs code for the default chip and can be opened.
    #[cfg(feature = "emulator")]
    pub(crate) fn first() -> Result<Arc<Self>, Error> {
        driver::init()?;
        let mut refusals = Vec::new();
        for ordinal in 0..device_count()? {
            // A context costs memory, so none is made for a device that is not chosen.
            let listed = Listed::get(ordinal).and_then(|it| it.check(Chip::DEFAULT.target));
            match listed.and_then(|()| Gpu::get(ordinal)) {
                Ok(gpu) => return Ok(gpu),
                Err(refusal) => refusals.push(refusal),
            }
        }
        Err(Error::NoUsableDevice { refusals })
    }

    fn open(ordinal: usize) -> Result<Self, Error> {
        let listed = Listed::get(ordinal)?;
        let context = Context::retain(listed.device)?;
        Gpu::in_context(ordinal, listed, context, None)
    }

    fn in_context(
        ordinal: usize,
        listed: Listed,
        context: Context,
        owner: Option<Arc<dyn Any + Send + Sync>>,
    ) -> Result<Self, Error> {
        let device = listed.device;
        let multiprocessors =
            attribute(device, sys::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)? as u32;
        let clock = attribute(device, sys::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE)?;
        let width = attribute(device, sys::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH)?;
        let pools = attribute(device, sys::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED)?;
        Ok(Gpu {
            context,
            ordinal,
            listed,
            multiprocessors,
            // Kilohertz of a clock at whose both edges as many bits are transferred.
            bandwidth: 2e3 * f64::from(clock) * f64::from(width) / 8.0,
            functions: ManuallyDrop::new(Cache::new()),
            active_clusters: Mutex::default(),
            maps: Maps::default(),
            output: Output::default(),
            reports: Mutex::default(),
            failure: OnceLock::new(),
            order: Order::default(),
            held: Held::default(),
            pool: (pools != 0).then(|| Pool::new(device)).transpose()?,
            _owner: owner,
        })
    }

    /// Calls `wait`, which waits for some work, and prints what the kernels that have ended have printed.
    fn delivered<T>(
        &self,
        entered: &Entered,
        wait: impl FnOnce() -> Result<T, Error>,
    ) -> Result<T, Error> {
        let waited = wait();
        let mut texts = Vec::new();
        if waited.is_ok() {
            lock(&self.reports).retain(|(pinned, event)| {
                // SAFETY: the event is of this list.
                let ended = unsafe { entered.is_reached(*event) }.unwrap_or(false);
                if ended {
                    texts.push(pinned.text());
                    // SAFETY: as above, and it leaves the list.
                    unsafe { entered.destroy_event(*event) };
                }
                !ended
            });
        }
        texts.into_iter().for_each(|text| self.output.print(text));
        self.explained(waited)
    }

    /// The result of a call of the driver. If an assertion has failed, its error replaces an error of the driver.
    fn explained<T>(&self, result: Result<T, Error>) -> Result<T, Error> {
        let Err(error @ Error::Driver(_)) = result else {
            return result;
        };
        let mut texts = Vec::new();
        if self.failure.get().is_none() {
            let mut reports = lock(&self.reports);
            let mut failures = reports.iter().filter_map(|(pinned, _)| pinned.failure());
            if let Some(failure) = failures.next() {
                texts.extend(reports.drain(..).map(|(pinned, _)| pinned.text()));
                let _ = self.failure.set(failure);
            }
        }
        texts.into_iter().for_each(|text| self.output.print(text));
        Err(self.failure.get().cloned().unwrap_or(error))
    }

    /// The kernel's function. The first call for a kernel compiles it.
    fn function(&self, entered: &Entered, image: &Image) -> Result<Arc<Function>, Error> {
        let mut compiling = Compiling::default();
        let function = self.functions.get(&image.id, || {
            compiling.run(image.name, image.ptx, || {
                if let Some(target) = image.target() {
                    self.listed.check(target)?;
                }
                Function::compile(entered, image)
            })
        });
        match &function {
            Ok(function) => compiling.ended(image.name, &function.compiled),
            Err(error) => compiling.ended(image.name, error),
        }
        function
    }
}

impl Gpu {
    /// Keeps the buffer of a launch on the stream until the kernel has ended, which the event, a new one, tells. If there are many, it
    /// waits for the stream.
    fn report(
        &self,
        entered: &Entered,
        queue: &Queue,
        pinned: Pinned,
        event: u64,
    ) -> Result<(), Error> {
        let stream = queue.stream(self);
        // SAFETY: the event is new, and the stream has a handle.
        let recorded = unsafe { entered.record(event, stream) };
        let waiting = {
            let mut reports = lock(&self.reports);
            reports.push((pinned, event));
            reports.len()
        };
        // An event that is not recorded counts as reached.
        if recorded.is_err() || waiting >= MAX_WAITING {
            // SAFETY: the stream has a handle.
            unsafe { self.finish(stream)? };
        }
        self.explained(recorded)
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        for (pinned, event) in lock(&self.reports).drain(..) {
            // SAFETY: the event is of this list.
            match unsafe { self.is_reached(event) } {
                // SAFETY: as above, and it leaves the list.
                Ok(true) => unsafe { self.destroy_event(event) },
                // The kernel may still write to the buffer.
                _ => std::mem::forget(pinned),
            }
        }
        self.order.clear(self);
    }
}

fn other_context(found: CUdevice, expected: usize) -> Error {
    Error::OtherContext { found, expected }
}

/// A device of the driver's list.
struct Listed {
    device: CUdevice,
    name: String,
    /// The compute capability, as major and minor number.
    capability: (u32, u32),
}

impl Listed {
    fn get(ordinal: usize) -> Result<Self, Error> {
        let count = device_count()?;
        let number = c_int::try_from(ordinal).ok().filter(|_| ordinal < count);
        let number = number.ok_or(Error::NoDevice { ordinal, count })?;
        let mut device = 0;
        // SAFETY: the pointer is valid for the write; `number` names a device.
        check("cuDeviceGet", unsafe {
            sys::cuDeviceGet(&raw mut device, number)
        })?;
        let name = device_name(device)?;
        let major = attribute(device, sys::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
        let minor = attribute(device, sys::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
        Ok(Listed {
            device,
            name,
            capability: (major.unsigned_abs(), minor.unsigned_abs()),
        })
    }

    /// Refuses code for a target that the device does not run.
    fn check(&self, target: Target) -> Result<(), Error> {
        if target.runs_on(self.capability) {
            return Ok(());
        }
        let (major, minor) = self.capability;
        Err(Error::Capability {
            target,
            device: self.name.clone(),
            major,
            minor,
        })
    }
}

impl Backend for Gpu {
    fn name(&self) -> &str {
        &self.listed.name
    }

    fn is_emulator(&self) -> bool {
        false
    }

    fn multiprocessor_count(&self) -> u32 {
        self.multiprocessors
    }

    fn max_active_clusters(&self, ctas: u32) -> Result<u32, Error> {
        if let Some(&clusters) = lock(&self.active_clusters).get(&ctas) {
            return Ok(clusters);
        }
        let entered = self.context.enter()?;
        let image = clusters::idle(ctas);
        let function = self.function(&entered, &image)?;
        // As many clusters as multiprocessors: more than can run.
        let grid = Grid::from(ctas * self.multiprocessors);
        let clusters = self.explained(function.max_active_clusters(&entered, &image, grid))?;
        lock(&self.active_clusters).insert(ctas, clusters);
        Ok(clusters)
    }

    fn memory_bandwidth(&self) -> f64 {
        self.bandwidth
    }

    fn order(&self) -> &Order {
        &self.order
    }

    fn held(&self) -> &Held {
        &self.held
    }

    fn trim(&self, keep: usize) -> Result<(), Error> {
        self.pool.as_ref().map_or(Ok(()), |pool| pool.trim(keep))
    }

    fn alloc_host(&self, bytes: usize) -> Result<u64, Error> {
        self.explained(self.context.enter()?.alloc_host(bytes))
    }

    fn alloc(&self, stream: u64, bytes: usize) -> Result<u64, Error> {
        let pool = self.pool.as_ref().ok_or_else(|| Error::NoMemoryPools {
            device: self.listed.name.clone(),
        })?;
        match self.explained(self.context.enter()?.alloc(pool, stream, bytes)) {
            Err(Error::Driver(error)) if error.code == sys::CUDA_ERROR_OUT_OF_MEMORY.0 => {
                Err(self.held.out_of_memory(bytes, Some(error.to_string())))
            }
            answer => answer,
        }
    }

    unsafe fn clear(&self, stream: u64, address: u64, bytes: usize) -> Result<(), Error> {
        // SAFETY: the caller makes the promise that the call demands.
        self.explained(unsafe { self.context.enter()?.clear(stream, address, bytes) })
    }

    unsafe fn start_write(&self, stream: u64, address: u64, bytes: &[u8]) -> Result<(), Error> {
        // SAFETY: the caller makes the promise that the call demands.
        self.explained(unsafe { self.context.enter()?.start_write(stream, address, bytes) })
    }

    unsafe fn start_read(&self, stream: u64, address: u64, bytes: &mut [u8]) -> Result<(), Error> {
        // SAFETY: the caller makes the promise that the call demands.
        self.explained(unsafe { self.context.enter()?.start_read(stream, address, bytes) })
    }

    unsafe fn import(&self, address: u64, _bytes: usize) -> Result<u64, Error> {
        let device = || self.listed.name.clone();
        let rule = match self.context.enter()?.known(address)? {
            None => ForeignRule::Unknown,
            Some(known) if known.is_host => ForeignRule::Host { device: device() },
            Some(known) if known.ordinal != self.listed.device => ForeignRule::OtherDevice {
                found: known.ordinal,
                device: device(),
            },
            Some(_) => return Ok(address),
        };
        Err(Error::Foreign { address, rule })
    }

    unsafe fn release(&self, _address: u64) {}

    fn encode(&self, map: &TensorMap) -> Result<[u8; MAP_BYTES], Error> {
        tensor_map::encode(&self.context.enter()?, map)
    }

    fn maps(&self) -> &Maps {
        &self.maps
    }

    fn compile(&self, image: &Image) -> Result<Compiled, Error> {
        let entered = self.context.enter()?;
        Ok(self.function(&entered, image)?.compiled.clone())
    }

    unsafe fn launch(
        &self,
        queue: &Queue,
        image: &Image,
        grid: Grid,
        parameters: &Parameters,
        tensors: &[TensorArgument<'_>],
    ) -> Result<(), Error> {
        let entered = self.context.enter()?;
        let function = match self.functions.kept(&image.id) {
            Some(function) => function?,
            None if queue.is_captured(self)? => {
                return Err(Error::StreamCaptured {
                    what: "to compile a kernel",
                });
            }
            None => self.function(&entered, image)?,
        };
        let pinned = self.explained(Pinned::new(&entered, image))?;
        if pinned.is_some() && queue.is_captured(self)? {
            return Err(Error::Launch {
                kernel: image.name,
                rule: LaunchRule::Captured,
            });
        }
        let event = |pinned| Ok((pinned, entered.create_event(false)?));
        let pinned = self.explained(pinned.map(event).transpose())?;
        let mut parameters = Cow::Borrowed(parameters);
        if let Some((pinned, _)) = &pinned {
            parameters.to_mut().push(&pinned.address.to_le_bytes());
        }
        let launch = |stream| {
            let parameters = &parameters;
            // SAFETY: the caller makes the promise that the call demands. A buffer for reports is kept until the kernel has ended.
            unsafe { function.launch(&entered, stream::handle(stream), image, grid, parameters) }
        };
        let launched = (self.order).enqueue(self, queue, uses(tensors), launch);
        if let (Err(_), Some((_, event))) = (&launched, &pinned) {
            // SAFETY: the event is new.
            unsafe { entered.destroy_event(*event) };
        }
        self.explained(launched)?;
        match pinned {
            Some((pinned, event)) => self.report(&entered, queue, pinned, event),
            None => Ok(()),
        }
    }

    unsafe fn graph(
        self: Arc<Self>,
        launches: &[Launch],
    ) -> Result<Option<Box<dyn Executable>>, Error> {
        if launches.is_empty() {
            return Ok(None);
        }
        // SAFETY: the caller makes the promise that the call demands.
        let graph = unsafe { graph::Graph::new(self.clone(), launches) };
        Ok(Some(Box::new(self.explained(graph)?)))
    }

    fn output(&self) -> &Output {
        &self.output
    }
}

impl Streams for Gpu {
    fn close(&self, queue: u64) -> bool {
        self.order.close(self, queue)
    }

    fn freed(&self, address: u64) {
        self.held.remove(address);
    }

    unsafe fn free_host(&self, address: u64, _bytes: usize) {
        if let Ok(entered) = self.context.enter() {
            // SAFETY: the caller makes the promise that the call demands.
            unsafe { entered.free_host(address) };
        }
    }

    fn create_stream(&self, priority: i32) -> Result<u64, Error> {
        self.explained(self.context.enter()?.create_stream(priority))
    }

    fn stream_of_thread(&self, _thread: u64) -> u64 {
        stream::PER_THREAD
    }

    unsafe fn check_stream(&self, stream: u64) -> Result<(), Error> {
        // SAFETY: the caller makes the promise that the call demands.
        let context = unsafe { self.context.enter()?.context_of(stream)? };
        match self.context.is(context) {
            true => Ok(()),
            false => Err(Error::OtherStream {
                what: "stream",
                found: "another context".to_string(),
                expected: format!("that of {}", self.listed.name),
            }),
        }
    }

    unsafe fn destroy_stream(&self, stream: u64) {
        if let Ok(entered) = self.context.enter() {
            // SAFETY: the caller makes the promise that the call demands.
            unsafe { entered.destroy_stream(stream) };
        }
    }

    unsafe fn is_capturing(&self, stream: u64) -> Result<bool, Error> {
        // SAFETY: the caller makes the promise that the call demands.
        self.explained(unsafe { self.context.enter()?.is_capturing(stream) })
    }

    unsafe fn finish(&self, stream: u64) -> Result<(), Error> {
        let entered = self.context.enter()?;
        // SAFETY: the caller makes the promise that the call demands.
        self.delivered(&entered, || unsafe { entered.finish(stream) })
    }

    fn create_event(&self, is_timed: bool) -> Result<u64, Error> {
        self.explained(self.context.enter()?.create_event(is_timed))
    }

    unsafe fn destroy_event(&self, event: u64) {
        if let Ok(entered) = self.context.enter() {
            // SAFETY: the caller makes the promise that the call demands.
            unsafe { entered.destroy_event(event) };
        }
    }

    unsafe fn record(&self, event: u64, stream: u64) -> Result<(), Error> {
        // SAFETY: the caller makes the promise that the call demands.
        self.explained(unsafe { self.context.enter()?.record(event, stream) })
    }

    unsafe fn wait(&self, stream: u64, event: u64) -> Result<(), Error> {
        // SAFETY: the caller makes the promise that the call demands.
        self.explained(unsafe { self.context.enter()?.wait(stream, event) })
    }

    unsafe fn is_reached(&self, event: u64) -> Result<bool, Error> {
        // SAFETY: the caller makes the promise that the call demands.
        self.explained(unsafe { self.context.enter()?.is_reached(event) })
    }

    unsafe fn finish_event(&self, event: u64) -> Result<(), Error> {
        let entered = self.context.enter()?;
        // SAFETY: the caller makes the promise that the call demands.
        self.delivered(&entered, || unsafe { entered.finish_event(event) })
    }

    unsafe fn elapsed(&self, start: u64, end: u64) -> Result<Duration, Error> {
        // SAFETY: the caller makes the promise that the call demands.
        self.explained(unsafe { self.context.enter()?.elapsed(start, end) })
    }

    unsafe fn free(&self, stream: u64, address: u64) -> Result<(), Error> {
        // SAFETY: the caller makes the promise that the call demands.
        unsafe { self.context.enter()?.free(stream, address) }
    }
}

fn device_count() -> Result<usize, Error> {
    let mut count = 0;
    // SAFETY: the pointer is valid for the write.
    check("cuDeviceGetCount", unsafe {
        sys::cuDeviceGetCount(&raw mut count)
    })?;
    Ok(usize::try_from(count).unwrap_or(0))
}

fn device_name(device: CUdevice) -> Result<String, Error> {
    let mut name = [0u8; 256];
    // SAFETY: the driver writes at most `name.len()` bytes, its terminating NUL included; the device exists.
    let answer = unsafe {
        sys::cuDeviceGetName(
            name.as_mut_ptr().cast::<c_char>(),
            name.len() as c_int,
            device,
        )
    };
    check("cuDeviceGetName", answer)?;
    let end = name
        .iter()
        .position(|&byte| byte == 0)
        .unwrap_or(name.len());
    Ok(String::from_utf8_lossy(&name[..end]).into_owned())
}

fn attribute(device: CUdevice, attribute: CUdevice_attribute) -> Result<c_int, Error> {
    let mut value = 0;
    // SAFETY: the pointer is valid for the write; the device exists.
    check("cuDeviceGetAttribute", unsafe {
        sys::cuDeviceGetAttribute(&raw mut value, attribute, device)
    })?;
    Ok(value)
}
