//! A warp: its registers, and where its lanes stand.

use super::knowledge::Knowledge;
use super::wgmma::Pending;
use crate::op::Reg;
use std::collections::{BTreeSet, VecDeque};

/// Lanes of a warp.
pub(crate) const LANES: usize = cute_hopper::threads::WARP as usize;

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
}

/// The lanes of a mask.
pub(crate) fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |lane| mask >> lane & 1 == 1)
}
