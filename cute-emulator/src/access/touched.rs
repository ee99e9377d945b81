//! The bytes of global memory that a grid has accessed.

use super::kind::Kind;
use super::units::{UNITS, pages, parts};
use crate::op::Scope;
use std::collections::HashMap;
use std::ops::Range;

/// The accesses to each unit, by the number of its page.
#[derive(Default)]
pub(crate) struct Touched {
    index: HashMap<u64, usize>,
    pages: Vec<[Marks; UNITS]>,
}

/// The accesses to the bytes of a unit.
#[derive(Clone, Copy, Default)]
pub(crate) struct Marks {
    /// The bytes accessed in each [way](Way), as bits.
    bytes: [u16; 4],
    /// The last instruction that read the unit, and the last one that wrote it.
    instructions: [u32; 2],
}

/// How an access conflicts with the accesses of other grids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Way {
    pub(crate) writes: bool,
    /// Whether it is a strong access or a reduction whose scope includes other grids. Two of these do not race.
    pub(crate) is_strong: bool,
}

impl Touched {
    /// The records of the page at this index. The index counts pages in the order of their first access.
    pub(crate) fn marks(&mut self, page: usize) -> &mut [Marks; UNITS] {
        &mut self.pages[page]
    }

    /// The index of the page of this number.
    pub(crate) fn page(&self, number: u64) -> Option<usize> {
        self.index.get(&number).copied()
    }

    /// Bytes of the records on the host.
    pub(crate) fn bytes(&self) -> u64 {
        size_of_val(&self.pages[..]) as u64
    }

    /// Adds the page of this number, which has no records yet.
    pub(crate) fn add(&mut self, number: u64) {
        self.index.insert(number, self.pages.len());
        self.pages.push([Marks::default(); UNITS]);
    }

    /// The first byte of a range with a conflicting record, and the instruction of this record.
    pub(crate) fn conflict(&self, range: &Range<u64>, way: Way) -> Option<(u64, usize)> {
        pages(range).find_map(|(number, range)| {
            let marks = &self.pages[self.page(number)?];
            parts(&range).find_map(|part| {
                let (byte, instruction) = marks[part.index()].conflict(part.bytes, way)?;
                Some((part.base + byte, instruction))
            })
        })
    }
}

impl Marks {
    /// Records that some bytes of the unit are accessed.
    pub(crate) fn add(&mut self, bytes: u16, way: Way, instruction: u32) {
        self.bytes[way.index()] |= bytes;
        self.instructions[usize::from(way.writes)] = instruction;
    }

    /// The first of some bytes of the unit with a conflicting record, and the instruction of this record. Writes are named first.
    fn conflict(&self, bytes: u16, way: Way) -> Option<(u64, usize)> {
        [true, false].into_iter().find_map(|writes| {
            let with = [true, false].map(|is_strong| Way { writes, is_strong });
            let with = with.into_iter().filter(|other| other.conflicts(way));
            let common = bytes & with.fold(0, |all, other| all | self.bytes[other.index()]);
            let instruction = self.instructions[usize::from(writes)] as usize;
            (common != 0).then_some((u64::from(common.trailing_zeros()), instruction))
        })
    }
}

impl Way {
    pub(crate) fn new(kind: Kind, scope: Scope) -> Way {
        Way {
            writes: kind.writes(),
            is_strong: kind.is_strong() && scope == Scope::Gpu,
        }
    }

    pub(crate) fn conflicts(self, other: Way) -> bool {
        (self.writes || other.writes) && !(self.is_strong && other.is_strong)
    }

    fn index(self) -> usize {
        usize::from(self.writes) + 2 * usize::from(self.is_strong)
    }
}
