//! The readers of each byte of shared memory since the last write. Atomics and strong accesses count as reads here: a plain access
//! must be ordered after all of them.
//!
//! If one warp has read a byte through the generic proxy, the byte's [`Tag`] records it. Several readers are recorded as the number of
//! a set. Bytes with the same readers share a set.

use super::knowledge::{Heard, Knowledge};
use super::tag::{Record, Tag};
use super::tags::Tags;
use crate::error::FaultKind;
use crate::limits::{OutOfHostMemory, hold};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

/// The most readers in all sets. A kernel exceeds this only if almost every byte has different readers.
const MAX_READERS: usize = 1 << 22;
/// Unused sets are removed when all sets have this many readers together. The next removal is at twice the remaining number.
const FIRST_COLLECTION: usize = 1 << 14;

/// The initial value of `Readers::last`.
const NOTHING_JOINED: ((Tag, u64), Tag) = ((Tag::NOBODY, 0), Tag::NOBODY);

/// An asynchronous operation that reads shared memory.
pub(crate) struct AsyncRead {
    /// The index of the instruction.
    pub(crate) instruction: usize,
    /// A number unique among the operations that read a CTA's memory.
    number: u64,
    pub(crate) completion: Rc<Completion>,
    /// The events that the starting warps had heard of. A warp that waits for the operation hears of them.
    pub(crate) heard: RefCell<Heard>,
}

/// The completion of an asynchronous operation's accesses to memory.
pub(crate) struct Completion {
    pub(crate) by: Reading,
    /// The events that show completion. Empty while the operation is under way.
    ends: RefCell<Vec<End>>,
}

/// The source of asynchronous accesses. Operations with equal sources access memory in the order of their start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// The wgmma instructions of the warpgroup with this first warp.
    Wgmma { warpgroup: usize },
    /// The bulk stores of a thread: of its warp and lane.
    Store { warp: usize, lane: usize },
    /// The copies into shared memory that complete on the mbarrier of this number.
    Copy { mbarrier: usize },
    /// The `cp.async` of the lanes of a warp.
    Lanes { warp: usize },
}

/// An event that shows that an operation has accessed memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// A warp has waited for it at this time of the warp's clock.
    Waited { warp: usize, clock: u32 },
    /// The operation has arrived at the mbarrier; it is complete once this many phases are.
    Arrived { mbarrier: usize, phases: u32 },
}

impl Completion {
    pub(crate) fn new(by: Reading) -> Rc<Completion> {
        let ends = RefCell::default();
        Rc::new(Completion { by, ends })
    }

    pub(crate) fn end(&self, end: End) {
        let mut ends = self.ends.borrow_mut();
        if !ends.contains(&end) {
            ends.push(end);
        }
    }

    /// Whether no warp can know yet that it has accessed memory.
    pub(crate) fn under_way(&self) -> bool {
        self.ends.borrow().is_empty()
    }

    /// Whether the completion of `later` implies the completion of this operation.
    pub(crate) fn is_before(&self, later: &Completion) -> bool {
        self.by == later.by && (!matches!(self.by, Reading::Copy { .. }) || !self.under_way())
    }

    /// Whether a warp with this knowledge knows that the operation has accessed memory.
    pub(crate) fn ended(&self, by: usize, knowledge: &Knowledge) -> bool {
        self.ends.borrow().iter().any(|end| match *end {
            End::Waited { warp, clock } => warp == by || knowledge.seen.get(warp) >= Some(&clock),
            End::Arrived { mbarrier, phases } => knowledge.knows_phases(mbarrier, phases),
        })
    }
}

impl AsyncRead {
    /// Whether no warp can know yet that it has read.
    pub(crate) fn under_way(&self) -> bool {
        self.completion.under_way()
    }

    /// Whether a warp with this knowledge knows that the operation has read.
    pub(crate) fn ended(&self, by: usize, knowledge: &Knowledge) -> bool {
        self.completion.ended(by, knowledge)
    }
}

/// A reader of a byte: a warp through the generic proxy, given by its record, or an asynchronous operation.
#[derive(Clone)]
pub(crate) enum Reader {
    Generic(Tag),
    Async(Rc<AsyncRead>),
}

impl Reader {
    fn is(&self, other: &Reader) -> bool {
        match (self, other) {
            (Reader::Generic(tag), Reader::Generic(other)) => tag == other,
            (Reader::Async(read), Reader::Async(other)) => Rc::ptr_eq(read, other),
            _ => false,
        }
    }
}

/// The readers of each byte of a CTA's shared memory.
pub(crate) struct Readers {
    tags: Tags,
    sets: Vec<Vec<Reader>>,
    /// The record of readers joined with one more. The key is the old record and the new reader's key.
    joined: HashMap<(Tag, u64), Tag>,
    /// The last entry of `joined` that was used.
    last: ((Tag, u64), Tag),
    /// The number of readers in all sets.
    size: usize,
    /// Unused sets are removed at this size.
    collect_at: usize,
    /// The number of the next asynchronous operation.
    next: u64,
}

impl Readers {
    pub(crate) fn new(bytes: usize) -> Result<Readers, OutOfHostMemory> {
        Ok(Readers {
            tags: Tags::new(bytes)?,
            sets: Vec::new(),
            joined: HashMap::new(),
            last: NOTHING_JOINED,
            size: 0,
            collect_at: FIRST_COLLECTION,
            next: 0,
        })
    }

    /// An operation that starts to read.
    pub(crate) fn begin(&mut self, by: Reading, instruction: usize) -> Rc<AsyncRead> {
        self.next += 1;
        Rc::new(AsyncRead {
            instruction,
            number: self.next,
            completion: Completion::new(by),
            heard: RefCell::default(),
        })
    }

    /// Forgets the readers of bytes that are written.
    pub(crate) fn clear(&mut self, range: Range<usize>) {
        self.tags.fill(range, Tag::NOBODY);
    }

    /// Forgets all sets. No byte may have one.
    pub(crate) fn forget(&mut self) {
        self.sets.clear();
        self.joined.clear();
        self.last = NOTHING_JOINED;
        (self.size, self.collect_at, self.next) = (0, FIRST_COLLECTION, 0);
    }

    /// Adds a reader to bytes, with the knowledge of the reading warp.
    pub(crate) fn add(
        &mut self,
        range: Range<usize>,
        reader: &Reader,
        knowledge: &Knowledge,
    ) -> Result<(), FaultKind> {
        let key = match reader {
            Reader::Generic(tag) => tag.bits(),
            Reader::Async(read) => 2 * read.number,
        };
        self.collect();
        let mut rest = range;
        while !rest.is_empty() {
            let (old, len) = self.tags.run(&rest);
            let new = match self.last.0 == (old, key) {
                true => self.last.1,
                false => self.join(old, key, reader, knowledge)?,
            };
            let end = rest.start + len;
            self.tags.fill(rest.start..end, new);
            rest.start = end;
        }
        Ok(())
    }

    /// The records of a range, each with its bytes.
    pub(crate) fn runs(&self, range: Range<usize>) -> impl Iterator<Item = (Range<usize>, Tag)> {
        self.tags.runs(range)
    }

    /// The first byte of a range, and its reader, for which a function returns an error.
    pub(crate) fn check(
        &self,
        range: Range<usize>,
        mut check: impl FnMut(usize, &Reader) -> Result<(), FaultKind>,
    ) -> Result<(), FaultKind> {
        for (bytes, tag) in self.tags.runs(range) {
            match tag.record() {
                Record::Nobody => {}
                Record::Set(set) => {
                    let mut readers = self.sets[set].iter();
                    readers.try_for_each(|reader| check(bytes.start, reader))?;
                }
                _ => check(bytes.start, &Reader::Generic(tag))?,
            }
        }
        Ok(())
    }

    /// The record for the readers `old` and one more.
    fn join(
        &mut self,
        old: Tag,
        key: u64,
        reader: &Reader,
        knowledge: &Knowledge,
    ) -> Result<Tag, FaultKind> {
        let new = match (old.record(), reader) {
            (Record::Nobody, Reader::Generic(tag)) => *tag,
            (Record::Generic { .. }, Reader::Generic(tag))
                if implied(&Reader::Generic(old), reader, knowledge) =>
            {
                *tag
            }
            _ => match self.joined.get(&(old, key)) {
                Some(new) => *new,
                None => self.set(old, key, reader, knowledge)?,
            },
        };
        self.last = ((old, key), new);
        Ok(new)
    }

    /// A set of the readers `old` and one more; `old` itself if it includes that reader.
    fn set(
        &mut self,
        old: Tag,
        key: u64,
        reader: &Reader,
        knowledge: &Knowledge,
    ) -> Result<Tag, FaultKind> {
        let mut readers = match old.record() {
            Record::Nobody => Vec::new(),
            Record::Set(set) => self.sets[set].clone(),
            _ => vec![Reader::Generic(old)],
        };
        if readers.iter().any(|earlier| earlier.is(reader)) {
            return Ok(old);
        }
        readers.retain(|earlier| !implied(earlier, reader, knowledge));
        readers.push(reader.clone());
        self.size += readers.len();
        let (size, limit) = (self.size as u64, MAX_READERS as u64);
        hold("records of readers of shared memory", size, limit)?;
        let new = Tag::set(self.sets.len());
        self.sets.push(readers);
        self.joined.insert((old, key), new);
        Ok(new)
    }

    /// Removes the sets that no byte has, once there are many.
    fn collect(&mut self) {
        if self.size < self.collect_at {
            return;
        }
        let mut numbers = HashMap::new();
        let mut sets = Vec::new();
        for tag in self.tags.iter_mut() {
            if let Record::Set(set) = tag.record() {
                let new = *numbers.entry(set).or_insert_with(|| {
                    sets.push(std::mem::take(&mut self.sets[set]));
                    sets.len() - 1
                });
                *tag = Tag::set(new);
            }
        }
        self.size = sets.iter().map(Vec::len).sum();
        self.collect_at = (2 * self.size).clamp(FIRST_COLLECTION, MAX_READERS);
        self.sets = sets;
        self.joined.clear();
        self.last = NOTHING_JOINED;
    }
}

/// Whether a warp that knows of the read of `later` knows of the read of `earlier`.
fn implied(earlier: &Reader, later: &Reader, knowledge: &Knowledge) -> bool {
    match (earlier, later) {
        (Reader::Generic(earlier), Reader::Generic(later)) => {
            match (earlier.record(), later.record()) {
                (
                    Record::Generic {
                        instruction,
                        warp,
                        clock,
                        strong,
                    },
                    Record::Generic {
                        instruction: by_instruction,
                        warp: by,
                        strong: by_strong,
                        ..
                    },
                ) => {
                    // Loads, atomics and stores race with different kinds of accesses.
                    let alike = match strong {
                        true => by_strong && instruction == by_instruction,
                        false => !by_strong,
                    };
                    alike && (warp == by || clock <= knowledge.seen[warp])
                }
                _ => false,
            }
        }
        (Reader::Async(earlier), Reader::Generic(later)) => match later.record() {
            Record::Generic { warp, .. } => earlier.ended(warp, knowledge),
            _ => false,
        },
        (Reader::Async(earlier), Reader::Async(later)) => {
            earlier.completion.is_before(&later.completion)
        }
        (Reader::Generic(_), Reader::Async(_)) => false,
    }
}
