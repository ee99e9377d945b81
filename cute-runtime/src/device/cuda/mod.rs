//! The CUDA backend. It uses the primary context and the default stream of each GPU, and loads the driver at run time, so
//! nothing is linked at build time.

mod clusters;
mod context;
mod driver;
mod event;
mod function;
mod graph;
mod memory;
mod module;
mod report;
mod sys;
mod tensor_map;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::{c_char, c_int};
use std::ptr;
use std::sync::{Arc, Mutex, OnceLock, RwLock};

use cute_chip::tma::{MAP_BYTES, TensorMap};
use cute_chip::{Chip, Target};

use crate::device::backend::{ArgumentName, Backend, Executable, Launch, Timer};
use crate::device::cache::Cache;
use crate::device::compiled::Compiled;
use crate::device::compiling::Compiling;
use crate::device::image::Image;
use crate::device::lock::lock;
use crate::device::maps::Maps;
use crate::device::parameters::Parameters;
use crate::device::report::Output;
use crate::device::tensor_map::RawView;
use crate::{Error, Grid};
use context::{Context, Entered};
use driver::check;
use event::Stopwatch;
use function::Function;
use report::Pinned;
use sys::{CUdevice, CUdevice_attribute};

/// The most launches whose reports wait for the host: each has a buffer of its own.
const MAX_WAITING: usize = 16;

/// A GPU. There is one `Gpu` for each device, which all handles share. It and the functions compiled for it live until the
/// process ends.
pub(crate) struct Gpu {
    context: Context,
    ordinal: usize,
    listed: Listed,
    multiprocessors: u32,
    bandwidth: f64,
    functions: Cache<Function>,
    /// How many clusters run at the same time, by their CTAs, as far as the driver was asked.
    active_clusters: Mutex<BTreeMap<u32, u32>>,
    maps: Maps,
    output: Output,
    /// The buffers of launches that may still run.
    reports: Mutex<Vec<Pinned>>,
    /// The first failed assertion. The driver refuses every call after it.
    failure: OnceLock<Error>,
    /// Memory that was not freed because the wait for its kernels failed. The next drop frees it.
    unfreed: Mutex<Vec<u64>>,
    /// A wait for the context locks this to read, and a capture of a stream locks it to write: the driver forbids to wait for a
    /// context while one of its streams is captured. A capture makes calls of the driver, and runs no code of users.
    capturing: RwLock<()>,
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
        let device = listed.device;
        let multiprocessors =
            attribute(device, sys::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)? as u32;
        let clock = attribute(device, sys::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE)?;
        let width = attribute(device, sys::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH)?;
        Ok(Gpu {
            context: Context::retain(device)?,
            ordinal,
            listed,
            multiprocessors,
            // Kilohertz of a clock at whose both edges as many bits are transferred.
            bandwidth: 2e3 * f64::from(clock) * f64::from(width) / 8.0,
            functions: Cache::new(),
            active_clusters: Mutex::default(),
            maps: Maps::default(),
            output: Output::default(),
            reports: Mutex::default(),
            failure: OnceLock::new(),
            unfreed: Mutex::default(),
            capturing: RwLock::default(),
        })
    }

    /// Calls `wait`, which waits for everything launched before, and prints what these kernels have printed.
    fn delivered<T>(&self, wait: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
        let mut texts = Vec::new();
        let waited = {
            let _no_capture = self.capturing.read();
            // Another thread may launch meanwhile, and the buffer of that launch must stay.
            let waiting = std::mem::take(&mut *lock(&self.reports));
            let waited = wait();
            match &waited {
                Ok(_) => texts.extend(waiting.iter().map(Pinned::text)),
                Err(_) => lock(&self.reports).extend(waiting),
            }
            waited
        };
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
            let mut failures = reports.iter().filter_map(|pinned| pinned.failure());
            if let Some(failure) = failures.next() {
                texts.extend(reports.drain(..).map(|pinned| pinned.text()));
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

    fn alloc(&self, bytes: usize) -> Result<u64, Error> {
        self.explained(self.context.enter()?.alloc(bytes))
    }

    unsafe fn clear(&self, address: u64, bytes: usize) -> Result<(), Error> {
        // SAFETY: the caller makes the promise that the call demands.
        self.explained(unsafe { self.context.enter()?.clear(address, bytes) })
    }

    unsafe fn free(&self, address: u64) {
        lock(&self.unfreed).push(address);
        let Ok(entered) = self.context.enter() else {
            return;
        };
        let _ = self.delivered(|| {
            let unfreed = std::mem::take(&mut *lock(&self.unfreed));
            let waited = entered.synchronize();
            match waited {
                // SAFETY: the callers make the promise that the call demands, and what was launched before has finished.
                Ok(()) => unfreed
                    .iter()
                    .for_each(|&address| unsafe { entered.free(address) }),
                Err(_) => lock(&self.unfreed).extend(unfreed),
            }
            waited
        });
    }

    unsafe fn write(&self, address: u64, bytes: &[u8]) -> Result<(), Error> {
        // SAFETY: the caller makes the promise that the call demands.
        self.explained(unsafe { self.context.enter()?.write(address, bytes) })
    }

    unsafe fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Error> {
        let entered = self.context.enter()?;
        // SAFETY: the caller makes the promise that the call demands.
        self.delivered(|| unsafe { entered.read(address, bytes) })
    }

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
        image: &Image,
        grid: Grid,
        parameters: &Parameters,
        _: &[(ArgumentName, RawView<'_>)],
    ) -> Result<(), Error> {
        let entered = self.context.enter()?;
        let function = self.function(&entered, image)?;
        let pinned = self.explained(Pinned::new(&entered, image))?;
        let mut parameters = Cow::Borrowed(parameters);
        if let Some(pinned) = &pinned {
            parameters.to_mut().push(&pinned.address.to_le_bytes());
        }
        // SAFETY: the caller makes the promise that the call demands. A buffer for reports is kept until the kernel has ended.
        self.explained(unsafe {
            function.launch(&entered, ptr::null_mut(), image, grid, &parameters)
        })?;
        let waiting = {
            let mut reports = lock(&self.reports);
            reports.extend(pinned);
            reports.len()
        };
        match waiting {
            0..MAX_WAITING => Ok(()),
            _ => self.synchronize(),
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

    fn synchronize(&self) -> Result<(), Error> {
        let entered = self.context.enter()?;
        self.delivered(|| entered.synchronize())
    }

    fn timer(&self) -> Result<Box<dyn Timer + '_>, Error> {
        Ok(Box::new(Stopwatch::start(&self.context.enter()?)?))
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
