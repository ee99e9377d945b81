//! Where tensors, barriers and scratch lie in shared memory.
//!
//! Bytes of shared memory are reused for the same purpose only: tensors reuse bytes of tensors, with a barrier of the user in between;
//! scratch of an operation reuses scratch of the same threads and size, and then begins with a barrier of these threads. Branches of a
//! run-time `if` share no bytes, since warps may run both at once, and keep their bytes to the end of the surrounding block.

use std::ops::Range;

/// The purpose of an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Mbarriers. They are initialised before the kernel starts and stay for good.
    Barriers,
    /// A tensor of the kernel.
    Tensor,
    /// Values that `threads` threads exchange. The operation begins with a barrier of these threads if the bytes have been used before.
    Scratch {
        /// The threads that wait for one another.
        threads: u32,
        /// The size in bytes.
        bytes: u32,
    },
}

/// The shared memory of a kernel, while it is laid out.
///
/// An allocation reuses free bytes, but only those of an allocation with the same purpose: a barrier in the user's code orders the uses of
/// tensors, and the barrier of an operation the uses of its scratch.
#[derive(Default)]
pub struct SharedMemory {
    allocations: Vec<Allocation>,
}

struct Allocation {
    bytes: Range<u32>,
    purpose: Purpose,
    reserved: bool,
}

/// A moment during the expansion.
#[derive(Clone, Copy)]
pub struct Moment(usize);

impl SharedMemory {
    /// Reserves the first free bytes with this alignment, of `most` bytes. If they do not fit, the error is their first byte.
    pub fn allocate(
        &mut self,
        size: u32,
        align: u32,
        purpose: Purpose,
        most: u32,
    ) -> Result<u32, u32> {
        let blocks = |it: &&Allocation| it.reserved || it.purpose != purpose;
        let taken = self.allocations.iter().filter(blocks);
        let mut taken: Vec<Range<u32>> = taken.map(|it| it.bytes.clone()).collect();
        taken.sort_by_key(|bytes| bytes.start);
        let mut start = 0u32;
        for bytes in taken {
            if start.saturating_add(size) <= bytes.start {
                break;
            }
            start = start.max(bytes.end).next_multiple_of(align);
        }
        let end = start.checked_add(size);
        let end = end.filter(|end| *end <= most).ok_or(start)?;
        self.allocations.push(Allocation {
            bytes: start..end,
            purpose,
            reserved: true,
        });
        Ok(start)
    }

    /// Whether bytes belong to several allocations, one after another.
    pub fn is_shared(&self, bytes: &Range<u32>) -> bool {
        let overlaps = |it: &&Allocation| it.bytes.start < bytes.end && bytes.start < it.bytes.end;
        self.allocations.iter().filter(overlaps).count() > 1
    }

    /// The allocation with this byte: of several at different times, the last.
    pub fn around(&self, byte: u32) -> Option<Range<u32>> {
        let mut last = self.allocations.iter().rev();
        let found = last.find(|it| it.bytes.contains(&byte))?;
        Some(found.bytes.clone())
    }

    /// Now.
    pub fn now(&self) -> Moment {
        Moment(self.allocations.len())
    }

    /// Whether nothing has been reserved since a moment.
    pub fn is_unchanged_since(&self, since: Moment) -> bool {
        self.allocations.len() == since.0
    }

    /// Frees all tensors and scratch allocated since a moment, except allocations with one of these bytes.
    pub fn free_since(&mut self, since: Moment, keep: &[u32]) {
        for it in &mut self.allocations[since.0..] {
            let kept = keep.iter().any(|byte| it.bytes.contains(byte));
            it.reserved = kept || it.purpose == Purpose::Barriers;
        }
    }

    /// Reserves again all bytes that have been in use since a moment.
    pub fn reserve_since(&mut self, since: Moment) {
        for it in &mut self.allocations[since.0..] {
            it.reserved = true;
        }
    }

    /// The end of all bytes ever reserved.
    pub fn end(&self) -> u32 {
        let ends = self.allocations.iter().map(|it| it.bytes.end);
        ends.max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: u32 = 1 << 16;

    #[test]
    fn free_bytes_are_reused_for_the_same_purpose() {
        let mut memory = SharedMemory::default();
        let tensor = |memory: &mut SharedMemory, size| {
            memory.allocate(size, 128, Purpose::Tensor, MOST).unwrap()
        };
        assert_eq!(memory.allocate(8, 8, Purpose::Barriers, MOST), Ok(0));
        let start = memory.now();
        assert_eq!(tensor(&mut memory, 100), 128);
        assert_eq!(tensor(&mut memory, 1000), 256);
        // The bytes of the second stay.
        memory.free_since(start, &[260]);
        assert_eq!(tensor(&mut memory, 128), 128);
        assert_eq!(tensor(&mut memory, 129), 1280);
        memory.free_since(start, &[]);
        // Barriers come neither where a tensor has been, nor does scratch.
        assert_eq!(memory.allocate(16, 8, Purpose::Barriers, MOST), Ok(8));
        let purpose = Purpose::Scratch {
            threads: 128,
            bytes: 256,
        };
        assert_eq!(memory.allocate(256, 128, purpose, MOST), Ok(1536));
        assert_eq!(memory.end(), 1792);
        memory.free_since(start, &[]);
        assert_eq!(memory.allocate(256, 128, purpose, MOST), Ok(1536));
        assert_eq!(tensor(&mut memory, 1409), 1792);
        assert!(memory.is_shared(&(1536..1540)));
        assert!(!memory.is_shared(&(0..8)));
    }

    #[test]
    fn branches_do_not_share() {
        let mut memory = SharedMemory::default();
        let start = memory.now();
        memory.allocate(512, 128, Purpose::Tensor, MOST).unwrap();
        memory.free_since(start, &[]);
        memory.reserve_since(start);
        assert_eq!(memory.allocate(512, 128, Purpose::Tensor, MOST), Ok(512));
        assert_eq!(memory.allocate(MOST, 128, Purpose::Tensor, MOST), Err(1024));
    }
}
