//! Global memory: allocations far enough apart that a stray access meets none of them.

use crate::error::{AllocError, MemoryError, Nearest};
use crate::limits::{Limits, filled};
use crate::op::SHARED_WINDOW;
use std::collections::BTreeMap;

/// Where the first allocation lies.
const FIRST_ADDRESS: u64 = 0x7f00_0000_0000;
/// No allocation is nearer to another than this.
const GUARD_BYTES: u64 = 1 << 20;
/// Allocations start at multiples of this, as those of the driver do.
const MIN_ALIGN: u64 = 256;
/// Fresh memory holds this byte, which makes every floating-point value a NaN.
const POISON: u8 = 0xff;

/// The memory of an emulated device.
#[derive(Debug)]
pub struct GlobalMemory {
    allocations: BTreeMap<u64, Vec<u8>>,
    /// Where the next allocation may lie.
    next: u64,
    /// Bytes that are not allocated, of so many.
    free: u64,
    limit: u64,
}

impl Default for GlobalMemory {
    fn default() -> Self {
        GlobalMemory::within(&Limits::default())
    }
}

impl GlobalMemory {
    /// A device on which nothing is allocated.
    pub fn new() -> GlobalMemory {
        GlobalMemory::default()
    }

    /// A device with so much memory.
    pub fn within(limits: &Limits) -> GlobalMemory {
        GlobalMemory {
            allocations: BTreeMap::new(),
            next: FIRST_ADDRESS,
            free: limits.memory_bytes,
            limit: limits.memory_bytes,
        }
    }

    /// Bytes that can still be allocated.
    pub fn free_bytes(&self) -> u64 {
        self.free
    }

    /// Allocates `bytes` at a multiple of `align` (at least 256, rounded up to a power of two). An address is never given
    /// twice. What does not fit in [`Limits::memory_bytes`], in the addresses, or in the host's memory is an error.
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

    /// Frees the allocation that starts at `address`.
    pub fn free(&mut self, address: u64) -> Result<(), MemoryError> {
        match self.allocations.remove(&address) {
            Some(bytes) => {
                self.free += bytes.len() as u64;
                Ok(())
            }
            None => Err(self.missing(address, 0)),
        }
    }

    /// Copies from the device.
    pub fn read(&self, address: u64, into: &mut [u8]) -> Result<(), MemoryError> {
        into.copy_from_slice(self.bytes(address, into.len())?);
        Ok(())
    }

    /// Copies to the device.
    pub fn write(&mut self, address: u64, from: &[u8]) -> Result<(), MemoryError> {
        self.bytes_mut(address, from.len())?.copy_from_slice(from);
        Ok(())
    }

    /// The `len` bytes at `address`, which lie in one allocation.
    pub fn bytes(&self, address: u64, len: usize) -> Result<&[u8], MemoryError> {
        self.allocations
            .range(..=address)
            .next_back()
            .and_then(|(base, bytes)| bytes.get(range(*base, address, len)?))
            .ok_or_else(|| self.missing(address, len))
    }

    /// The `len` bytes at `address`, which lie in one allocation.
    pub fn bytes_mut(&mut self, address: u64, len: usize) -> Result<&mut [u8], MemoryError> {
        // Found twice, since what is found to change cannot be given back to say what is near.
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

/// The part of an allocation that an access covers, unless it begins before it.
fn range(base: u64, address: u64, len: usize) -> Option<std::ops::Range<usize>> {
    let start = usize::try_from(address.checked_sub(base)?).ok()?;
    Some(start..start.checked_add(len)?)
}
