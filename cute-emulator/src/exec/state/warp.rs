//! A warp: its registers, and where its lanes stand.

use super::knowledge::Knowledge;
use super::wgmma::Pending;
use crate::limits::{OutOfHostMemory, filled};
use crate::op::{Code, Reg};
use crate::special::Position;
use std::collections::{BTreeSet, VecDeque};
use std::rc::Rc;

/// Lanes of a warp.
pub(crate) const LANES: usize = cute_hopper::threads::WARP as usize;

/// Warps of a warpgroup.
pub(crate) const WARPGROUP: usize = cute_hopper::threads::WARPGROUP_WARPS as usize;

/// A row of the register file: one value for each lane.
pub(crate) type Row = [u64; LANES];

/// Bytes that a row takes on the host, with what is noted of it.
pub(crate) const ROW_BYTES: u64 = (size_of::<Row>() + 2 * size_of::<u32>()) as u64;

#[derive(Default)]
pub(crate) struct Warp {
    pub(crate) rows: Vec<Row>,
    /// Lanes that have not ended.
    pub(crate) alive: u32,
    /// The lanes by where they stand; those at one instruction are one split.
    pub(crate) splits: Vec<Split>,
    /// Its number in the cluster.
    pub(crate) index: usize,
    /// The rank of its CTA in the cluster.
    pub(crate) rank: usize,
    /// Its number in the CTA.
    pub(crate) warp: u32,
    pub(crate) knowledge: Knowledge,
    /// Lanes that wrote shared memory since they were last in step with the others or fenced it.
    pub(crate) written: u32,
    /// Tensor-core instructions not waited for, oldest first.
    pub(crate) wgmma: VecDeque<Pending>,
    /// How many of them it has ever issued.
    pub(crate) wgmma_issued: u64,
    /// How many of them have executed.
    pub(crate) wgmma_executed: u64,
    /// How many of them are in a group.
    pub(crate) wgmma_committed: u64,
    /// Committed groups of them.
    pub(crate) wgmma_groups: u64,
    /// For each row: how many wgmma there were with the last one that uses it, or zero after that one's wait.
    pub(crate) in_flight: Vec<u32>,
    /// For each row: how many `wgmma.fence` came before the last other instruction that used it.
    pub(crate) touched: Vec<u32>,
    /// How many `wgmma.fence` it has executed.
    pub(crate) wgmma_fences: u32,
    /// Committed groups of bulk stores of each lane.
    pub(crate) bulk_groups: [u64; LANES],
    /// Committed groups of `cp.async` of each lane.
    pub(crate) copy_groups: [u64; LANES],
    /// Its mbarriers that no fence has made known yet, by the rank of the CTA and the address.
    pub(crate) unannounced: BTreeSet<(usize, u32)>,
    /// The phase of the cluster barrier at the last arrival.
    pub(crate) cluster_phase: u64,
    /// Registers of each thread, by `setmaxnreg`.
    pub(crate) registers: u32,
}

/// Lanes that stand at one instruction.
#[derive(Clone, Debug)]
pub(crate) struct Split {
    pub(crate) pc: usize,
    pub(crate) mask: u32,
    pub(crate) wait: Option<Wait>,
    /// The next wait for an mbarrier ends without success.
    pub(crate) give_up: bool,
}

/// What lanes wait for.
#[derive(Clone, Debug)]
pub(crate) enum Wait {
    /// The other lanes of an instruction that they execute together.
    Lanes {
        required: u32,
    },
    /// An mbarrier of the CTA of this rank to leave a phase of this parity, or this very phase.
    Mbarrier {
        rank: usize,
        address: u32,
        phase: PhaseValue,
    },
    Barrier {
        id: usize,
        generation: u64,
    },
    Cluster {
        phase: u64,
    },
    /// The other warps of the warpgroup to issue so many wgmma.
    Warpgroup {
        issued: u64,
    },
    /// Registers in the pool.
    Registers {
        count: u32,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PhaseValue {
    Parity(u64),
    State(u64),
}

impl Warp {
    /// A warp of so many lanes at the beginning of an entry.
    pub(crate) fn start(
        code: &Code,
        position: &Position,
        lanes: u32,
        rank: usize,
        index: usize,
        warps: usize,
        registers: u32,
    ) -> Result<Warp, OutOfHostMemory> {
        let mut rows = filled(code.registers.len(), [0; LANES])?;
        for (row, value) in &code.constants {
            rows[*row as usize] = [*value; LANES];
        }
        for (row, register, axis) in &code.specials {
            rows[*row as usize] = std::array::from_fn(|lane| {
                let value = position.value(*register, *axis, lane as u32);
                value.unwrap_or(0)
            });
        }
        let alive = if lanes == LANES as u32 {
            u32::MAX
        } else {
            (1 << lanes) - 1
        };
        let mut knowledge = Knowledge::new(warps);
        // A moment of its own: nobody else knows of what it does from here on.
        Rc::make_mut(&mut knowledge.seen)[index] = 1;
        Ok(Warp {
            in_flight: filled(rows.len(), 0)?,
            // As if each had been used since the last fence.
            touched: filled(rows.len(), 0)?,
            rows,
            alive,
            splits: vec![Split {
                pc: 0,
                mask: alive,
                wait: None,
                give_up: false,
            }],
            index,
            rank,
            warp: position.warp,
            knowledge,
            registers,
            ..Warp::default()
        })
    }

    /// Who is at work where no warp is.
    pub(crate) fn nobody() -> Warp {
        Warp {
            index: usize::MAX,
            ..Warp::default()
        }
    }

    /// The lanes of `mask` in which a predicate holds.
    pub(crate) fn lanes(&self, predicate: Reg, mask: u32) -> u32 {
        let row = &self.rows[predicate as usize];
        (0..LANES).fold(0, |lanes, lane| {
            lanes | u32::from(row[lane] & 1 == 1) << lane
        }) & mask
    }

    pub(crate) fn get(&self, row: Reg, lane: usize) -> u64 {
        self.rows[row as usize][lane]
    }

    pub(crate) fn set(&mut self, row: Reg, lane: usize, value: u64) {
        self.rows[row as usize][lane] = value;
    }

    /// Sets a row in the lanes of a mask.
    pub(crate) fn fill(&mut self, row: Reg, mask: u32, value: impl Fn(usize) -> u64) {
        for lane in lanes(mask) {
            self.rows[row as usize][lane] = value(lane);
        }
    }

    /// What the warp does from here on is not known to those who know what it did so far.
    pub(crate) fn tick(&mut self) {
        let own = self.index;
        Rc::make_mut(&mut self.knowledge.seen)[own] += 1;
    }

    /// The instruction before which the warp issued so many, if it has not been waited for.
    pub(crate) fn wgmma_of_number(&self, number: u64) -> Option<&Pending> {
        let index = number.checked_sub(self.wgmma.front()?.number)?;
        self.wgmma.get(usize::try_from(index).ok()?)
    }
}

/// The lanes of a mask.
pub(crate) fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |lane| mask >> lane & 1 == 1)
}
