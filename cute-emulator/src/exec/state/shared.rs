//! Shared memory and, for each of its bytes, a record of the last writer and of the last reader since.

use super::knowledge::Knowledge;
use crate::error::FaultKind;
use crate::limits::{OutOfHostMemory, filled};
use crate::op::{Code, SHARED_BASE};
use std::ops::Range;

/// The record of an access to a byte. From the lowest bit: the kind of access (3 bits), the instruction (21), then for a warp
/// its index in the cluster (9) and its clock (31), for a copy the number of its mbarrier (12) and the mbarrier's phases (28).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tag(u64);

/// The bytes that a byte of shared memory takes on the host: its value and two records.
pub(crate) const BYTE_BYTES: u64 = 1 + 2 * size_of::<Tag>() as u64;

/// The contents of a [`Tag`].
enum Writer {
    Nobody,
    /// A warp, through the generic proxy.
    Generic {
        instruction: usize,
        warp: usize,
        clock: u32,
    },
    /// An atomic or a strong access, which cannot race.
    Settled,
    /// An asynchronous copy, which is complete once this many phases of the mbarrier are; zero while it is under way.
    Copy {
        instruction: usize,
        mbarrier: usize,
        phases: u32,
    },
}

impl Tag {
    const NOBODY: Tag = Tag(0);
    pub(crate) const SETTLED: Tag = Tag(2);

    pub(crate) fn generic(instruction: usize, warp: usize, clock: u32) -> Tag {
        Tag(1
            | (instruction as u64 & 0x1f_ffff) << 3
            | (warp as u64) << 24
            | u64::from(clock) << 33)
    }

    /// The record of a copy that is under way.
    pub(crate) fn copy(instruction: usize) -> Tag {
        Tag::copied(instruction, 0, 0)
    }

    /// The record of a copy that is complete once this many phases of the mbarrier are.
    pub(crate) fn copied(instruction: usize, mbarrier: usize, phases: u32) -> Tag {
        Tag(3
            | (instruction as u64 & 0x1f_ffff) << 3
            | (mbarrier as u64) << 24
            | u64::from(phases) << 36)
    }

    fn writer(self) -> Writer {
        let instruction = (self.0 >> 3) as usize & 0x1f_ffff;
        match self.0 & 7 {
            0 => Writer::Nobody,
            1 => Writer::Generic {
                instruction,
                warp: (self.0 >> 24) as usize & 0x1ff,
                clock: (self.0 >> 33) as u32,
            },
            2 => Writer::Settled,
            _ => Writer::Copy {
                instruction,
                mbarrier: (self.0 >> 24) as usize & 0xfff,
                phases: (self.0 >> 36) as u32,
            },
        }
    }
}

/// The shared memory of a CTA.
pub(crate) struct Shared {
    pub(crate) bytes: Vec<u8>,
    /// The last write of each byte.
    writers: Vec<Tag>,
    /// The last read of each byte through the generic proxy since that write. Earlier reads are not kept.
    readers: Vec<Tag>,
}

/// The kind of an access, and the knowledge of the warp that makes it or started it.
#[derive(Clone, Copy)]
pub(crate) enum Use<'a> {
    /// A warp reads through the generic proxy.
    Read {
        warp: usize,
        knowledge: &'a Knowledge,
    },
    /// A warp writes through the generic proxy.
    Write {
        warp: usize,
        knowledge: &'a Knowledge,
    },
    /// An atomic, or a strong load or store.
    Strong,
    /// The async proxy reads; the knowledge is what the warp had when it started the operation.
    Asynchronous { knowledge: &'a Knowledge },
    /// A warp starts a copy that will write.
    Overwrite {
        warp: usize,
        knowledge: &'a Knowledge,
    },
}

impl<'a> Use<'a> {
    fn knowledge(self) -> Option<&'a Knowledge> {
        match self {
            Use::Read { knowledge, .. }
            | Use::Write { knowledge, .. }
            | Use::Asynchronous { knowledge }
            | Use::Overwrite { knowledge, .. } => Some(knowledge),
            Use::Strong => None,
        }
    }
}

impl Shared {
    pub(crate) fn new(bytes: usize) -> Result<Shared, OutOfHostMemory> {
        Ok(Shared {
            bytes: filled(bytes, 0)?,
            writers: filled(bytes, Tag::NOBODY)?,
            readers: filled(bytes, Tag::NOBODY)?,
        })
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
        self.readers[range.clone()].fill(Tag::NOBODY);
        self.writers[range].fill(tag);
    }

    /// Records a read.
    pub(crate) fn read(&mut self, range: Range<usize>, tag: Tag) {
        self.readers[range].fill(tag);
    }

    /// An error unless an access is ordered after the last write of each byte and, if it writes, after the last read.
    pub(crate) fn check(
        &self,
        range: Range<usize>,
        usage: Use<'_>,
        code: &Code,
        warps_per_cta: usize,
    ) -> Result<(), FaultKind> {
        let writes = matches!(usage, Use::Write { .. } | Use::Overwrite { .. });
        let mut last = (Tag::SETTLED, Tag::NOBODY);
        for byte in range {
            let tags = (self.writers[byte], self.readers[byte]);
            if tags == last {
                continue;
            }
            last = tags;
            let check = Check {
                address: byte as u64 + u64::from(SHARED_BASE),
                code,
                warps_per_cta,
            };
            check.after_writer(tags.0, usage)?;
            if writes {
                check.ordered(tags.1, usage)?;
            }
        }
        Ok(())
    }
}

/// The check of one byte of an access.
struct Check<'a> {
    address: u64,
    code: &'a Code,
    warps_per_cta: usize,
}

impl Check<'_> {
    fn after_writer(&self, tag: Tag, usage: Use<'_>) -> Result<(), FaultKind> {
        let address = self.address;
        match (tag.writer(), usage) {
            (Writer::Nobody, Use::Read { .. } | Use::Asynchronous { .. }) => {
                Err(FaultKind::Uninitialised { address })
            }
            (
                Writer::Copy {
                    instruction,
                    mbarrier,
                    phases,
                },
                _,
            ) if phases == 0
                || usage
                    .knowledge()
                    .is_some_and(|knowledge| !knowledge.knows_phases(mbarrier, phases)) =>
            {
                let other = self.code.other(instruction);
                Err(FaultKind::CopyInFlight { address, other })
            }
            (
                Writer::Generic {
                    instruction,
                    warp,
                    clock,
                },
                Use::Asynchronous { knowledge },
            ) if clock > knowledge.fenced[warp] => Err(FaultKind::MissingProxyFence {
                address,
                other: self.code.other(instruction),
                rank: (warp / self.warps_per_cta) as u32,
                warp: (warp % self.warps_per_cta) as u32,
            }),
            (Writer::Generic { .. }, _) => self.ordered(tag, usage),
            _ => Ok(()),
        }
    }

    /// An error if the tag records an access of another warp that is not ordered before this one.
    fn ordered(&self, tag: Tag, usage: Use<'_>) -> Result<(), FaultKind> {
        let (Use::Read {
            warp: by,
            knowledge,
        }
        | Use::Write {
            warp: by,
            knowledge,
        }
        | Use::Overwrite {
            warp: by,
            knowledge,
        }) = usage
        else {
            return Ok(());
        };
        match tag.writer() {
            Writer::Generic {
                instruction,
                warp,
                clock,
            } if warp != by && clock > knowledge.seen[warp] => Err(FaultKind::Race {
                address: self.address,
                other: self.code.other(instruction),
                rank: (warp / self.warps_per_cta) as u32,
                warp: (warp % self.warps_per_cta) as u32,
            }),
            _ => Ok(()),
        }
    }
}

/// The kinds of [`Use`] by a warp with this knowledge.
impl Knowledge {
    pub(crate) fn reads(&self, warp: usize) -> Use<'_> {
        Use::Read {
            warp,
            knowledge: self,
        }
    }

    pub(crate) fn writes(&self, warp: usize) -> Use<'_> {
        Use::Write {
            warp,
            knowledge: self,
        }
    }

    pub(crate) fn overwrites(&self, warp: usize) -> Use<'_> {
        Use::Overwrite {
            warp,
            knowledge: self,
        }
    }
}
