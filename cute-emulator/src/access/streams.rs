//! The streams of a device, and the operations on them that may still run: launches and copies of the host.
//!
//! The emulator runs each operation at once, in the order of the calls. On a device, only three things order two operations: the order of
//! one stream, events, and the host, which waits and then enqueues. So each stream has a vector clock of the operations that have ended
//! before its next one begins. The bytes that operations access are remembered, and an access is checked against those of the
//! operations that may run at the same time.
//!
//! Also in the order of one stream, a grid launched with programmatic stream serialization can begin while earlier grids run. Only a
//! thread that has executed `griddepcontrol.wait` knows that the previous grid has ended (PTX ISA, section `griddepcontrol`).

use super::clock::{Clock, Point};
use super::touched::{Touched, Way};
use crate::error::{HostWork, StreamRace, Work};
use crate::op::Code;
use std::collections::BTreeMap;
use std::fmt::{self, Debug, Formatter};
use std::ops::Range;
use std::sync::Arc;

/// The most operations of a stream that are remembered. Beyond this number, or beyond the limit of bytes, the oldest count as ended.
const MOST_OPERATIONS: usize = 16;

/// The streams, and what is remembered of their operations.
#[derive(Debug)]
pub(crate) struct Streams {
    streams: BTreeMap<u64, Stream>,
    /// The operations that may still run, the newest first. What the host has waited for is forgotten, since all that it enqueues later
    /// comes after that.
    records: Vec<Arc<Record>>,
}

#[derive(Debug, Default)]
struct Stream {
    /// How many operations it has had.
    last: u64,
    /// What has ended when its next operation begins.
    clock: Clock,
}

/// An operation that has been enqueued.
#[derive(Debug)]
struct Record {
    stream: u64,
    /// The number of the operation on its stream, from 1.
    number: u64,
    accesses: Accesses,
}

/// The accesses of an operation to global memory.
pub(crate) enum Accesses {
    Grid {
        code: Arc<Code>,
        touched: Touched,
        /// Whether a thread has waited for the previous grid of the stream. If so, that grid has ended when this one ends.
        waits: bool,
    },
    Copy {
        work: HostWork,
        range: Range<u64>,
    },
}

/// An operation that begins.
#[derive(Debug)]
pub(crate) struct Operation {
    stream: u64,
    number: u64,
    concurrent: Vec<Concurrent>,
}

/// An earlier operation that may still run.
#[derive(Debug)]
struct Concurrent {
    record: Arc<Record>,
    /// Whether it has ended after `griddepcontrol.wait`.
    ends_by_wait: bool,
}

/// A byte that both an operation and an earlier one access.
pub(crate) enum Race<'a> {
    /// The earlier one is a grid of the same stream.
    Grid {
        address: u64,
        code: &'a Code,
        /// The instruction of the earlier grid.
        instruction: usize,
        /// How many launches before this one the earlier grid was launched; 1 for the previous grid.
        before: usize,
    },
    /// The earlier one is on another stream.
    Stream(StreamRace),
}

impl Default for Streams {
    fn default() -> Self {
        Streams {
            streams: BTreeMap::from([(0, Stream::default())]),
            records: Vec::new(),
        }
    }
}

impl Streams {
    /// Begins to remember the operations of all streams, if this is a second one.
    pub(crate) fn add(&mut self, stream: u64) {
        self.streams.entry(stream).or_default();
    }

    /// Everything enqueued on a stream, and what that happens after.
    pub(crate) fn record(&mut self, stream: u64) -> Point {
        let of = self.streams.entry(stream).or_default();
        let mut clock = of.clock.clone();
        clock.reach(stream, of.last);
        Point(clock)
    }

    /// All later operations of the stream happen after the point.
    pub(crate) fn wait(&mut self, stream: u64, point: &Point) {
        let of = self.streams.entry(stream).or_default();
        of.clock.join(&point.0);
    }

    /// The host waits for a point.
    pub(crate) fn synchronize_with(&mut self, point: &Point) {
        self.forget(&point.0);
    }

    /// The host waits for everything.
    pub(crate) fn synchronize(&mut self) {
        self.records.clear();
    }

    /// Called when an operation begins. Unless it overlaps, the earlier operations of its stream end first. With one stream, these are
    /// then forgotten.
    pub(crate) fn begin(&mut self, stream: u64, overlaps: bool) -> Operation {
        let of = self.streams.entry(stream).or_default();
        if !overlaps {
            of.clock.reach(stream, of.last);
        }
        of.last += 1;
        let number = of.last;
        let clock = of.clock.clone();
        if self.streams.len() == 1 {
            self.forget(&clock);
        }
        let records = self.records.iter();
        // If the previous grid has waited, then the one before it has also ended when the previous one has, and so on.
        let own = records.clone().filter(|record| record.stream == stream);
        let waits = own.take_while(|record| record.waits()).count() as u64;
        let running = records.filter(|record| !clock.has(record.stream, record.number));
        let concurrent = running.map(|record| Concurrent {
            record: record.clone(),
            ends_by_wait: record.stream == stream && number - record.number <= waits + 1,
        });
        Operation {
            stream,
            number,
            concurrent: concurrent.collect(),
        }
    }

    /// Called after an operation, which may run for longer on a device. Drops the oldest operations beyond [`MOST_OPERATIONS`] of a
    /// stream, or beyond `limit` bytes of records.
    pub(crate) fn end(&mut self, operation: &Operation, accesses: Accesses, limit: u64) {
        let record = Record {
            stream: operation.stream,
            number: operation.number,
            accesses,
        };
        self.records.insert(0, Arc::new(record));
        let (mut bytes, mut counts) = (0, BTreeMap::new());
        self.records.retain(|record| {
            bytes += record.bytes();
            let count: &mut usize = counts.entry(record.stream).or_default();
            *count += 1;
            bytes <= limit && *count <= MOST_OPERATIONS
        });
    }

    /// The whole of an operation of the host on a range of bytes. It overlaps with no operation of its stream. An error if it
    /// races: then it does not happen.
    pub(crate) fn host(
        &mut self,
        stream: u64,
        work: HostWork,
        range: Range<u64>,
    ) -> Result<(), StreamRace> {
        let operation = match work {
            HostWork::Free => self.free(stream),
            _ => self.begin(stream, false),
        };
        if let Some(Race::Stream(race)) = operation.race(&range, way(work), false) {
            return Err(race);
        }
        // Any later access of freed bytes is an error, so a free needs no record.
        if work != HostWork::Free {
            let of = self.streams.entry(stream).or_default();
            of.clock.reach(stream, operation.number);
            self.end(&operation, Accesses::Copy { work, range }, u64::MAX);
        }
        Ok(())
    }

    /// A free comes behind the operations of its stream, but the device has no work with it: grids before and after it may overlap.
    fn free(&self, stream: u64) -> Operation {
        let clock = self.streams.get(&stream).map(|of| &of.clock);
        let has_ended = |record: &Record| {
            record.stream == stream || clock.is_some_and(|it| it.has(record.stream, record.number))
        };
        let running = self.records.iter().filter(|record| !has_ended(record));
        let concurrent = running.map(|record| Concurrent {
            record: record.clone(),
            ends_by_wait: false,
        });
        Operation {
            stream,
            number: 0,
            concurrent: concurrent.collect(),
        }
    }

    /// Drops the operations that have ended.
    fn forget(&mut self, ended: &Clock) {
        let records = &mut self.records;
        records.retain(|record| !ended.has(record.stream, record.number));
    }
}

impl Operation {
    /// Whether no earlier operation may still run.
    pub(crate) fn is_alone(&self) -> bool {
        self.concurrent.is_empty()
    }

    /// The first byte of an access that conflicts with an access of an earlier operation that may still run. `waited` says whether the
    /// access is after `griddepcontrol.wait`.
    pub(crate) fn race(&self, range: &Range<u64>, way: Way, waited: bool) -> Option<Race<'_>> {
        let earlier = self.concurrent.iter();
        let mut running = earlier.filter(|earlier| !(waited && earlier.ends_by_wait));
        running.find_map(|earlier| self.race_with(&earlier.record, range, way))
    }

    fn race_with<'a>(&self, record: &'a Record, range: &Range<u64>, way: Way) -> Option<Race<'a>> {
        let is_same = record.stream == self.stream;
        // Grids of one stream are meant to come one after the other, also if all their accesses are atomics.
        let way = Way {
            is_strong: way.is_strong && !is_same,
            ..way
        };
        let (address, other) = match &record.accesses {
            Accesses::Grid { code, touched, .. } => {
                let (address, instruction) = touched.conflict(range, way)?;
                if is_same {
                    return Some(Race::Grid {
                        address,
                        code,
                        instruction,
                        before: (self.number - record.number) as usize,
                    });
                }
                let work = Work::Kernel {
                    entry: code.name.clone(),
                    instruction: code.other(instruction),
                };
                (address, work)
            }
            Accesses::Copy { work, range: of } => {
                let (start, end) = (range.start.max(of.start), range.end.min(of.end));
                let races = start < end && way.conflicts(self::way(*work));
                (races.then_some(start)?, Work::Host(*work))
            }
        };
        Some(Race::Stream(StreamRace {
            address,
            stream: self.stream,
            other,
            other_stream: record.stream,
        }))
    }
}

impl Record {
    fn waits(&self) -> bool {
        matches!(self.accesses, Accesses::Grid { waits: true, .. })
    }

    fn bytes(&self) -> u64 {
        match &self.accesses {
            Accesses::Grid { touched, .. } => touched.bytes(),
            Accesses::Copy { .. } => 0,
        }
    }
}

fn way(work: HostWork) -> Way {
    Way {
        writes: work != HostWork::CopyToHost,
        is_strong: false,
    }
}

impl Debug for Accesses {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Accesses::Grid { code, .. } => write!(f, "Grid({})", code.name),
            Accesses::Copy { work, range } => write!(f, "{work} at {range:x?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copy(streams: &mut Streams, stream: u64) -> Result<(), StreamRace> {
        streams.host(stream, HostWork::CopyFromHost, 0..4)
    }

    /// What launches and copies on stream 0 leave behind is at most the last one, and it is not looked at.
    #[test]
    fn one_stream_remembers_nothing() {
        let mut streams = Streams::default();
        for _ in 0..5 {
            let operation = streams.begin(0, false);
            assert!(operation.is_alone());
            assert!(streams.records.is_empty(), "{streams:?}");
            let accesses = Accesses::Copy {
                work: HostWork::CopyFromHost,
                range: 0..4,
            };
            streams.end(&operation, accesses, u64::MAX);
        }
        copy(&mut streams, 0).unwrap();
        assert_eq!(streams.records.len(), 1);

        // With a second one, all are remembered, until the host waits.
        streams.add(1);
        for _ in 0..5 {
            copy(&mut streams, 0).unwrap();
        }
        assert_eq!(streams.records.len(), 6);
        copy(&mut streams, 1).unwrap_err();
        streams.synchronize();
        assert!(streams.records.is_empty(), "{streams:?}");
        copy(&mut streams, 1).unwrap();
    }

    /// What the host has waited for is forgotten, and no more than that.
    #[test]
    fn the_host_forgets_what_it_has_waited_for() {
        let mut streams = Streams::default();
        streams.add(1);
        copy(&mut streams, 0).unwrap();
        let point = streams.record(0);
        copy(&mut streams, 0).unwrap();
        streams.wait(1, &point);
        streams.synchronize_with(&point);
        assert_eq!(streams.records.len(), 1);
        assert_eq!(streams.records[0].number, 2);
        copy(&mut streams, 1).unwrap_err();
    }
}
