//! The emulator backend: memory and programs of one emulated device.

mod device;
mod fault;
mod rewriting;
mod schedule;

pub use schedule::{Checks, EmulatorOptions, Policy, ScheduleFailure};

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use cute_chip::tma::{MAP_BYTES, TensorMap};
use cute_emulator::{
    AllocError, EmulatorError, Extents, FaultKind, GlobalMemory, Launch, Limits, Observed, Program,
    Schedule, Trace,
};
use zerocopy::IntoBytes;

use crate::device::backend::{ArgumentName, Backend, Timer};
use crate::device::cache::Cache;
use crate::device::compiled::Compiled;
use crate::device::compiling::Compiling;
use crate::device::image::Image;
use crate::device::lock::lock;
use crate::device::maps::Maps;
use crate::device::parameters::Parameters;
use crate::device::report::{Buffer, Output};
use crate::device::tensor_map::RawView;
use crate::{Error, Grid};
use fault::located;
use rewriting::Rewriting;

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
    memory: Mutex<GlobalMemory>,
    programs: Cache<Program>,
    compiled: Cache<Compiled>,
    maps: Maps,
    output: Output,
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
        }
    }

    /// The memory, after all launches have ended: what the host does to it is in the order of launches.
    fn waited_memory(&self) -> MutexGuard<'_, GlobalMemory> {
        let mut memory = lock(&self.memory);
        memory.synchronize();
        memory
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

    fn alloc(&self, bytes: usize) -> Result<u64, Error> {
        let mut memory = lock(&self.memory);
        let free = memory.free_bytes();
        memory.alloc(bytes, ALIGN).map_err(|error| match error {
            AllocError::OutOfHostMemory(_) => Error::EmulatorMemory {
                error: error.into(),
            },
            _ => Error::OutOfMemory { bytes, free },
        })
    }

    unsafe fn clear(&self, address: u64, bytes: usize) -> Result<(), Error> {
        self.waited_memory()
            .bytes_mut(address, bytes)
            .map_err(memory_error)?
            .fill(0);
        Ok(())
    }

    unsafe fn free(&self, address: u64) {
        // A buffer frees its allocation exactly once, so `free` cannot fail.
        let freed = lock(&self.memory).free(address);
        debug_assert_eq!(freed, Ok(()));
    }

    unsafe fn write(&self, address: u64, bytes: &[u8]) -> Result<(), Error> {
        self.waited_memory()
            .write(address, bytes)
            .map_err(memory_error)
    }

    unsafe fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Error> {
        self.waited_memory()
            .read(address, bytes)
            .map_err(memory_error)
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
        image: &Image,
        grid: Grid,
        parameters: &Parameters,
        tensors: &[(ArgumentName, RawView<'_>)],
    ) -> Result<(), Error> {
        let program = self.program(image)?;
        let mut memory = lock(&self.memory);
        let reports = Reports::new(image, &mut memory)?;
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
        let extents = tensors.iter().map(|(name, view)| Extents {
            tensor: name.to_string(),
            extents: view.shape.iter().map(|&extent| extent as u64).collect(),
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
        let launched = program.launch_observed(&mut memory, image.name, &launch, &mut observed);
        let steps = observed.counts.steps - before;
        drop(observed);
        self.steps.fetch_add(steps, Ordering::Relaxed);
        let (text, failure) = match reports {
            Some(reports) => reports.read(&mut memory)?,
            None => (String::new(), None),
        };
        drop(memory);
        self.output.print(text);
        match (launched, failure) {
            (Ok(_), _) => Ok(()),
            (Err(EmulatorError::Fault(fault)), Some(failure)) if fault.kind == FaultKind::Trap => {
                Err(failure)
            }
            (Err(error), _) => {
                let kernel = image.name;
                Err(located(Error::Emulator { kernel, error }, tensors))
            }
        }
    }

    fn output(&self) -> &Output {
        &self.output
    }

    fn synchronize(&self) -> Result<(), Error> {
        drop(self.waited_memory());
        Ok(())
    }

    fn timer(&self) -> Result<Box<dyn Timer + '_>, Error> {
        Ok(Box::new(Stopwatch(Instant::now())))
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

struct Stopwatch(Instant);

impl Timer for Stopwatch {
    fn stop(self: Box<Self>) -> Result<Duration, Error> {
        Ok(self.0.elapsed())
    }
}

fn memory_error(error: cute_emulator::MemoryError) -> Error {
    Error::EmulatorMemory {
        error: EmulatorError::Memory(error),
    }
}
