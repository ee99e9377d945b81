//! Shared memory, and for each of its bytes who wrote it last and how, and who read it since.

use super::knowledge::Knowledge;
use crate::error::FaultKind;
use crate::limits::{OutOfHostMemory, filled};
use crate::op::{Code, SHARED_BASE};
use std::ops::Range;

/// Who touched a byte: in the low two bits how, then the instruction (22 bits), the warp of the cluster (9), its clock (31).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tag(u64);

/// Bytes that a byte of shared memory takes on the host.
pub(crate) const BYTE_BYTES: u64 = 1 + 2 * size_of::<Tag>() as u64;

enum Writer {
    Nobody,
    /// A warp through the generic proxy.
    Generic {
        instruction: usize,
        warp: usize,
        clock: u32,
    },
    /// Somebody whose write needs no further order: a copy that landed, or an atomic.
    Settled,
    /// A copy, at this moment of the copies; zero while it has not landed.
    Copy {
        instruction: usize,
        clock: u32,
    },
}

impl Tag {
    const NOBODY: Tag = Tag(0);
    pub(crate) const SETTLED: Tag = Tag(2);

    pub(crate) fn generic(instruction: usize, warp: usize, clock: u32) -> Tag {
        Tag(1
            | (instruction as u64 & 0x3f_ffff) << 2
            | (warp as u64) << 24
            | u64::from(clock) << 33)
    }

    pub(crate) fn copy(instruction: usize, clock: u32) -> Tag {
        Tag(3 | (instruction as u64 & 0x3f_ffff) << 2 | u64::from(clock) << 33)
    }

    fn writer(self) -> Writer {
        let instruction = (self.0 >> 2) as usize & 0x3f_ffff;
        match self.0 & 3 {
            0 => Writer::Nobody,
            1 => Writer::Generic {
                instruction,
                warp: (self.0 >> 24) as usize & 0x1ff,
                clock: (self.0 >> 33) as u32,
            },
            2 => Writer::Settled,
            _ => Writer::Copy {
                instruction,
                clock: (self.0 >> 33) as u32,
            },
        }
    }
}

/// The shared memory of a CTA.
pub(crate) struct Shared {
    pub(crate) bytes: Vec<u8>,
    /// Who wrote each byte last.
    writers: Vec<Tag>,
    /// Who read it last through the generic proxy since then: one reader, though there may be several.
    readers: Vec<Tag>,
}

/// What an access does, and what is known to whom it serves.
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
    /// An atomic, or a load or store that orders others.
    Strong,
    /// The asynchronous proxy reads for a warp that knew so much when it asked for it.
    Asynchronous { knowledge: &'a Knowledge },
    /// A copy that a warp asks for is about to write.
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

    /// The part of `bytes` that an access covers.
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

    /// Notes who writes.
    pub(crate) fn written(&mut self, range: Range<usize>, tag: Tag) {
        self.readers[range.clone()].fill(Tag::NOBODY);
        self.writers[range].fill(tag);
    }

    /// Notes who reads.
    pub(crate) fn read(&mut self, range: Range<usize>, tag: Tag) {
        self.readers[range].fill(tag);
    }

    /// Whether an access is ordered after what others did to the bytes that it touches.
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

/// One byte of an access.
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
            (Writer::Copy { instruction, clock }, _)
                if clock == 0
                    || usage
                        .knowledge()
                        .is_some_and(|knowledge| clock > knowledge.landed()) =>
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

    /// Whether what the tag says of another warp is known to this one.
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

/// How a warp's knowledge reads in a [`Use`].
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
