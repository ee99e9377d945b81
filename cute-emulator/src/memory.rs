//! Global memory. Allocations lie at least 1 MiB apart, so an access past the end of one does not hit another.

use crate::access::clock::Point;
use crate::access::streams::Streams;
use crate::error::{AllocError, EmulatorError, FreeError, HostWork, MemoryError, Nearest};
use crate::limits::{Limits, filled};
use crate::windows::SHARED_WINDOW;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// The address of the first allocation.
const FIRST_ADDRESS: u64 = 0x7f00_0000_0000;
/// At least this many unallocated bytes follow each allocation.
const GUARD_BYTES: u64 = 1 << 20;
/// Allocations start at multiples of 256 bytes, as in the driver.
const MIN_ALIGN: u64 = 256;
/// The bytes that an allocation counts in addition to its own, for the host's record of it.
const RECORD_BYTES: u64 = 256;
/// New allocations are filled with this byte, which makes every floating-point value in them a NaN.
const POISON: u8 = 0xff;

/// The memory of an emulated device.
#[derive(Debug)]
pub struct GlobalMemory {
    allocations: BTreeMap<u64, Allocation>,
    /// The least address of the next allocation.
    next: u64,
    /// How many of the `limit` bytes are not allocated.
    free: u64,
    limit: u64,
    /// The modules with variables in this memory, and the address of the variables.
    modules: Vec<(Arc<()>, u64)>,
    /// The text that kernels have printed.
    output: String,
    /// The launches and copies that may still run when the next one begins.
    pub(crate) streams: Streams,
}

#[derive(Debug)]
struct Allocation {
    bytes: Vec<u8>,
    written: Written,
}

/// The bytes of an allocation that have been written.
#[derive(Debug)]
struct Written {
    /// One bit for each byte; empty if all have been written.
    bits: Vec<u64>,
    /// How many bytes have not been written.
    left: usize,
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
            streams: Streams::default(),
        }
    }

    /// The text that kernels have printed by `printf` since the last call: at most [`Limits::output_bytes`](Limits) of it.
    pub fn take_output(&mut self) -> String {
        std::mem::take(&mut self.output)
    }

    /// The host waits for all launches and copies on all streams: whatever it enqueues later happens after them, also a launch that
    /// [overlaps](crate::Launch::overlaps).
    pub fn synchronize(&mut self) {
        self.streams.synchronize();
    }

    /// The host waits for a point: whatever it enqueues later, on any stream, happens after it.
    pub fn synchronize_with(&mut self, point: &Point) {
        self.streams.synchronize_with(point);
    }

    /// Announces a stream other than stream 0, by a number that no other stream of this memory has or has had.
    ///
    /// A stream is a queue of launches and copies, which run one after the other. The work of different streams has no order, except by a
    /// [`Point`] that one stream [records](GlobalMemory::record) and the other one [waits](GlobalMemory::wait) for, and by the host's
    /// waits. Stream 0 waits for no other stream by itself, unlike the legacy default stream of the CUDA driver. The emulator runs
    /// everything at once, in the order of the calls. But an access that conflicts with one of a launch or copy on another stream,
    /// without such an order, is an error, whichever was called first. Two accesses conflict if they share a byte, unless both read, or
    /// both are atomics or strong accesses of scope `.gpu` or `.sys`. Launches without [`Checks::global`](crate::Checks::global) are left
    /// out.
    ///
    /// From this call on, the accesses of all streams are remembered: of each stream the last 16 launches and copies that the host has
    /// not waited for, in all up to [`Limits::recorded_bytes`] of the last launch. Older ones count as ended, and so do those before
    /// this call, but for the last one: so it comes before work on stream 0 that the new stream may race with. With stream 0 alone, no
    /// more than the last launch is remembered. A number that was not announced is announced when it is first used.
    pub fn add_stream(&mut self, stream: u64) {
        self.streams.add(stream);
    }

    /// The present point of a stream: everything enqueued on it so far, and all that this happens after.
    ///
    /// ```
    /// use cute_emulator::{EmulatorError, GlobalMemory};
    ///
    /// let mut memory = GlobalMemory::new();
    /// let address = memory.alloc(4, 4)?;
    /// memory.add_stream(1);
    /// memory.write_on(0, address, &[1; 4])?;
    /// let written = memory.record(0);
    ///
    /// let mut bytes = [0; 4];
    /// let error = memory.read_on(1, address, &mut bytes).unwrap_err();
    /// assert!(matches!(error, EmulatorError::StreamRace { .. }));
    ///
    /// memory.wait(1, &written);
    /// memory.read_on(1, address, &mut bytes)?;
    /// # Ok::<(), EmulatorError>(())
    /// ```
    pub fn record(&mut self, stream: u64) -> Point {
        self.streams.record(stream)
    }

    /// Whatever is enqueued on the stream later happens after the point.
    pub fn wait(&mut self, stream: u64, point: &Point) {
        self.streams.wait(stream, point);
    }

    /// Adds text that a kernel prints, up to `most` bytes in all; the rest is lost.
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
    /// The allocation would exceed [`Limits::memory_bytes`] (it counts 256 bytes in addition to its own), no address with this alignment
    /// is left, or the host cannot allocate the memory.
    pub fn alloc(&mut self, bytes: usize, align: u64) -> Result<u64, AllocError> {
        let size = bytes as u64;
        let counted = size.saturating_add(RECORD_BYTES);
        let no_address = AllocError::NoAddress { bytes: size, align };
        if counted > self.free {
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
        let allocation = Allocation {
            bytes: filled(bytes, POISON)?,
            written: Written::new(bytes)?,
        };
        self.allocations.insert(address, allocation);
        self.next = end;
        self.free -= counted;
        Ok(address)
    }

    /// Frees the allocation that starts at `address`; an error if none starts there.
    pub fn free(&mut self, address: u64) -> Result<(), FreeError> {
        let removed = self.allocations.remove(&address);
        let size = removed.ok_or(FreeError { address })?.bytes.len() as u64;
        self.free += size + RECORD_BYTES;
        Ok(())
    }

    /// Like [`free`](GlobalMemory::free), as work of a stream.
    ///
    /// # Errors
    ///
    /// No allocation begins at `address`, or another stream accesses its bytes and the free does not happen after that.
    pub fn free_on(&mut self, stream: u64, address: u64) -> Result<(), EmulatorError> {
        let allocation = self.allocations.get(&address);
        let bytes = allocation.ok_or(FreeError { address })?.bytes.len() as u64;
        self.enqueue(stream, HostWork::Free, address..address + bytes)?;
        Ok(self.free(address)?)
    }

    /// Copies the bytes at `address` to the host. They must lie in one allocation. The copy is of no stream: the caller
    /// [synchronizes](GlobalMemory::synchronize) before it.
    pub fn read(&self, address: u64, into: &mut [u8]) -> Result<(), MemoryError> {
        into.copy_from_slice(self.bytes(address, into.len())?);
        Ok(())
    }

    /// Like [`read`](GlobalMemory::read), as work of a stream. It returns at once, but the host has not waited for it.
    ///
    /// # Errors
    ///
    /// The bytes are not in one allocation, or another stream writes them and the copy does not happen after that.
    pub fn read_on(
        &mut self,
        stream: u64,
        address: u64,
        into: &mut [u8],
    ) -> Result<(), EmulatorError> {
        let bytes = self.bytes(address, into.len())?.len() as u64;
        self.enqueue(stream, HostWork::CopyToHost, address..address + bytes)?;
        Ok(self.read(address, into)?)
    }

    /// Copies bytes of the host to `address`. The destination must lie in one allocation. The copy is of no stream, as that of
    /// [`read`](GlobalMemory::read).
    pub fn write(&mut self, address: u64, from: &[u8]) -> Result<(), MemoryError> {
        self.bytes_mut(address, from.len())?.copy_from_slice(from);
        Ok(())
    }

    /// Like [`write`](GlobalMemory::write), as work of a stream. The host has not waited for it.
    ///
    /// # Errors
    ///
    /// The bytes are not in one allocation, or another stream accesses them and the copy does not happen after that.
    pub fn write_on(
        &mut self,
        stream: u64,
        address: u64,
        from: &[u8],
    ) -> Result<(), EmulatorError> {
        let bytes = self.bytes(address, from.len())?.len() as u64;
        self.enqueue(stream, HostWork::CopyFromHost, address..address + bytes)?;
        Ok(self.write(address, from)?)
    }

    /// Work of others on a stream that may read and write the `len` bytes at `address`: it is remembered, and the caller does it. The bytes
    /// must lie in one allocation.
    ///
    /// # Errors
    ///
    /// The bytes are not in one allocation, or another stream accesses them and the work does not happen after that.
    pub fn others_on(
        &mut self,
        stream: u64,
        address: u64,
        len: usize,
    ) -> Result<(), EmulatorError> {
        let bytes = self.bytes(address, len)?.len() as u64;
        self.enqueue(stream, HostWork::Others, address..address + bytes)
    }

    fn enqueue(
        &mut self,
        stream: u64,
        work: HostWork,
        range: Range<u64>,
    ) -> Result<(), EmulatorError> {
        let enqueued = self.streams.host(stream, work, range);
        enqueued.map_err(|race| EmulatorError::StreamRace {
            work,
            race: Box::new(race),
        })
    }

    /// The `len` bytes at `address`. They must lie in one allocation.
    pub fn bytes(&self, address: u64, len: usize) -> Result<&[u8], MemoryError> {
        self.allocations
            .range(..=address)
            .next_back()
            .and_then(|(base, allocation)| allocation.bytes.get(range(*base, address, len)?))
            .ok_or_else(|| self.missing(address, len))
    }

    /// The address of the first of `len` bytes that neither the host nor a kernel has written. The bytes must lie in one
    /// allocation.
    pub(crate) fn unwritten(&self, address: u64, len: usize) -> Option<u64> {
        let (base, allocation) = self.allocations.range(..=address).next_back()?;
        let range = range(*base, address, len)?;
        Some(base + allocation.written.first_unwritten(range)? as u64)
    }

    /// The `len` bytes at `address`, which count as written from now on. They must lie in one allocation.
    pub fn bytes_mut(&mut self, address: u64, len: usize) -> Result<&mut [u8], MemoryError> {
        // The first check uses a shared borrow: `missing` cannot read the map during a mutable borrow.
        self.bytes(address, len)?;
        self.allocations
            .range_mut(..=address)
            .next_back()
            .and_then(|(base, allocation)| {
                let range = range(*base, address, len)?;
                allocation.written.add(range.clone());
                allocation.bytes.get_mut(range)
            })
            .ok_or(MemoryError {
                address,
                bytes: len as u64,
                nearest: None,
            })
    }

    fn missing(&self, address: u64, len: usize) -> MemoryError {
        let distance = |(base, allocation): &(&u64, &Allocation)| {
            let end = **base + allocation.bytes.len() as u64;
            if address < **base {
                **base - address
            } else {
                address.saturating_sub(end)
            }
        };
        let before = self.allocations.range(..=address).next_back();
        let after = self.allocations.range(address..).next();
        let nearest =
            before
                .into_iter()
                .chain(after)
                .min_by_key(distance)
                .map(|(base, allocation)| Nearest {
                    base: *base,
                    bytes: allocation.bytes.len() as u64,
                    offset: address.wrapping_sub(*base) as i64,
                });
        MemoryError {
            address,
            bytes: len as u64,
            nearest,
        }
    }
}

impl Written {
    fn new(bytes: usize) -> Result<Written, AllocError> {
        Ok(Written {
            bits: filled(bytes.div_ceil(u64::BITS as usize), 0)?,
            left: bytes,
        })
    }

    fn add(&mut self, range: Range<usize>) {
        if self.left == 0 {
            return;
        }
        for (word, mask) in words(range) {
            self.left -= (mask & !self.bits[word]).count_ones() as usize;
            self.bits[word] |= mask;
        }
        if self.left == 0 {
            self.bits = Vec::new();
        }
    }

    fn first_unwritten(&self, range: Range<usize>) -> Option<usize> {
        if self.left == 0 {
            return None;
        }
        words(range).find_map(|(word, mask)| {
            let missing = mask & !self.bits[word];
            let bit = word * u64::BITS as usize + missing.trailing_zeros() as usize;
            (missing != 0).then_some(bit)
        })
    }
}

/// The 64-bit words that contain the bits of a range, each with a mask of these bits.
fn words(range: Range<usize>) -> impl Iterator<Item = (usize, u64)> {
    let bits = u64::BITS as usize;
    (range.start / bits..range.end.div_ceil(bits)).map(move |word| {
        let first = range.start.saturating_sub(word * bits);
        let last = bits.min(range.end - word * bits);
        (word, u64::MAX << first & u64::MAX >> (bits - last))
    })
}

/// The part of an allocation that an access covers; `None` if the access begins before the allocation.
fn range(base: u64, address: u64, len: usize) -> Option<Range<usize>> {
    let start = usize::try_from(address.checked_sub(base)?).ok()?;
    Some(start..start.checked_add(len)?)
}
