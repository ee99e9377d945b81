//! Global memory: allocations far enough apart that a stray access meets none of them.

use crate::error::{MemoryError, Nearest};
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
    next: u64,
}

impl Default for GlobalMemory {
    fn default() -> Self {
        GlobalMemory {
            allocations: BTreeMap::new(),
            next: FIRST_ADDRESS,
        }
    }
}

impl GlobalMemory {
    /// A device on which nothing is allocated.
    pub fn new() -> GlobalMemory {
        GlobalMemory::default()
    }

    /// Allocates `bytes` at a multiple of `align` (at least 256, rounded up to a power of two). An address is never given twice.
    pub fn alloc(&mut self, bytes: usize, align: u64) -> u64 {
        let align = align
            .max(MIN_ALIGN)
            .checked_next_power_of_two()
            .unwrap_or(MIN_ALIGN);
        let address = self.next.next_multiple_of(align);
        self.next = address + bytes as u64 + GUARD_BYTES;
        self.allocations.insert(address, vec![POISON; bytes]);
        address
    }

    /// Frees the allocation that starts at `address`.
    pub fn free(&mut self, address: u64) -> Result<(), MemoryError> {
        match self.allocations.remove(&address) {
            Some(_) => Ok(()),
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
            .and_then(|(base, bytes)| {
                slice(*base, bytes.len(), address, len).map(|range| &bytes[range])
            })
            .ok_or_else(|| self.missing(address, len))
    }

    /// The `len` bytes at `address`, which lie in one allocation.
    pub fn bytes_mut(&mut self, address: u64, len: usize) -> Result<&mut [u8], MemoryError> {
        let missing = self.missing(address, len);
        self.allocations
            .range_mut(..=address)
            .next_back()
            .and_then(|(base, bytes)| {
                slice(*base, bytes.len(), address, len).map(|range| &mut bytes[range])
            })
            .ok_or(missing)
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

/// The part of an allocation that an access covers, if it lies in it.
fn slice(base: u64, size: usize, address: u64, len: usize) -> Option<std::ops::Range<usize>> {
    let start = usize::try_from(address.checked_sub(base)?).ok()?;
    let end = start.checked_add(len)?;
    (end <= size).then_some(start..end)
}
