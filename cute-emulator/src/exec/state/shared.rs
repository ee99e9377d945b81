//! Shared memory, and a record for each byte: the last plain write, and the reads, atomics and strong accesses since.

use super::knowledge::Knowledge;
use super::lanes::{LaneOrder, Lanes, SEVERAL, UNKNOWN};
use super::readers::{AsyncRead, Reader, Readers, Reading};
use super::tag::{Record, Tag};
use super::tags::Tags;
use crate::error::FaultKind;
use crate::launch::Checks;
use crate::limits::{OutOfHostMemory, filled};
use crate::op::{Code, Op, Region};
use crate::windows::SHARED_BASE;
use std::cell::Cell;
use std::ops::Range;
use std::rc::Rc;

/// The host memory of one byte of shared memory, in bytes: the value, two records, a lane for each record, and a share of the
/// block records.
pub(crate) const BYTE_BYTES: u64 = 4 + 2 * size_of::<Tag>() as u64;

/// The shared memory of a CTA.
pub(crate) struct Shared {
    pub(crate) bytes: Vec<u8>,
    /// The last plain write of each byte. Without one, the first strong write.
    writers: Tags,
    /// The lane of the last plain write of each byte, if a warp has written it through the generic proxy.
    writer_lanes: Vec<u8>,
    /// The other accesses since.
    readers: Readers,
    /// The lane of the only warp that has read each byte since.
    reader_lanes: Vec<u8>,
    /// The blocks that have a record, as bits: some byte was written, or read before any write.
    used: u64,
    /// Whether there were atomics or strong stores.
    strong: bool,
    checks: Checks,
}

/// The number of blocks of a CTA's shared memory. Each used block is cleared before another CTA gets the memory.
const BLOCKS: usize = u64::BITS as usize;

/// An access: its kind, the warp of the cluster, and the warp's knowledge.
#[derive(Clone, Copy)]
pub(crate) struct Use<'a> {
    pub(crate) how: How,
    pub(crate) warp: usize,
    pub(crate) knowledge: &'a Knowledge,
    /// The lanes of the access; `None` for an asynchronous operation.
    pub(crate) lanes: Option<LaneUse<'a>>,
}

/// The lanes of an access.
#[derive(Clone, Copy)]
pub(crate) struct LaneUse<'a> {
    pub(crate) lanes: Lanes,
    pub(crate) order: &'a LaneOrder,
    /// The instruction of a write that leaves the bytes unchanged.
    pub(crate) unchanged_by: Option<usize>,
    /// Set to true if another warp has written the same values by the same instruction, in no order with this write. The result is the
    /// same in either order, but readers must be ordered after both writes.
    pub(crate) is_alike: Option<&'a Cell<bool>>,
}

/// The kinds of accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// A warp reads through the generic proxy.
    Read,
    /// A warp writes through the generic proxy, or starts a copy that will do so.
    Write,
    /// A warp starts a bulk copy that will write through the async proxy.
    Copy,
    /// An atomic or a strong load.
    StrongRead,
    /// An atomic or a strong store.
    StrongWrite,
    /// A warp starts an asynchronous reduction. Other reductions may overlap it.
    Update,
    /// A warp starts an operation that reads through the async proxy.
    Asynchronous,
    /// An operation on the mbarrier at these bytes.
    Mbarrier,
}

impl Use<'_> {
    /// Whether an access writes the value left by a write of the same instruction.
    fn is_alike(&self, earlier: Tag) -> bool {
        let unchanged_by = self.lanes.and_then(|lanes| lanes.unchanged_by);
        matches!(earlier.record(), Record::Generic { instruction, .. } if unchanged_by == Some(instruction))
    }

    /// Called for an access that writes the same value. Notes it unless the earlier write is ordered before it.
    fn note_alike(&self, earlier: Tag) {
        let is_before = match earlier.record() {
            Record::Generic { warp, clock, .. } => {
                warp == self.warp || clock <= self.knowledge.seen[warp]
            }
            _ => true,
        };
        if let Some(is_alike) = self.lanes.and_then(|lanes| lanes.is_alike)
            && !is_before
        {
            is_alike.set(true);
        }
    }
}

impl Shared {
    pub(crate) fn new(bytes: usize, checks: Checks) -> Result<Shared, OutOfHostMemory> {
        Ok(Shared {
            bytes: filled(bytes, 0)?,
            writers: Tags::new(bytes)?,
            writer_lanes: filled(bytes, UNKNOWN)?,
            reader_lanes: filled(bytes, UNKNOWN)?,
            readers: Readers::new(bytes)?,
            used: 0,
            strong: false,
            checks,
        })
    }

    /// Resets the memory to its initial state.
    pub(crate) fn clear(&mut self) {
        let (len, block) = (self.bytes.len(), self.block());
        for i in (0..BLOCKS).filter(|i| self.used >> i & 1 == 1) {
            let range = i * block..len.min((i + 1) * block);
            self.bytes[range.clone()].fill(0);
            self.writers.fill(range.clone(), Tag::NOBODY);
            self.readers.clear(range);
        }
        self.readers.forget();
        (self.used, self.strong) = (0, false);
    }

    /// The number of bytes in a block.
    fn block(&self) -> usize {
        self.bytes.len().div_ceil(BLOCKS).next_power_of_two()
    }

    /// The range of `bytes` that an access covers; an error if it is not inside.
    pub(crate) fn range(&self, address: u64, len: usize) -> Result<Range<usize>, FaultKind> {
        let base = u64::from(SHARED_BASE);
        let start = address
            .checked_sub(base)
            .and_then(|start| usize::try_from(start).ok());
        match start.and_then(|start| Some(start..start.checked_add(len)?)) {
            Some(range) if range.end <= self.bytes.len() => Ok(range),
            _ => Err(FaultKind::Shared {
                address,
                bytes: len as u64,
                available: (base, base + self.bytes.len() as u64),
            }),
        }
    }

    /// Records a write.
    pub(crate) fn written(&mut self, range: Range<usize>, tag: Tag) {
        self.uses(&range);
        self.readers.clear(range.clone());
        if let Record::Generic { .. } = tag.record() {
            self.writer_lanes[range.clone()].fill(UNKNOWN);
        }
        self.writers.fill(range, tag);
    }

    /// Records a plain write of lanes.
    pub(crate) fn written_by(&mut self, range: Range<usize>, tag: Tag, lanes: Lanes) {
        self.uses(&range);
        self.readers.clear(range.clone());
        self.writer_lanes[range.clone()].copy_from_slice(lanes.marks(range.len()));
        self.writers.fill(range, tag);
    }

    /// Marks the blocks of a range as used.
    pub(crate) fn uses(&mut self, range: &Range<usize>) {
        if !range.is_empty() {
            let shift = self.block().trailing_zeros();
            let (first, last) = (range.start >> shift, (range.end - 1) >> shift);
            self.used |= u64::MAX << first & u64::MAX >> (BLOCKS - 1 - last);
        }
    }

    /// Records a write by an atomic or a strong store. It does not replace plain accesses, because later atomics of other threads may
    /// race with them.
    pub(crate) fn written_strongly(
        &mut self,
        range: Range<usize>,
        tag: Tag,
        usage: Use<'_>,
    ) -> Result<(), FaultKind> {
        self.strong = true;
        self.uses(&range);
        let mut rest = range.clone();
        while !rest.is_empty() {
            let (writer, len) = self.writers.run(&rest);
            let end = rest.start + len;
            if writer == Tag::NOBODY {
                self.writers.fill(rest.start..end, tag);
            }
            rest.start = end;
        }
        self.read(range, tag, usage)
    }

    /// Records a read of a warp through the generic proxy.
    pub(crate) fn read(
        &mut self,
        range: Range<usize>,
        tag: Tag,
        usage: Use<'_>,
    ) -> Result<(), FaultKind> {
        if let Some(by) = usage.lanes {
            let marks = &mut self.reader_lanes;
            let lanes = by.lanes.marks(range.len());
            let first = range.start;
            for (run, earlier) in self.readers.runs(range.clone()) {
                let lanes = &lanes[run.start - first..run.end - first];
                let marks = &mut marks[run];
                match earlier.record() {
                    Record::Generic { warp, clock, .. }
                        if warp == usage.warp && !by.order.all_know(clock) =>
                    {
                        if marks != lanes {
                            let both = marks.iter_mut().zip(lanes);
                            both.filter(|(mark, lane)| mark != lane)
                                .for_each(|(mark, _)| *mark = SEVERAL);
                        }
                    }
                    Record::Generic { warp, clock, .. }
                        if warp != usage.warp && clock > usage.knowledge.seen[warp] =>
                    {
                        marks.fill(UNKNOWN);
                    }
                    Record::Set(_) => marks.fill(UNKNOWN),
                    _ => marks.copy_from_slice(lanes),
                }
            }
        }
        self.readers
            .add(range, &Reader::Generic(tag), usage.knowledge)
    }

    /// Starts an asynchronous read. [`read_async`](Shared::read_async) adds the bytes that it reads.
    pub(crate) fn begin_read(&mut self, by: Reading, instruction: usize) -> Rc<AsyncRead> {
        self.readers.begin(by, instruction)
    }

    /// Records bytes that an asynchronous operation reads.
    pub(crate) fn read_async(
        &mut self,
        range: Range<usize>,
        read: &Rc<AsyncRead>,
        knowledge: &Knowledge,
    ) -> Result<(), FaultKind> {
        let reader = Reader::Async(read.clone());
        self.readers.add(range, &reader, knowledge)
    }

    /// An error unless an access is ordered after the last write of each byte and, if it writes, after each read since.
    pub(crate) fn check(
        &self,
        range: Range<usize>,
        usage: Use<'_>,
        code: &Code,
        warps_per_cta: usize,
    ) -> Result<(), FaultKind> {
        let check = |byte: usize| Check {
            address: byte as u64 + u64::from(SHARED_BASE),
            usage,
            code,
            warps_per_cta,
        };
        for (bytes, tag) in self.writers.runs(range.clone()) {
            let check = check(bytes.start);
            self.ask(check.after_writer(tag))?;
            self.ask(check.after_lanes(bytes, tag, &self.writer_lanes))?;
        }
        match usage.how {
            How::Write | How::Copy | How::StrongWrite | How::Update => {
                if usage.lanes.is_some() {
                    for (bytes, tag) in self.readers.runs(range.clone()) {
                        let check = check(bytes.start);
                        self.ask(check.after_lanes(bytes, tag, &self.reader_lanes))?;
                    }
                }
                (self.readers).check(range, |byte, reader| {
                    self.ask(check(byte).after_reader(reader))
                })
            }
            How::Read | How::Asynchronous if self.strong => (self.readers)
                .check(range, |byte, reader| {
                    self.ask(check(byte).after_strong(reader))
                }),
            _ => Ok(()),
        }
    }

    /// The result of a check, or `Ok` if the launch has disabled this check.
    fn ask(&self, result: Result<(), FaultKind>) -> Result<(), FaultKind> {
        result.or_else(|kind| {
            let asked = match kind {
                FaultKind::Uninitialised { .. } => self.checks.uninitialised,
                FaultKind::MbarrierAsData { .. } => true,
                _ => self.checks.order,
            };
            if asked { Err(kind) } else { Ok(()) }
        })
    }
}

/// The check of one byte of an access.
struct Check<'a> {
    address: u64,
    usage: Use<'a>,
    code: &'a Code,
    warps_per_cta: usize,
}

impl Check<'_> {
    fn after_writer(&self, tag: Tag) -> Result<(), FaultKind> {
        let Use {
            how,
            warp: by,
            knowledge,
            ..
        } = self.usage;
        let address = self.address;
        match (tag.record(), how) {
            (Record::Nobody, How::Read | How::StrongRead | How::Asynchronous | How::Update) => {
                Err(FaultKind::Uninitialised { address })
            }
            (Record::Copy { instruction, .. }, How::Update) if self.updates(instruction) => Ok(()),
            (Record::Generic { .. }, How::Write) if self.usage.is_alike(tag) => {
                self.usage.note_alike(tag);
                Ok(())
            }
            (
                Record::Copy {
                    instruction,
                    mbarrier,
                    phases,
                },
                _,
            ) => match phases == 0 || !knowledge.knows_phases(mbarrier, phases) {
                true => Err(FaultKind::CopyInFlight {
                    address,
                    other: self.code.other(instruction),
                    of_lanes: matches!(
                        self.code.instructions[instruction].op,
                        Op::CopyAsync { .. }
                    ),
                }),
                false => Ok(()),
            },
            (
                Record::Generic {
                    instruction,
                    warp,
                    clock,
                    ..
                },
                How::Asynchronous | How::Copy,
            ) => self.fenced(instruction, warp, clock),
            (
                Record::Generic {
                    instruction,
                    warp,
                    clock,
                    ..
                },
                How::Read | How::Write | How::Update | How::Mbarrier,
            )
            | (
                Record::Generic {
                    instruction,
                    warp,
                    clock,
                    strong: false,
                },
                How::StrongRead | How::StrongWrite,
            )
            | (
                Record::Mbarrier {
                    instruction,
                    warp,
                    clock,
                },
                How::Mbarrier,
            ) if warp != by => self.ordered(instruction, warp, clock),
            (Record::Mbarrier { instruction, .. }, how) if how != How::Mbarrier => {
                Err(FaultKind::MbarrierAsData {
                    address,
                    other: self.code.other(instruction),
                })
            }
            _ => Ok(()),
        }
    }

    /// Whether an instruction is an asynchronous reduction.
    fn updates(&self, instruction: usize) -> bool {
        let op = &self.code.instructions[instruction].op;
        matches!(
            op,
            Op::CopyIn {
                region: Region::Values {
                    update: Some(_),
                    ..
                },
                ..
            }
        )
    }

    /// An error unless an access is ordered after the access of another lane of the warp to the same bytes. `marks` has the lane of each
    /// byte.
    fn after_lanes(&self, bytes: Range<usize>, tag: Tag, marks: &[u8]) -> Result<(), FaultKind> {
        let (
            Some(by),
            Record::Generic {
                instruction,
                warp,
                clock,
                strong,
            },
        ) = (self.usage.lanes, tag.record())
        else {
            return Ok(());
        };
        let is_strong = matches!(self.usage.how, How::StrongRead | How::StrongWrite);
        if warp != self.usage.warp
            || by.order.all_know(clock)
            || strong && is_strong
            || by.unchanged_by == Some(instruction)
        {
            return Ok(());
        }
        let base = u64::from(SHARED_BASE);
        // Each lane mostly accesses its own bytes again.
        if by
            .lanes
            .are_marked(bytes.start as u64 + base, &marks[bytes.clone()])
        {
            return Ok(());
        }
        for byte in bytes {
            let earlier = match marks[byte] {
                UNKNOWN => continue,
                SEVERAL => None,
                lane => Some(lane.into()),
            };
            let address = byte as u64 + base;
            if !by.order.knows(by.lanes.at(address), earlier, clock) {
                return Err(FaultKind::LaneRace {
                    address,
                    other: self.code.other(instruction),
                    lane: earlier.map(|lane| lane as u8),
                    is_only_warp: self.warps_per_cta == 1,
                });
            }
        }
        Ok(())
    }

    /// An error unless a write is ordered after a read of the byte.
    fn after_reader(&self, reader: &Reader) -> Result<(), FaultKind> {
        let (address, code) = (self.address, self.code);
        let Use {
            how,
            warp: by,
            knowledge,
            ..
        } = self.usage;
        match reader {
            Reader::Generic(tag) if how == How::Write && self.usage.is_alike(*tag) => Ok(()),
            Reader::Generic(tag) => match tag.record() {
                Record::Generic {
                    instruction,
                    warp,
                    clock,
                    strong,
                } if matches!(how, How::Write | How::Copy | How::Update) || !strong => {
                    self.ordered(instruction, warp, clock)
                }
                _ => Ok(()),
            },
            Reader::Async(read) if !read.ended(by, knowledge) => {
                let other = code.other(read.instruction);
                Err(match read.completion.by {
                    Reading::Wgmma { .. } => FaultKind::WgmmaInFlight { address, other },
                    Reading::Store { .. } => FaultKind::StoreInFlight { address, other },
                    Reading::Copy { .. } | Reading::Lanes { .. } => {
                        FaultKind::SourceInFlight { address, other }
                    }
                })
            }
            Reader::Async(_) => Ok(()),
        }
    }

    /// An error unless a plain read is ordered after an atomic or a strong store of the byte.
    fn after_strong(&self, reader: &Reader) -> Result<(), FaultKind> {
        let Reader::Generic(tag) = reader else {
            return Ok(());
        };
        match tag.record() {
            Record::Generic {
                instruction,
                warp,
                clock,
                strong: true,
            } if !matches!(self.code.instructions[instruction].op, Op::Load { .. }) => {
                match self.usage.how {
                    How::Asynchronous => self.fenced(instruction, warp, clock),
                    _ => self.ordered(instruction, warp, clock),
                }
            }
            _ => Ok(()),
        }
    }

    /// An error unless a proxy fence lets the async proxy read a warp's generic write.
    fn fenced(&self, instruction: usize, warp: usize, clock: u32) -> Result<(), FaultKind> {
        self.ordered(instruction, warp, clock)?;
        match clock <= self.usage.knowledge.fenced[warp] {
            true => Ok(()),
            false => Err(FaultKind::MissingProxyFence {
                address: self.address,
                other: self.code.other(instruction),
                rank: (warp / self.warps_per_cta) as u32,
                warp: (warp % self.warps_per_cta) as u32,
            }),
        }
    }

    /// An error unless the access is ordered after an access of a warp.
    fn ordered(&self, instruction: usize, warp: usize, clock: u32) -> Result<(), FaultKind> {
        if warp == self.usage.warp || clock <= self.usage.knowledge.seen[warp] {
            return Ok(());
        }
        Err(FaultKind::Race {
            address: self.address,
            other: self.code.other(instruction),
            rank: (warp / self.warps_per_cta) as u32,
            warp: (warp % self.warps_per_cta) as u32,
        })
    }
}

/// The [`Use`] by a warp with this knowledge.
impl Knowledge {
    pub(crate) fn uses(&self, warp: usize, how: How) -> Use<'_> {
        Use {
            how,
            warp,
            knowledge: self,
            lanes: None,
        }
    }
}
