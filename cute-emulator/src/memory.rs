//! Global memory. Allocations lie at least 1 MiB apart, so that an access past the end of one does not hit another.

use crate::error::{AllocError, FreeError, MemoryError, Nearest};
use crate::limits::{Limits, filled};
use crate::op::SHARED_WINDOW;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The address of the first allocation.
const FIRST_ADDRESS: u64 = 0x7f00_0000_0000;
/// At least this many unallocated bytes follow each allocation.
const GUARD_BYTES: u64 = 1 << 20;
/// Allocations start at multiples of 256 bytes, as those of the driver do.
const MIN_ALIGN: u64 = 256;
/// New allocations are filled with this byte, which makes every floating-point value in them a NaN.
const POISON: u8 = 0xff;

/// The memory of an emulated device.
#[derive(Debug)]
pub struct GlobalMemory {
    allocations: BTreeMap<u64, Vec<u8>>,
    /// The least address of the next allocation.
    next: u64,
    /// How many of the `limit` bytes are not allocated.
    free: u64,
    limit: u64,
    /// The modules whose variables are in this memory, with the variables' address.
    modules: Vec<(Arc<()>, u64)>,
    /// What kernels have printed.
    output: String,
}

impl Default for GlobalMemory {
    fn default() -> Self {
        GlobalMemory::within(&Limits::default())
    }
}

impl GlobalMemory {
    /// An empty device memory with the default [`Limits::memory_bytes`].
    pub fn new() -> GlobalMemory {
        GlobalMemory::default()
    }

    /// An empty device memory of `limits.memory_bytes` bytes.
    pub fn within(limits: &Limits) -> GlobalMemory {
        GlobalMemory {
            allocations: BTreeMap::new(),
            next: FIRST_ADDRESS,
            free: limits.memory_bytes,
            limit: limits.memory_bytes,
            modules: Vec::new(),
            output: String::new(),
        }
    }

    /// What kernels have printed by `printf` since this was called before: at most [`Limits::output_bytes`](Limits) of it.
    pub fn take_output(&mut self) -> String {
        std::mem::take(&mut self.output)
    }

    /// Adds what a kernel prints, up to `most` bytes in all; the rest is lost.
    pub(crate) fn print(&mut self, text: &str, most: usize) {
        if self.output.len() + text.len() <= most {
            self.output += text;
        }
    }

    /// The address of the variables of a module, if they are in this memory.
    pub(crate) fn module(&self, module: &Arc<()>) -> Option<u64> {
        let mut modules = self.modules.iter();
        let (_, address) = modules.find(|(known, _)| Arc::ptr_eq(known, module))?;
        Some(*address)
    }

    pub(crate) fn add_module(&mut self, module: Arc<()>, address: u64) {
        self.modules.push((module, address));
    }

    /// How many bytes of [`Limits::memory_bytes`] are not allocated.
    pub fn free_bytes(&self) -> u64 {
        self.free
    }

    /// Allocates `bytes` bytes and returns their address, a multiple of `align` (at least 256, rounded up to a power of
    /// two). No address is used twice. The bytes are all 0xff.
    ///
    /// # Errors
    ///
    /// The allocation would exceed [`Limits::memory_bytes`], no such address is left, or the host cannot allocate the
    /// memory.
    pub fn alloc(&mut self, bytes: usize, align: u64) -> Result<u64, AllocError> {
        let size = bytes as u64;
        let no_address = AllocError::NoAddress { bytes: size, align };
        if size > self.free {
            let (free, limit) = (self.free, self.limit);
            return Err(AllocError::Full {
                bytes: size,
                free,
                limit,
            });
        }
        let address = align
            .max(MIN_ALIGN)
            .checked_next_power_of_two()
            .and_then(|align| self.next.checked_next_multiple_of(align));
        let end = address.and_then(|address| address.checked_add(size)?.checked_add(GUARD_BYTES));
        let (Some(address), Some(end @ ..=SHARED_WINDOW)) = (address, end) else {
            return Err(no_address);
        };
        self.allocations.insert(address, filled(bytes, POISON)?);
        self.next = end;
        self.free -= size;
        Ok(address)
    }

    /// Frees the allocation that starts at `address`. It is an error if none starts there.
    pub fn free(&mut self, address: u64) -> Result<(), FreeError> {
        let bytes = self.allocations.remove(&address);
        self.free += bytes.ok_or(FreeError { address })?.len() as u64;
        Ok(())
    }

    /// Copies the bytes at `address`, which must lie in one allocation, to the host.
    pub fn read(&self, address: u64, into: &mut [u8]) -> Result<(), MemoryError> {
        into.copy_from_slice(self.bytes(address, into.len())?);
        Ok(())
    }

    /// Copies bytes of the host to `address`. The destination must lie in one allocation.
    pub fn write(&mut self, address: u64, from: &[u8]) -> Result<(), MemoryError> {
        self.bytes_mut(address, from.len())?.copy_from_slice(from);
        Ok(())
    }

    /// The `len` bytes at `address`, which must lie in one allocation.
    pub fn bytes(&self, address: u64, len: usize) -> Result<&[u8], MemoryError> {
        self.allocations
            .range(..=address)
            .next_back()
            .and_then(|(base, bytes)| bytes.get(range(*base, address, len)?))
            .ok_or_else(|| self.missing(address, len))
    }

    /// The `len` bytes at `address`, which must lie in one allocation.
    pub fn bytes_mut(&mut self, address: u64, len: usize) -> Result<&mut [u8], MemoryError> {
        // Checked with a shared borrow first: `missing` cannot look at the map while a part of it is borrowed mutably.
        self.bytes(address, len)?;
        self.allocations
            .range_mut(..=address)
            .next_back()
            .and_then(|(base, bytes)| bytes.get_mut(range(*base, address, len)?))
            .ok_or(MemoryError {
                address,
                bytes: len as u64,
                nearest: None,
            })
    }

    fn missing(&self, address: u64, len: usize) -> MemoryError {
        let distance = |(base, bytes): &(&u64, &Vec<u8>)| {
            let end = **base + bytes.len() as u64;
            if address < **base {
                **base - address
            } else {
                address.saturating_sub(end)
            }
        };
        let before = self.allocations.range(..=address).next_back();
        let after = self.allocations.range(address..).next();
        let nearest = before
            .into_iter()
            .chain(after)
            .min_by_key(distance)
            .map(|(base, bytes)| Nearest {
                base: *base,
                bytes: bytes.len() as u64,
                offset: address.wrapping_sub(*base) as i64,
            });
        MemoryError {
            address,
            bytes: len as u64,
            nearest,
        }
    }
}

/// The part of an allocation that an access covers; `None` if the access begins before the allocation.
fn range(base: u64, address: u64, len: usize) -> Option<std::ops::Range<usize>> {
    let start = usize::try_from(address.checked_sub(base)?).ok()?;
    Some(start..start.checked_add(len)?)
}
