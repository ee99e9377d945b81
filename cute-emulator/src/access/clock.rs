//! What has ended at a moment, on each stream.

use std::collections::BTreeMap;

/// For each stream, how many of its operations have ended, from the first on. A stream that is not listed has none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clock(BTreeMap<u64, u64>);

impl Clock {
    /// Whether the operation of this number, from 1, has ended.
    pub(crate) fn has(&self, stream: u64, number: u64) -> bool {
        self.0.get(&stream).is_some_and(|ended| number <= *ended)
    }

    /// Records that the operations of a stream have ended, up to one of this number.
    pub(crate) fn reach(&mut self, stream: u64, number: u64) {
        let ended = self.0.entry(stream).or_default();
        *ended = number.max(*ended);
    }

    pub(crate) fn join(&mut self, other: &Clock) {
        for (stream, number) in &other.0 {
            self.reach(*stream, *number);
        }
    }
}

/// A point in the work of a stream: everything that was enqueued on it before, and all that this happens after. A recorded event of the
/// CUDA driver has one. [`GlobalMemory::record`](crate::GlobalMemory::record) makes it, and it has a meaning in that memory alone.
#[derive(Clone, Debug)]
pub struct Point(pub(crate) Clock);

impl Point {
    /// Whether all that has ended at the other point of the same memory has ended at this one: who waits for this point has no need to
    /// wait for the other.
    pub fn includes(&self, other: &Point) -> bool {
        let of_other = other.0.0.iter();
        { of_other }.all(|(stream, number)| *number == 0 || self.0.has(*stream, *number))
    }
}
