//! Copies that are under way.

use super::endpoint::Endpoint;
use super::knowledge::Knowledge;
use super::origin::{Origin, Thread};
use super::queue::Queue;
use crate::error::FaultKind;
use crate::op::{Binary, Code, SHARED_BASE};
use crate::tensor_map::CHUNK_BYTES;
use std::ops::Range;

/// A copy into the shared memory of each CTA of these ranks, at the same address, with the same mbarrier.
pub(crate) struct CopyIn {
    pub(crate) origin: Origin,
    pub(crate) ranks: Vec<usize>,
    pub(crate) to: u64,
    pub(crate) from: Endpoint,
    pub(crate) barrier: u32,
}

/// A `cp.async`.
pub(crate) struct LaneCopy {
    pub(crate) origin: Origin,
    pub(crate) to: (usize, u64),
    pub(crate) from: u64,
    pub(crate) bytes: usize,
    pub(crate) source_bytes: usize,
}

/// An arrival that follows those of the lane's `cp.async`s whose number is below `after`.
pub(crate) struct Arrival {
    pub(crate) origin: Origin,
    pub(crate) barrier: (usize, u32),
    pub(crate) after: u64,
}

/// What becomes of an old element and a new one, and the bytes of an element.
pub(crate) type Update = (Binary, usize);

/// A copy out of shared memory that has not read its source.
pub(crate) struct CopyOut {
    pub(crate) origin: Origin,
    pub(crate) to: Endpoint,
    pub(crate) from: u64,
    pub(crate) reduction: Option<Update>,
    /// What was known when it was asked for.
    pub(crate) knowledge: Knowledge,
}

/// One that has read it and has not written.
pub(crate) struct CopyRead {
    pub(crate) origin: Origin,
    pub(crate) to: Endpoint,
    pub(crate) from: u64,
    pub(crate) reduction: Option<Update>,
    pub(crate) data: Vec<u8>,
}

/// The copies out of the shared memory of a CTA that are not complete.
pub(crate) struct Stores {
    pub(crate) reading: Queue<CopyOut>,
    pub(crate) writing: Queue<CopyRead>,
    /// Bytes of what is to be written.
    pub(crate) held: usize,
    /// For each unit of shared memory: how many stores have yet to read it. Empty before the first store.
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

    /// Whether a write to these bytes of shared memory would change what a store has yet to read.
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
    /// The units of shared memory that it reads.
    pub(crate) fn units(&self) -> Range<usize> {
        let start = (self.from - u64::from(SHARED_BASE)) as usize;
        units(&(start..start + self.to.bytes() as usize))
    }
}

/// The units of which a part lies in a range of bytes.
fn units(range: &Range<usize>) -> Range<usize> {
    range.start / CHUNK_BYTES..range.end.div_ceil(CHUNK_BYTES)
}
