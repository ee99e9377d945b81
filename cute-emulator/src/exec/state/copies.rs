//! Asynchronous copies that are not complete.

use super::endpoint::Endpoint;
use super::knowledge::{Heard, Knowledge};
use super::origin::{Origin, Thread};
use super::queue::Queue;
use super::readers::{AsyncRead, Completion};
use crate::op::Binary;
use std::rc::Rc;

/// A bulk copy into shared memory. Each CTA of `ranks` receives it at the same address, and completes the bytes on its own
/// mbarrier at the address `barrier`.
pub(crate) struct CopyIn {
    pub(crate) origin: Origin,
    pub(crate) ranks: Vec<usize>,
    pub(crate) to: u64,
    pub(crate) from: Endpoint,
    pub(crate) barrier: u32,
    /// The events that the warp had heard of when it started the copy.
    pub(crate) heard: Heard,
    /// The read of the source; `None` if no CTA receives the copy.
    pub(crate) read: Option<Rc<Completion>>,
}

/// The `cp.async` of one lane.
pub(crate) struct LaneCopy {
    pub(crate) origin: Origin,
    /// The rank of the CTA, and the address in its shared memory.
    pub(crate) to: (usize, u64),
    pub(crate) from: u64,
    pub(crate) bytes: usize,
    pub(crate) source_bytes: usize,
    /// The read of the source, shared by the instruction's lanes.
    pub(crate) read: Rc<Completion>,
}

/// A `cp.async.mbarrier.arrive` of one lane. It follows the lane's `cp.async` operations whose queue numbers are below `after`.
pub(crate) struct Arrival {
    pub(crate) origin: Origin,
    /// The rank of the CTA, and the address of the mbarrier.
    pub(crate) barrier: (usize, u32),
    pub(crate) after: u64,
    /// The knowledge of the warp when it executed the instruction.
    pub(crate) knowledge: Knowledge,
}

/// A reduction: the function of the old and the new element, and the bytes of an element.
pub(crate) type Update = (Binary, usize);

/// A bulk store (a bulk copy out of shared memory) that has not read its source.
pub(crate) struct CopyOut {
    pub(crate) origin: Origin,
    pub(crate) to: Endpoint,
    pub(crate) from: u64,
    pub(crate) reduction: Option<Update>,
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
    /// Stores that have not read their source.
    pub(crate) reading: Queue<CopyOut>,
    /// Stores that have read their source and have not written it.
    pub(crate) writing: Queue<CopyRead>,
    /// The bytes of data held by `writing`.
    pub(crate) held: usize,
    /// The reads of stores for which the thread has executed no wait, neither with `.read` nor without.
    pub(crate) unwaited: Queue<Rc<AsyncRead>>,
    /// The writes of stores for which the thread has not executed a wait without `.read`.
    pub(crate) unwaited_writes: Queue<Rc<Completion>>,
}

impl Stores {
    pub(crate) fn new() -> Stores {
        Stores {
            reading: Queue::new(),
            writing: Queue::new(),
            held: 0,
            unwaited: Queue::new(),
            unwaited_writes: Queue::new(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.reading.len() + self.writing.len()
    }

    pub(crate) fn commit(&mut self, thread: Thread, group: u64) {
        self.reading.commit(thread, group);
        self.writing.commit(thread, group);
        self.unwaited.commit(thread, group);
        self.unwaited_writes.commit(thread, group);
    }
}
