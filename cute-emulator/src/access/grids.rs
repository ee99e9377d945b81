//! Earlier grids that may still run during a later one.
//!
//! A grid launched with programmatic stream serialization can begin while earlier grids run. Only a thread that has executed
//! `griddepcontrol.wait` knows that the previous grid has ended (PTX ISA, section `griddepcontrol`). The emulator runs grids one after
//! the other. So it remembers the bytes that earlier grids have accessed, and checks the accesses of later grids against them.

use super::kind::Kind;
use super::units::{UNITS, pages, parts};
use crate::op::Code;
use std::collections::HashMap;
use std::fmt::{self, Debug, Formatter};
use std::ops::Range;
use std::sync::Arc;

/// The most grids that are remembered. Beyond this number, or beyond the limit of bytes, the oldest count as ended.
const MOST_GRIDS: usize = 16;

/// The accesses of a grid to global memory.
pub(crate) struct Grid {
    pub(crate) code: Arc<Code>,
    touched: Touched,
    /// Whether a thread has waited for the previous grid. If so, that grid has ended when this one ends.
    waits: bool,
}

/// The grids that may still run, in the order of their launches.
#[derive(Debug, Default)]
pub(crate) struct Grids {
    grids: Vec<Grid>,
    /// The number of grids, from the first on, that may run even after a wait for the last one.
    open: usize,
}

/// A byte that both a running grid and an earlier one access.
pub(crate) struct Overlap<'a> {
    pub(crate) address: u64,
    pub(crate) code: &'a Code,
    /// The instruction of the earlier grid.
    pub(crate) instruction: usize,
    /// How many launches before this one the earlier grid was launched; 1 for the previous grid.
    pub(crate) before: usize,
}

/// The accesses to each unit, by the number of its page.
#[derive(Default)]
pub(crate) struct Touched {
    index: HashMap<u64, usize>,
    pages: Vec<[Marks; UNITS]>,
}

/// The bytes of a unit that were read and written, as bits, and the last instruction that read and wrote it.
#[derive(Clone, Copy, Default)]
pub(crate) struct Marks {
    bytes: [u16; 2],
    instructions: [u32; 2],
}

impl Grids {
    /// Called when a grid is launched. Unless it overlaps, the earlier grids end first.
    pub(crate) fn begin(&mut self, overlaps: bool) {
        if !overlaps {
            self.grids.clear();
        }
        let waits = self.grids.iter().rev().take_while(|grid| grid.waits);
        self.open = (self.grids.len()).saturating_sub(waits.count() + 1);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.grids.is_empty()
    }

    /// Called after a grid was launched. Drops the oldest grids beyond [`MOST_GRIDS`], or beyond `limit` bytes of records.
    pub(crate) fn add(&mut self, grid: Grid, limit: u64) {
        self.grids.push(grid);
        let mut bytes = 0;
        let newest_first = self.grids.iter().rev().take(MOST_GRIDS);
        let fits = newest_first.take_while(|grid| {
            bytes += grid.touched.bytes();
            bytes <= limit
        });
        let forgotten = self.grids.len() - fits.count();
        self.grids.drain(..forgotten);
    }

    /// The first byte of an access that conflicts with an access of an earlier grid that may still run.
    pub(crate) fn overlap(
        &self,
        range: &Range<u64>,
        kind: Kind,
        waited: bool,
    ) -> Option<Overlap<'_>> {
        let running = if waited { self.open } else { self.grids.len() };
        let found = |(index, grid): (usize, &Grid)| {
            let (address, instruction) = grid.touched.conflict(range, kind)?;
            Some((index, address, instruction))
        };
        let grids = self.grids[..running].iter().enumerate().rev();
        let (index, address, instruction) = { grids }.find_map(found)?;
        Some(Overlap {
            address,
            code: &self.grids[index].code,
            instruction,
            before: self.grids.len() - index,
        })
    }
}

impl Grid {
    pub(crate) fn new(code: Arc<Code>, touched: Touched, waits: bool) -> Grid {
        Grid {
            code,
            touched,
            waits,
        }
    }
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

    fn bytes(&self) -> u64 {
        size_of_val(&self.pages[..]) as u64
    }

    /// Adds the page of this number, which has no records yet.
    pub(crate) fn add(&mut self, number: u64) {
        self.index.insert(number, self.pages.len());
        self.pages.push([Marks::default(); UNITS]);
    }

    /// The first byte of a range with a conflicting record, and the instruction of this record.
    fn conflict(&self, range: &Range<u64>, kind: Kind) -> Option<(u64, usize)> {
        pages(range).find_map(|(number, range)| {
            let marks = &self.pages[self.page(number)?];
            parts(&range).find_map(|part| {
                let of_unit = &marks[part.index()];
                // A write conflicts with reads and writes, a read only with writes.
                let kinds = [1, 0].into_iter().take(1 + usize::from(kind.writes()));
                kinds.into_iter().find_map(|which| {
                    let common = of_unit.bytes[which] & part.bytes;
                    let address = part.base + u64::from(common.trailing_zeros());
                    (common != 0).then_some((address, of_unit.instructions[which] as usize))
                })
            })
        })
    }
}

impl Marks {
    /// Records that some bytes of the unit are accessed.
    pub(crate) fn add(&mut self, bytes: u16, kind: Kind, instruction: u32) {
        let which = usize::from(kind.writes());
        self.bytes[which] |= bytes;
        self.instructions[which] = instruction;
    }
}

impl Debug for Grid {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "Grid({})", self.code.name)
    }
}
