//! The CUDA backend: one primary context for each GPU, the default stream, nothing linked at build time.

mod driver;
mod function;
mod tensor_map;

use std::any::TypeId;
use std::collections::HashMap;
use std::ffi::{c_char, c_int};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cudarc::driver::sys::{self, CUcontext, CUdevice, CUdevice_attribute, CUevent};

use crate::device::{Backend, Compiled, Image, Timer};
use crate::tensor_map::TensorMap;
use crate::{Error, Grid};
use driver::check;
use function::Function;

/// The compute capability of `sm_90a`, which no other device runs.
const CAPABILITY: (c_int, c_int) = (9, 0);

/// A GPU. Contexts and the modules in them live until the process ends: a device has one, whoever asks.
pub(crate) struct Context {
    context: CUcontext,
    ordinal: usize,
    name: String,
    multiprocessors: u32,
    functions: Mutex<HashMap<TypeId, Arc<Function>>>,
}

// SAFETY: a CUcontext is a handle which the driver lets any thread use; everything else is Send.
unsafe impl Send for Context {}
// SAFETY: the driver's functions are thread-safe, and the cache of functions has its lock.
unsafe impl Sync for Context {}

impl Context {
    /// The context of a device, made at the first call.
    pub(crate) fn get(ordinal: usize) -> Result<Arc<Self>, Error> {
        static CONTEXTS: Mutex<Vec<Arc<Context>>> = Mutex::new(Vec::new());
        let mut contexts = lock(&CONTEXTS);
        if let Some(context) = contexts.iter().find(|context| context.ordinal == ordinal) {
            return Ok(context.clone());
        }
        driver::init()?;
        let context = Arc::new(Context::open(ordinal)?);
        contexts.push(context.clone());
        Ok(context)
    }

    /// The first device that can run `sm_90a` code.
    pub(crate) fn first() -> Option<Arc<Self>> {
        driver::init().ok()?;
        (0..device_count().ok()?).find_map(|ordinal| Context::get(ordinal).ok())
    }

    fn open(ordinal: usize) -> Result<Self, Error> {
        let count = device_count()?;
        let number = c_int::try_from(ordinal).ok().filter(|_| ordinal < count);
        let number = number.ok_or(Error::NoDevice { ordinal, count })?;
        let mut device = 0;
        // SAFETY: the pointer is valid for the write; `number` names a device.
        check("cuDeviceGet", unsafe {
            sys::cuDeviceGet(&raw mut device, number)
        })?;
        let name = device_name(device)?;
        let major = attribute(
            device,
            CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
        )?;
        let minor = attribute(
            device,
            CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
        )?;
        if (major, minor) != CAPABILITY {
            return Err(Error::Capability {
                device: name,
                major,
                minor,
            });
        }
        let multiprocessors = attribute(
            device,
            CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
        )? as u32;
        let mut context = std::ptr::null_mut();
        // SAFETY: the pointer is valid for the write; the context is retained for good, hence never dangling.
        check("cuDevicePrimaryCtxRetain", unsafe {
            sys::cuDevicePrimaryCtxRetain(&raw mut context, device)
        })?;
        Ok(Context {
            context,
            ordinal,
            name,
            multiprocessors,
            functions: Mutex::default(),
        })
    }

    /// Makes this the calling thread's context, which every call below works in.
    fn enter(&self) -> Result<(), Error> {
        // SAFETY: the context is alive.
        check("cuCtxSetCurrent", unsafe {
            sys::cuCtxSetCurrent(self.context)
        })?;
        Ok(())
    }

    /// The kernel's function, compiled at the first call.
    fn function(&self, image: &Image) -> Result<Arc<Function>, Error> {
        self.enter()?;
        let mut functions = lock(&self.functions);
        if let Some(function) = functions.get(&image.id) {
            return Ok(function.clone());
        }
        let function = Arc::new(Function::compile(image)?);
        functions.insert(image.id, function.clone());
        Ok(function)
    }
}

impl Backend for Context {
    fn name(&self) -> &str {
        &self.name
    }

    fn is_emulator(&self) -> bool {
        false
    }

    fn multiprocessor_count(&self) -> u32 {
        self.multiprocessors
    }

    fn alloc(&self, bytes: usize) -> Result<u64, Error> {
        self.enter()?;
        let mut address = 0;
        // SAFETY: the pointer is valid for the write.
        check("cuMemAlloc", unsafe {
            sys::cuMemAlloc_v2(&raw mut address, bytes)
        })?;
        Ok(address)
    }

    fn clear(&self, address: u64, bytes: usize) -> Result<(), Error> {
        self.enter()?;
        // SAFETY: the driver checks the range against its allocations.
        check("cuMemsetD8", unsafe {
            sys::cuMemsetD8_v2(address, 0, bytes)
        })?;
        Ok(())
    }

    fn free(&self, address: u64, _bytes: usize) {
        if self.enter().is_ok() {
            // A failure here is an earlier launch's, which the next call reports as well.
            // SAFETY: the address is from `alloc` and freed once; the driver waits for work that uses it.
            let _ = unsafe { sys::cuMemFree_v2(address) };
        }
    }

    fn write(&self, address: u64, bytes: &[u8]) -> Result<(), Error> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.enter()?;
        // SAFETY: the source is a slice; the driver checks the destination against its allocations.
        check("cuMemcpyHtoD", unsafe {
            sys::cuMemcpyHtoD_v2(address, bytes.as_ptr().cast(), bytes.len())
        })?;
        Ok(())
    }

    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Error> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.enter()?;
        // SAFETY: the destination is a slice of plain bytes; the driver checks the source against its allocations.
        check("cuMemcpyDtoH", unsafe {
            sys::cuMemcpyDtoH_v2(bytes.as_mut_ptr().cast(), address, bytes.len())
        })?;
        Ok(())
    }

    fn encode(&self, map: &TensorMap) -> Result<[u8; 128], Error> {
        self.enter()?;
        tensor_map::encode(map)
    }

    fn compile(&self, image: &Image) -> Result<Compiled, Error> {
        Ok(self.function(image)?.compiled.clone())
    }

    fn launch(&self, image: &Image, grid: Grid, parameters: &[Vec<u8>]) -> Result<(), Error> {
        self.function(image)?.launch(image, grid, parameters)
    }

    fn synchronize(&self) -> Result<(), Error> {
        self.enter()?;
        // SAFETY: takes no pointers.
        check("cuCtxSynchronize", unsafe { sys::cuCtxSynchronize() })?;
        Ok(())
    }

    fn timer(&self) -> Result<Box<dyn Timer + '_>, Error> {
        self.enter()?;
        Ok(Box::new(Stopwatch {
            context: self,
            start: Event::record()?,
        }))
    }
}

struct Stopwatch<'a> {
    context: &'a Context,
    start: Event,
}

impl Timer for Stopwatch<'_> {
    fn stop(self: Box<Self>) -> Result<Duration, Error> {
        self.context.enter()?;
        let end = Event::record()?;
        // SAFETY: the event is alive.
        check("cuEventSynchronize", unsafe {
            sys::cuEventSynchronize(end.0)
        })?;
        let mut milliseconds = 0.0;
        // SAFETY: both events are alive and recorded; the pointer is valid for the write.
        let answer =
            unsafe { sys::cuEventElapsedTime_v2(&raw mut milliseconds, self.start.0, end.0) };
        check("cuEventElapsedTime", answer)?;
        Ok(Duration::from_secs_f64(
            f64::from(milliseconds).max(0.0) / 1e3,
        ))
    }
}

/// A moment on the default stream of the current context.
struct Event(CUevent);

impl Event {
    fn record() -> Result<Self, Error> {
        let mut event = std::ptr::null_mut();
        // SAFETY: the pointer is valid for the write. Flags 0: with timing.
        check("cuEventCreate", unsafe {
            sys::cuEventCreate(&raw mut event, 0)
        })?;
        let event = Event(event);
        // SAFETY: the event is alive; null is the default stream.
        check("cuEventRecord", unsafe {
            sys::cuEventRecord(event.0, std::ptr::null_mut())
        })?;
        Ok(event)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: the event is from cuEventCreate and destroyed once.
        let _ = unsafe { sys::cuEventDestroy_v2(self.0) };
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
    // SAFETY: the driver writes at most `len` bytes.
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

/// A panic elsewhere leaves these caches whole: entries are inserted complete.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
