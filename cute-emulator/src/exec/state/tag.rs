//! Records of accesses to a byte of shared memory.

/// The record of an access to a byte. From the lowest bit: the kind of access (3 bits) and the instruction (21). A warp adds
/// its index in the cluster (9) and its clock (31), a copy the number of its mbarrier (12) and the mbarrier's phases (28).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Tag(u64);

/// The contents of a [`Tag`].
pub(crate) enum Record {
    Nobody,
    /// A warp, through the generic proxy.
    Generic {
        instruction: usize,
        warp: usize,
        clock: u32,
        /// Whether it is an atomic or a strong access. Two of these do not race.
        strong: bool,
    },
    /// An asynchronous copy. It is complete once this many phases of the mbarrier are; zero while it is under way.
    Copy {
        instruction: usize,
        mbarrier: usize,
        phases: u32,
    },
    /// The byte is part of an mbarrier that this instruction has initialised.
    Mbarrier {
        instruction: usize,
        warp: usize,
        clock: u32,
    },
    /// The set of readers with this number.
    Set(usize),
}

impl Tag {
    pub(crate) const NOBODY: Tag = Tag(0);

    pub(crate) fn generic(instruction: usize, warp: usize, clock: u32) -> Tag {
        Tag(1
            | (instruction as u64 & 0x1f_ffff) << 3
            | (warp as u64) << 24
            | u64::from(clock) << 33)
    }

    /// The record of an access through the generic proxy: a plain one, or an atomic or a strong one.
    pub(crate) fn access(instruction: usize, warp: usize, clock: u32, strong: bool) -> Tag {
        let plain = Tag::generic(instruction, warp, clock);
        if strong { Tag(plain.0 | 7) } else { plain }
    }

    pub(crate) fn mbarrier(instruction: usize, warp: usize, clock: u32) -> Tag {
        Tag(Tag::generic(instruction, warp, clock).0 & !7 | 4)
    }

    /// The record of a copy that is under way.
    pub(crate) fn copy(instruction: usize) -> Tag {
        Tag::copied(instruction, 0, 0)
    }

    /// The record of a copy that is complete with this many phases of the mbarrier.
    pub(crate) fn copied(instruction: usize, mbarrier: usize, phases: u32) -> Tag {
        Tag(3
            | (instruction as u64 & 0x1f_ffff) << 3
            | (mbarrier as u64) << 24
            | u64::from(phases) << 36)
    }

    pub(crate) fn set(number: usize) -> Tag {
        Tag(5 | (number as u64) << 3)
    }

    /// A number unique to the record; odd for warps.
    pub(crate) fn bits(self) -> u64 {
        self.0
    }

    pub(crate) fn record(self) -> Record {
        let instruction = (self.0 >> 3) as usize & 0x1f_ffff;
        let (warp, clock) = ((self.0 >> 24) as usize & 0x1ff, (self.0 >> 33) as u32);
        match self.0 & 7 {
            0 => Record::Nobody,
            kind @ (1 | 7) => Record::Generic {
                instruction,
                warp,
                clock,
                strong: kind == 7,
            },
            3 => Record::Copy {
                instruction,
                mbarrier: (self.0 >> 24) as usize & 0xfff,
                phases: (self.0 >> 36) as u32,
            },
            4 => Record::Mbarrier {
                instruction,
                warp,
                clock,
            },
            _ => Record::Set((self.0 >> 3) as usize),
        }
    }
}
