//! Queues of asynchronous operations that are not complete. An operation of a thread, the oldest one and a random one are
//! each found in logarithmic time.

use super::knowledge::Heard;
use super::origin::Thread;
use crate::error::FaultKind;
use crate::exec::random::Random;
use crate::limits::hold;
use std::collections::BTreeMap;

/// The key of an operation: its thread, and its number in the queue.
pub(crate) type Key = (Thread, u64);

/// Operations that are not complete. The operations of a thread are in the order of their start. So those in a group come first,
/// and group numbers ascend.
pub(crate) struct Queue<T> {
    operations: BTreeMap<Key, Operation<T>>,
    /// The thread of each operation, by the operation's number.
    threads: BTreeMap<u64, Thread>,
    next: u64,
}

/// An operation, and the number of its group if the thread has committed it.
pub(crate) struct Operation<T> {
    pub(crate) group: Option<u64>,
    pub(crate) is: T,
}

impl<T> Queue<T> {
    pub(crate) fn new() -> Queue<T> {
        Queue {
            operations: BTreeMap::new(),
            threads: BTreeMap::new(),
            next: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.operations.len()
    }

    /// The number that the next operation gets.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    pub(crate) fn push(&mut self, thread: Thread, is: T) {
        let (key, group) = ((thread, self.next), None);
        self.next += 1;
        self.insert(key, Operation { group, is });
    }

    /// Adds an operation that had this key in another queue.
    pub(crate) fn insert(&mut self, key: Key, operation: Operation<T>) {
        self.threads.insert(key.1, key.0);
        self.operations.insert(key, operation);
    }

    pub(crate) fn remove(&mut self, key: Key) -> Option<Operation<T>> {
        self.threads.remove(&key.1);
        self.operations.remove(&key)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.operations.values().map(|operation| &operation.is)
    }

    pub(crate) fn oldest(&self) -> Option<Key> {
        let (number, thread) = self.threads.first_key_value()?;
        Some((*thread, *number))
    }

    /// A random operation. Every operation has a chance, but the chances differ.
    pub(crate) fn any(&self, random: &mut Random) -> Option<Key> {
        let ((first, _), (last, _)) = (
            self.threads.first_key_value()?,
            self.threads.last_key_value()?,
        );
        let from = first + random.next() % (last - first + 1);
        let (number, thread) = self.threads.range(from..).next()?;
        Some((*thread, *number))
    }

    /// The first operation of a thread, if its number is below `end`.
    pub(crate) fn first_of(&self, thread: Thread, end: u64) -> Option<Key> {
        let (key, _) = self.operations.range((thread, 0)..(thread, end)).next()?;
        Some(*key)
    }

    /// The first operation of a thread, if its group is below `done`.
    pub(crate) fn first_committed(&self, thread: Thread, done: u64) -> Option<Key> {
        let mut range = self.operations.range((thread, 0)..=(thread, u64::MAX));
        let (key, operation) = range.next()?;
        (operation.group? < done).then_some(*key)
    }

    /// Commits the operations of a thread without a group to this group.
    pub(crate) fn commit(&mut self, thread: Thread, group: u64) {
        self.operations
            .range_mut((thread, 0)..=(thread, u64::MAX))
            .rev()
            .map_while(|(_, operation)| match &mut operation.group {
                Some(_) => None,
                none => Some(none),
            })
            .for_each(|none| *none = Some(group));
    }
}

/// The host memory of asynchronous operations that are not complete, in bytes, and the limit.
pub(crate) struct Budget {
    bytes: u64,
    limit: u64,
}

/// The bytes charged for an operation in addition to its [`Heard`]: an upper bound for every kind of operation.
const OPERATION_BYTES: u64 = 512;

impl Budget {
    pub(crate) fn new(limit: u64) -> Budget {
        Budget { bytes: 0, limit }
    }

    /// Charges an operation with this knowledge; an error if the limit is exceeded.
    pub(crate) fn begin(&mut self, heard: &Heard) -> Result<(), FaultKind> {
        self.bytes += bytes(heard);
        let what = "bytes for asynchronous operations that are not complete";
        hold(what, self.bytes, self.limit).map_err(FaultKind::OverLimit)
    }

    /// Charges bytes of local memory; an error if the limit is exceeded.
    pub(crate) fn take(&mut self, bytes: u64) -> Result<(), FaultKind> {
        self.bytes += bytes;
        let what = "bytes for asynchronous operations and for nested calls";
        hold(what, self.bytes, self.limit).map_err(FaultKind::OverLimit)
    }

    /// Returns the bytes that [`take`](Budget::take) charged.
    pub(crate) fn give(&mut self, bytes: u64) {
        self.bytes -= bytes;
    }

    /// Returns the bytes that [`begin`](Budget::begin) charged for the operation.
    pub(crate) fn end(&mut self, heard: &Heard) {
        self.bytes -= bytes(heard);
    }
}

fn bytes(heard: &Heard) -> u64 {
    OPERATION_BYTES + heard.bytes()
}
