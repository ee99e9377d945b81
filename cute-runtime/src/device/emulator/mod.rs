//! The emulator backend: memory and programs of one emulated device.

mod device;
mod fault;
mod guests;
mod rewriting;
mod schedule;
mod streams;

pub use schedule::{Checks, EmulatorOptions, Policy, ScheduleFailure};

use std::alloc;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cute_chip::tma::{MAP_BYTES, TensorMap};
use cute_emulator::{
    AllocError, EmulatorError, Extents, FaultKind, GlobalMemory, Launch, Limits, Observed, Point,
    Program, Schedule, Trace,
};
use zerocopy::IntoBytes;

use crate::device::backend::{Backend, TensorArgument, uses};
use crate::device::cache::Cache;
use crate::device::compiled::Compiled;
use crate::device::compiling::Compiling;
use crate::device::held::Held;
use crate::device::image::Image;
use crate::device::lock::lock;
use crate::device::maps::Maps;
use crate::device::order::{Order, Queue, Streams};
use crate::device::parameters::Parameters;
use crate::device::report::{Buffer, Output};
use crate::{ElementType, Error, ForeignRule, Grid};
use fault::located;
use guests::{Guests, Place};
use rewriting::Rewriting;
use streams::Events;

/// Multiprocessors of the emulated device: few, so that each CTA of a persistent kernel gets several tiles even of a small
/// problem.
const MULTIPROCESSORS: u32 = 4;
/// Memory bandwidth of an H100, in bytes per second.
const BANDWIDTH: f64 = 3.35e12;
/// Alignment of allocations, as the CUDA driver's.
const ALIGN: u64 = 256;

/// Returns the PTX to run in place of a kernel's PTX.
pub(crate) type Rewrite = Box<dyn Fn(&str) -> String + Send + Sync>;

/// An emulated device.
pub(crate) struct Emulator {
    options: EmulatorOptions,
    rewrite: Option<Rewrite>,
    /// How many warp instructions its launches have executed.
    steps: AtomicU64,
    observed: Mutex<Observed>,
    memory: Mutex<Memory>,
    programs: Cache<Program>,
    compiled: Cache<Compiled>,
    maps: Maps,
    output: Output,
    order: Order,
    held: Held,
    events: Events,
}

/// The device's memory, and that of others of which it has copies.
#[derive(Default)]
struct Memory {
    global: GlobalMemory,
    guests: Guests,
}

impl Memory {
    /// The host waits for a point.
    fn finish(&mut self, point: &Point) -> Result<(), Error> {
        self.global.synchronize_with(point);
        self.guests.leave(&self.global, point).map_err(memory_error)
    }
}

impl Emulator {
    pub(crate) fn new(options: EmulatorOptions, rewrite: Option<Rewrite>) -> Self {
        Emulator {
            options,
            rewrite,
            steps: AtomicU64::new(0),
            observed: Mutex::new(Observed {
                trace: options.trace.then(Trace::new),
                ..Observed::default()
            }),
            memory: Mutex::default(),
            programs: Cache::new(),
            compiled: Cache::new(),
            maps: Maps::default(),
            output: Output::default(),
            order: Order::default(),
            held: Held::default(),
            events: Events::default(),
        }
    }

    fn program(&self, image: &Image) -> Result<Arc<Program>, Error> {
        if let Some(made) = self.programs.kept(&image.id) {
            return made;
        }
        // The function is the user's code, so it is called without a lock.
        let rewritten = match &self.rewrite {
            Some(rewrite) => Some(Rewriting::begin(image)?.result_of(|| rewrite(image.ptx))),
            None => None,
        };
        let ptx = rewritten.as_deref().unwrap_or(image.ptx);
        let mut compiling = Compiling::default();
        let program = self.programs.get(&image.id, || {
            let loaded = compiling.run(image.name, ptx, || Program::load(ptx));
            loaded.map_err(|error| Error::Emulator {
                kernel: image.name,
                error,
            })
        });
        match &program {
            Ok(_) => compiling.ended(image.name, &"for the emulator"),
            Err(error) => compiling.ended(image.name, error),
        }
        program
    }
}

impl Backend for Emulator {
    fn name(&self) -> &str {
        "emulator"
    }

    fn is_emulator(&self) -> bool {
        true
    }

    fn multiprocessor_count(&self) -> u32 {
        MULTIPROCESSORS
    }

    fn max_active_clusters(&self, ctas: u32) -> Result<u32, Error> {
        Ok((MULTIPROCESSORS / ctas).max(1))
    }

    fn memory_bandwidth(&self) -> f64 {
        BANDWIDTH
    }

    fn steps(&self) -> u64 {
        self.steps.load(Ordering::Relaxed)
    }

    fn observed(&self) -> Option<&Mutex<Observed>> {
        Some(&self.observed)
    }

    fn order(&self) -> &Order {
        &self.order
    }

    fn held(&self) -> &Held {
        &self.held
    }

    /// What is freed is not kept.
    fn trim(&self, _keep: usize) -> Result<(), Error> {
        Ok(())
    }

    fn alloc_host(&self, bytes: usize) -> Result<u64, Error> {
        // SAFETY: the layout has at least one byte.
        let memory = unsafe { alloc::alloc_zeroed(host_layout(bytes)?) };
        match memory.is_null() {
            true => Err(too_large(bytes)),
            false => Ok(memory.expose_provenance() as u64),
        }
    }

    fn alloc(&self, _stream: u64, bytes: usize) -> Result<u64, Error> {
        self.allocate(&mut lock(&self.memory).global, bytes)
    }

    unsafe fn clear(&self, stream: u64, address: u64, bytes: usize) -> Result<(), Error> {
        // SAFETY: the caller makes the promise that the call demands; the bytes are copied at once.
        unsafe { self.start_write(stream, address, &vec![0; bytes]) }
    }

    unsafe fn start_write(&self, stream: u64, address: u64, bytes: &[u8]) -> Result<(), Error> {
        let Memory { global, guests } = &mut *lock(&self.memory);
        guests.enter(global, address).map_err(memory_error)?;
        (global.write_on(stream, address, bytes)).map_err(memory_error)?;
        guests.wrote(address, global.record(stream));
        Ok(())
    }

    unsafe fn start_read(&self, stream: u64, address: u64, bytes: &mut [u8]) -> Result<(), Error> {
        let Memory { global, guests } = &mut *lock(&self.memory);
        guests.enter(global, address).map_err(memory_error)?;
        (global.read_on(stream, address, bytes)).map_err(memory_error)
    }

    unsafe fn import(&self, address: u64, bytes: usize) -> Result<u64, Error> {
        let Memory { global, guests } = &mut *lock(&self.memory);
        match guests.place(address, bytes) {
            Place::Nowhere => {}
            Place::At(on_device) => return Ok(on_device),
            Place::Across(start, of) => {
                let rule = ForeignRule::Across { bytes, start, of };
                return Err(Error::Foreign { address, rule });
            }
        }
        // The address on the device is a multiple of what that of the host is, up to 256 bytes.
        let offset = (address % ALIGN) as usize;
        let on_device = self.allocate(global, offset + bytes)? + offset as u64;
        let host = ptr::with_exposed_provenance_mut(address as usize);
        // SAFETY: the caller makes the promise that the call demands.
        unsafe { guests.add(on_device, host, bytes) };
        Ok(on_device)
    }

    unsafe fn release(&self, address: u64) {
        let Memory { global, guests } = &mut *lock(&self.memory);
        // The memory is allocated as long as it is a guest's, so that neither fails.
        let removed = guests.remove(global, address);
        debug_assert!(removed.is_ok(), "{removed:?}");
        if let Ok(Some(base)) = removed {
            let freed = global.free(base - base % ALIGN);
            debug_assert_eq!(freed, Ok(()));
        }
    }

    fn lend(&self, stream: u64, address: u64, bytes: usize) -> Result<(), Error> {
        let Memory { global, guests } = &mut *lock(&self.memory);
        let lent = guests.lend(global, address, bytes).map_err(memory_error)?;
        lent.into_iter().try_for_each(|(address, bytes)| {
            let worked = global.others_on(stream, address, bytes);
            worked.map_err(memory_error)
        })
    }

    fn encode(&self, map: &TensorMap) -> Result<[u8; MAP_BYTES], Error> {
        cute_emulator::encode_tensor_map(map).map_err(|rule| Error::TensorMap { rule })
    }

    fn maps(&self) -> &Maps {
        &self.maps
    }

    fn compile(&self, image: &Image) -> Result<Compiled, Error> {
        self.program(image)?;
        let compiled = self
            .compiled
            .get(&image.id, || Ok(Compiled::by_ptxas(image)))?;
        Ok(Compiled::clone(&compiled))
    }

    unsafe fn launch(
        &self,
        queue: &Queue,
        image: &Image,
        grid: Grid,
        parameters: &Parameters,
        tensors: &[TensorArgument<'_>],
    ) -> Result<(), Error> {
        let program = self.program(image)?;
        let launch = |stream| self.run(stream, &program, image, grid, parameters, tensors);
        let (text, ended) = self.order.enqueue(self, queue, uses(tensors), launch)?;
        // The receiver of the text is the user's code, so it is called without a lock.
        self.output.print(text);
        ended
    }

    fn output(&self) -> &Output {
        &self.output
    }
}

impl Streams for Emulator {
    fn close(&self, queue: u64) -> bool {
        self.order.close(self, queue)
    }

    fn freed(&self, address: u64) {
        self.held.remove(address);
    }

    unsafe fn free_host(&self, address: u64, bytes: usize) {
        if let Ok(layout) = host_layout(bytes) {
            let memory = ptr::with_exposed_provenance_mut(address as usize);
            // SAFETY: the caller makes the promise that the call demands; the layout is that of `alloc_host`.
            unsafe { alloc::dealloc(memory, layout) };
        }
    }

    fn create_stream(&self, _priority: i32) -> Result<u64, Error> {
        let stream = self.events.new_number();
        lock(&self.memory).global.add_stream(stream);
        Ok(stream)
    }

    fn stream_of_thread(&self, thread: u64) -> u64 {
        streams::of_thread(thread)
    }

    unsafe fn check_stream(&self, _stream: u64) -> Result<(), Error> {
        Ok(())
    }

    unsafe fn destroy_stream(&self, _stream: u64) {}

    unsafe fn is_capturing(&self, _stream: u64) -> Result<bool, Error> {
        Ok(false)
    }

    unsafe fn finish(&self, stream: u64) -> Result<(), Error> {
        let mut memory = lock(&self.memory);
        let point = memory.global.record(stream);
        self.events.waited_for(&point);
        memory.finish(&point)
    }

    fn create_event(&self, _is_timed: bool) -> Result<u64, Error> {
        Ok(self.events.new_number())
    }

    unsafe fn destroy_event(&self, event: u64) {
        self.events.remove(event);
    }

    unsafe fn record(&self, event: u64, stream: u64) -> Result<(), Error> {
        let point = lock(&self.memory).global.record(stream);
        self.events.record(event, point);
        Ok(())
    }

    unsafe fn wait(&self, stream: u64, event: u64) -> Result<(), Error> {
        if let Some(point) = self.events.point(event) {
            lock(&self.memory).global.wait(stream, &point);
        }
        Ok(())
    }

    /// A launch has ended when the call returns. Who knows that it has, has waited for it.
    unsafe fn is_reached(&self, event: u64) -> Result<bool, Error> {
        // SAFETY: the caller makes the promise that the call demands.
        unsafe { self.finish_event(event)? };
        Ok(true)
    }

    unsafe fn is_known_to_be_reached(&self, event: u64) -> bool {
        self.events.is_known_to_be_reached(event)
    }

    unsafe fn finish_event(&self, event: u64) -> Result<(), Error> {
        match self.events.point(event) {
            Some(point) => {
                self.events.waited_for(&point);
                lock(&self.memory).finish(&point)
            }
            None => Ok(()),
        }
    }

    unsafe fn elapsed(&self, start: u64, end: u64) -> Result<Duration, Error> {
        Ok(self.events.elapsed(start, end))
    }

    unsafe fn free(&self, stream: u64, address: u64) -> Result<(), Error> {
        let mut memory = lock(&self.memory);
        memory.global.free_on(stream, address).map_err(memory_error)
    }
}

impl Emulator {
    fn allocate(&self, memory: &mut GlobalMemory, bytes: usize) -> Result<u64, Error> {
        let free = memory.free_bytes();
        memory.alloc(bytes, ALIGN).map_err(|error| match error {
            AllocError::OutOfHostMemory(_) => memory_error(error),
            _ => {
                let reason = format!("the emulator has {free} bytes left");
                self.held.out_of_memory(bytes, Some(reason))
            }
        })
    }

    /// Runs a launch. Returns the text that the kernel printed, and how it ended.
    fn run(
        &self,
        stream: u64,
        program: &Program,
        image: &Image,
        grid: Grid,
        parameters: &Parameters,
        tensors: &[TensorArgument<'_>],
    ) -> Result<(String, Result<(), Error>), Error> {
        let Memory { global, guests } = &mut *lock(&self.memory);
        for it in tensors {
            guests
                .enter(global, it.view.address)
                .map_err(memory_error)?;
        }
        let reports = Reports::new(image, global)?;
        let mut parameters = parameters.clone();
        if let Some(reports) = &reports {
            parameters.push(&reports.address.to_le_bytes());
        }
        if let Some(entry) = program.entries().find(|entry| entry.name == image.name) {
            let sizes: Vec<usize> = entry
                .params
                .iter()
                .map(|&(_, size)| size as usize)
                .collect();
            image.check_parameters(&sizes, &parameters)?;
        }
        let arguments: Vec<Vec<u8>> = parameters.iter().map(<[u8]>::to_vec).collect();
        let extents = tensors.iter().map(|it| Extents {
            tensor: it.name.to_string(),
            extents: it.view.shape.iter().map(|&extent| extent as u64).collect(),
        });
        let extents: Vec<Extents> = extents.collect();
        let launch = Launch {
            grid: grid.into(),
            block: [image.threads, 1, 1],
            cluster: image.cluster,
            dynamic_shared_bytes: image.smem_bytes,
            args: &arguments,
            extents: &extents,
            overlaps: image.overlaps(),
            schedule: Schedule {
                seed: self.options.seed,
                policy: self.options.schedule,
                resident_clusters: self.options.resident_clusters,
            },
            checks: self.options.checks,
            limits: Limits {
                steps: self.options.step_limit,
                cluster_steps: self.options.cluster_limit,
                idle_steps: self.options.idle_limit,
                ..Limits::default()
            },
        };
        let mut observed = lock(&self.observed);
        let before = observed.counts.steps;
        let launched = program.launch_on(global, stream, image.name, &launch, &mut observed);
        let steps = observed.counts.steps - before;
        drop(observed);
        self.steps.fetch_add(steps, Ordering::Relaxed);
        let (text, failure) = match reports {
            Some(reports) => reports.read(global)?,
            None => (String::new(), None),
        };
        for it in tensors.iter().filter(|it| it.used.1) {
            guests.wrote(it.view.address, global.record(stream));
        }
        let ended = match (launched, failure) {
            (Ok(_), _) => Ok(()),
            (Err(EmulatorError::Fault(fault)), Some(failure)) if fault.kind == FaultKind::Trap => {
                Err(failure)
            }
            (Err(error), _) => {
                let kernel = image.name;
                Err(located(Error::Emulator { kernel, error }, tensors))
            }
        };
        Ok((text, ended))
    }
}

/// Memory of the host is aligned as a driver's is.
fn host_layout(bytes: usize) -> Result<alloc::Layout, Error> {
    alloc::Layout::from_size_align(bytes, ALIGN as usize).map_err(|_| too_large(bytes))
}

fn too_large(bytes: usize) -> Error {
    Error::TooLarge {
        len: bytes,
        element: ElementType::U8,
    }
}

/// The buffer into which a launch reports.
struct Reports {
    buffer: Buffer,
    address: u64,
    bytes: usize,
}

impl Reports {
    /// `None` for a kernel that reports nothing.
    fn new(image: &Image, memory: &mut GlobalMemory) -> Result<Option<Self>, Error> {
        let Some(buffer) = Buffer::new(image.name, image.reports) else {
            return Ok(None);
        };
        let words = buffer.words();
        let bytes = words.as_bytes();
        let address = memory
            .alloc(bytes.len(), ALIGN)
            .map_err(|error| Error::EmulatorMemory {
                error: error.into(),
            })?;
        memory.write(address, bytes).map_err(memory_error)?;
        Ok(Some(Reports {
            buffer,
            address,
            bytes: bytes.len(),
        }))
    }

    /// The output of the kernel, and the first assertion that failed.
    fn read(self, memory: &mut GlobalMemory) -> Result<(String, Option<Error>), Error> {
        let mut words = vec![0u32; self.bytes / size_of::<u32>()];
        memory
            .read(self.address, words.as_mut_bytes())
            .map_err(memory_error)?;
        memory
            .free(self.address)
            .map_err(|error| Error::EmulatorMemory {
                error: error.into(),
            })?;
        Ok((self.buffer.text(&words), self.buffer.failure(&words)))
    }
}

fn memory_error(error: impl Into<EmulatorError>) -> Error {
    Error::EmulatorMemory {
        error: error.into(),
    }
}
