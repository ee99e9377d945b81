//! Asynchronous copies that are not complete.

use super::endpoint::Endpoint;
use super::knowledge::{Knowledge, Phases};
use super::origin::{Origin, Thread};
use super::queue::Queue;
use crate::error::FaultKind;
use crate::op::{Binary, Code, SHARED_BASE};
use crate::tensor_map::CHUNK_BYTES;
use std::ops::Range;

/// A bulk copy into shared memory. Each CTA of `ranks` receives it at the same address, and completes the bytes on its own
/// mbarrier at the address `barrier`.
pub(crate) struct CopyIn {
    pub(crate) origin: Origin,
    pub(crate) ranks: Vec<usize>,
    pub(crate) to: u64,
    pub(crate) from: Endpoint,
    pub(crate) barrier: u32,
    /// The phases that the warp knew to be complete when it started the copy.
    pub(crate) phases: Phases,
}

/// The `cp.async` of one lane.
pub(crate) struct LaneCopy {
    pub(crate) origin: Origin,
    /// The rank of the CTA, and the address in its shared memory.
    pub(crate) to: (usize, u64),
    pub(crate) from: u64,
    pub(crate) bytes: usize,
    pub(crate) source_bytes: usize,
}

/// A `cp.async.mbarrier.arrive` of one lane. It follows those of the lane's `cp.async` whose number in their queue is below
/// `after`.
pub(crate) struct Arrival {
    pub(crate) origin: Origin,
    /// The rank of the CTA, and the address of the mbarrier.
    pub(crate) barrier: (usize, u32),
    pub(crate) after: u64,
}

/// A reduction: the function of the old and the new element, and the bytes of an element.
pub(crate) type Update = (Binary, usize);

/// A bulk store (a bulk copy out of shared memory) that has not read its source.
pub(crate) struct CopyOut {
    pub(crate) origin: Origin,
    pub(crate) to: Endpoint,
    pub(crate) from: u64,
    pub(crate) reduction: Option<Update>,
    /// What the warp knew when it started the store.
    pub(crate) knowledge: Knowledge,
}

/// A bulk store that has read its source into `data` and has not written it.
pub(crate) struct CopyRead {
    pub(crate) origin: Origin,
    pub(crate) to: Endpoint,
    pub(crate) from: u64,
    pub(crate) reduction: Option<Update>,
    pub(crate) data: Vec<u8>,
}

/// The bulk stores of a CTA that are not complete.
pub(crate) struct Stores {
    /// Those that have not read their source.
    pub(crate) reading: Queue<CopyOut>,
    /// Those that have read their source and have not written it.
    pub(crate) writing: Queue<CopyRead>,
    /// The bytes of data of those in `writing`.
    pub(crate) held: usize,
    /// For each unit of [`CHUNK_BYTES`] of shared memory, how many stores in `reading` read it. Empty before the first
    /// store.
    pub(crate) readers: Vec<u32>,
}

impl Stores {
    pub(crate) fn new() -> Stores {
        Stores {
            reading: Queue::new(),
            writing: Queue::new(),
            held: 0,
            readers: Vec::new(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.reading.len() + self.writing.len()
    }

    pub(crate) fn commit(&mut self, thread: Thread, group: u64) {
        self.reading.commit(thread, group);
        self.writing.commit(thread, group);
    }

    /// An error if a store has not yet read one of these bytes, which are about to be written.
    pub(crate) fn check(
        &self,
        range: &Range<usize>,
        code: &Code,
    ) -> std::result::Result<(), FaultKind> {
        let written = units(range);
        let readers = self.readers.get(written.clone()).unwrap_or(&[]);
        if readers.iter().all(|readers| *readers == 0) {
            return Ok(());
        }
        let reads = |store: &&CopyOut| {
            let read = store.units();
            read.start < written.end && written.start < read.end
        };
        match self.reading.iter().find(reads) {
            None => Ok(()),
            Some(store) => Err(FaultKind::StoreInFlight {
                address: range.start as u64 + u64::from(SHARED_BASE),
                other: code.other(store.origin.instruction),
            }),
        }
    }
}

impl CopyOut {
    /// The units of shared memory that the store reads.
    pub(crate) fn units(&self) -> Range<usize> {
        let start = (self.from - u64::from(SHARED_BASE)) as usize;
        units(&(start..start + self.to.bytes() as usize))
    }
}

/// The units that a range of bytes overlaps.
fn units(range: &Range<usize>) -> Range<usize> {
    range.start / CHUNK_BYTES..range.end.div_ceil(CHUNK_BYTES)
}
