//! What is allocated on a device, by whom, and how much may be.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::panic::Location;
use std::sync::Mutex;

use crate::device::lock::lock;
use crate::{Device, Error};

/// How many places an error names.
const PLACES: usize = 4;

/// The memory of a device that tensors, buffers and graphs of this program hold: [`Device::memory_held`]. What the driver, other libraries
/// and compiled kernels take is not counted.
///
/// `Display` names the places in the program that hold most.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryHeld {
    /// Bytes in all.
    pub bytes: u64,
    /// Number of allocations.
    pub allocations: usize,
    /// The most bytes that may be held; `None` without a [limit](Device::set_memory_limit).
    pub limit: Option<u64>,
    /// The places in the program that hold memory, the largest first.
    pub places: Vec<MemoryPlace>,
}

/// A place in a program that holds memory of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryPlace {
    /// The source file.
    pub file: &'static str,
    /// The line in it, from 1.
    pub line: u32,
    /// Bytes that were allocated there and are held.
    pub bytes: u64,
    /// Number of these allocations.
    pub allocations: usize,
}

/// The allocations of a device.
#[derive(Default)]
pub(crate) struct Held(Mutex<State>);

#[derive(Default)]
struct State {
    allocations: HashMap<u64, (u64, &'static Location<'static>)>,
    bytes: u64,
    limit: Option<u64>,
}

impl Device {
    /// The memory of the device that this program holds, with the places where it was allocated.
    ///
    /// ```
    /// use cute_runtime::{Device, Error, Tensor};
    ///
    /// let device = Device::emulator();
    /// let _x = Tensor::<f32, 2>::zeros(&device, [256, 64])?;
    /// let held = device.memory_held();
    /// assert_eq!((held.bytes, held.allocations), (65536, 1));
    /// assert!(held.places[0].file.ends_with(".rs"));
    ///
    /// device.set_memory_limit(Some(100_000));
    /// let error = Tensor::<f32, 2>::zeros(&device, [256, 64]).unwrap_err();
    /// assert!(error.to_string().starts_with("65536 bytes more than the 65536 that are held would exceed the limit of 100000 bytes"));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn memory_held(&self) -> MemoryHeld {
        self.backend().held().summary()
    }

    /// The most bytes that this program may hold on the device, by all handles; `None` for no limit, which is the default. An allocation
    /// beyond it is [`Error::OutOfMemory`]. What is held already stays.
    pub fn set_memory_limit(&self, bytes: Option<u64>) {
        lock(&self.backend().held().0).limit = bytes;
    }

    /// Gives memory that is not held back to the driver, but for `keep` bytes of it. A GPU keeps what is freed for later allocations, which
    /// are faster then; other programs and libraries do not get it. Only memory whose work has ended is given back.
    ///
    /// # Errors
    /// If the driver refuses it.
    pub fn trim_memory(&self, keep: usize) -> Result<(), Error> {
        self.backend().trim(keep)
    }
}

impl Held {
    /// Refuses an allocation beyond the limit.
    pub(crate) fn check(&self, bytes: usize) -> Result<(), Error> {
        let state = lock(&self.0);
        match state.limit {
            Some(limit) if (bytes as u64).saturating_add(state.bytes) > limit => {}
            _ => return Ok(()),
        }
        drop(state);
        Err(self.out_of_memory(bytes, None))
    }

    /// The error for want of so many bytes. `reason` says why, unless it is the limit.
    pub(crate) fn out_of_memory(&self, bytes: usize, reason: Option<String>) -> Error {
        Error::OutOfMemory {
            bytes,
            reason,
            held: Box::new(self.summary()),
        }
    }

    pub(crate) fn add(&self, address: u64, bytes: usize, place: &'static Location<'static>) {
        let mut state = lock(&self.0);
        state.bytes += bytes as u64;
        state.allocations.insert(address, (bytes as u64, place));
    }

    pub(crate) fn remove(&self, address: u64) {
        let mut state = lock(&self.0);
        if let Some((bytes, _)) = state.allocations.remove(&address) {
            state.bytes -= bytes;
        }
    }

    fn summary(&self) -> MemoryHeld {
        let state = lock(&self.0);
        let mut places: BTreeMap<(&'static str, u32), MemoryPlace> = BTreeMap::new();
        for &(bytes, place) in state.allocations.values() {
            let (file, line) = (place.file(), place.line());
            let place = places.entry((file, line)).or_insert(MemoryPlace {
                file,
                line,
                bytes: 0,
                allocations: 0,
            });
            place.bytes += bytes;
            place.allocations += 1;
        }
        let mut places: Vec<MemoryPlace> = places.into_values().collect();
        places.sort_by_key(|place| std::cmp::Reverse(place.bytes));
        MemoryHeld {
            bytes: state.bytes,
            allocations: state.allocations.len(),
            limit: state.limit,
            places,
        }
    }
}

impl fmt::Display for MemoryHeld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MemoryHeld {
            bytes, allocations, ..
        } = self;
        write!(f, "{bytes} bytes are held in {allocations} allocations")?;
        for (index, place) in self.places.iter().take(PLACES).enumerate() {
            let separator = if index == 0 { ": " } else { "; " };
            let MemoryPlace {
                file,
                line,
                bytes,
                allocations,
            } = place;
            write!(
                f,
                "{separator}{bytes} bytes in {allocations} of {file}:{line}"
            )?;
        }
        match self.places.len().checked_sub(PLACES) {
            Some(1..) => f.write_str("; and others"),
            _ => Ok(()),
        }
    }
}
