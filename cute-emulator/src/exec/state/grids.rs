//! Grids that may still run while a later one does.
//!
//! A grid that is launched with programmatic stream serialization begins while earlier ones run, and only a thread that has executed
//! `griddepcontrol.wait` knows that the grid before has ended (PTX ISA, section `griddepcontrol`). The emulator runs grids one after the
//! other, so it remembers which bytes the earlier ones have accessed, and holds the accesses of a later one against these.

use super::global::Kind;
use super::units::{UNITS, pages, parts};
use crate::op::Code;
use std::collections::HashMap;
use std::fmt::{self, Debug, Formatter};
use std::ops::Range;
use std::sync::Arc;

/// The most grids that are remembered. Of more, and of those whose records take too many bytes, the oldest are taken to have ended.
const MOST_GRIDS: usize = 16;

/// What a grid has done to global memory.
pub(crate) struct Grid {
    pub(crate) code: Arc<Code>,
    touched: Touched,
    /// Whether a thread has waited for the grid before, which has then ended when this one ends.
    waits: bool,
}

/// The grids that may still run, in the order of their launches.
#[derive(Debug, Default)]
pub(crate) struct Grids {
    grids: Vec<Grid>,
    /// How many of them, from the first on, may run even after a wait for the last one.
    open: usize,
}

/// A byte that both a running grid and an earlier one access.
pub(crate) struct Overlap<'a> {
    pub(crate) address: u64,
    pub(crate) code: &'a Code,
    /// The instruction of the earlier grid.
    pub(crate) instruction: usize,
    /// How many launches before this one it was launched.
    pub(crate) before: usize,
}

/// By the number of a page, what has been done to each of its units.
#[derive(Default)]
pub(crate) struct Touched {
    index: HashMap<u64, usize>,
    pages: Vec<[Marks; UNITS]>,
}

/// The bytes of a unit that have been read and written, one bit for each, and the last instruction that did.
#[derive(Clone, Copy, Default)]
pub(crate) struct Marks {
    bytes: [u16; 2],
    instructions: [u32; 2],
}

impl Grids {
    /// Called when a grid is launched, which begins after these have ended unless it overlaps.
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

    /// Called when a grid has been launched. The earlier ones may have records of as many bytes as this leaves of `limit`.
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

    /// The first byte of an access that conflicts with one of a grid which may still run.
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
    /// The records of a page. The pages come in the order in which they are first accessed.
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

    /// Adds the page of this number, which is not accessed yet.
    pub(crate) fn add(&mut self, number: u64) {
        self.index.insert(number, self.pages.len());
        self.pages.push([Marks::default(); UNITS]);
    }

    /// The first byte of a range whose access conflicts, and the instruction with which it does.
    fn conflict(&self, range: &Range<u64>, kind: Kind) -> Option<(u64, usize)> {
        pages(range).find_map(|(number, range)| {
            let marks = &self.pages[self.page(number)?];
            parts(&range).find_map(|part| {
                let of_unit = &marks[part.index()];
                // A write conflicts with all, a read with writes.
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
