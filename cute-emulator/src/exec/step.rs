//! What an instruction may touch, and what may come of it.

use super::random::Random;
use super::state::cluster::Cluster;
use super::state::origin::Origin;
use super::state::queue::Budget;
use super::state::warp::Warp;
use crate::error::FaultKind;
use crate::launch::Stats;
use crate::limits::Limits;
use crate::memory::GlobalMemory;
use crate::op::Code;

/// Everything that an instruction may touch.
pub(crate) struct Step<'a> {
    pub(crate) code: &'a Code,
    pub(crate) params: &'a [u8],
    pub(crate) cluster: &'a mut Cluster,
    /// Taken out of the cluster while it runs.
    pub(crate) warp: &'a mut Warp,
    pub(crate) memory: &'a mut GlobalMemory,
    pub(crate) random: &'a mut Random,
    pub(crate) random_delays: bool,
    pub(crate) stats: &'a mut Stats,
    pub(crate) limits: &'a Limits,
    pub(crate) pending: &'a mut Budget,
    /// What counts as instructions beside those executed.
    pub(crate) charged: &'a mut u64,
    /// The instruction that runs.
    pub(crate) pc: usize,
    /// Whether something changed that others may wait for.
    pub(crate) progress: bool,
}

impl Step<'_> {
    /// Counts what takes as long as so many instructions.
    pub(crate) fn charge(&mut self, steps: u64) {
        *self.charged = self.charged.saturating_add(steps);
    }

    /// Names the running instruction and lane.
    pub(crate) fn origin(&self, lane: usize) -> Origin {
        Origin {
            instruction: self.pc,
            rank: self.warp.rank,
            warp: self.warp.warp,
            lane,
        }
    }

    /// A warp of the cluster, which may be the one that runs.
    pub(crate) fn warp_at(&self, index: usize) -> &Warp {
        if index == self.warp.index {
            self.warp
        } else {
            &self.cluster.warps[index]
        }
    }
}

/// What follows an instruction.
pub(crate) enum Flow {
    Next,
    /// The lanes of the mask go to the target, the others on.
    Branch {
        target: usize,
        taken: u32,
    },
    /// The lanes of the mask end.
    Exit(u32),
    /// The same instruction again, once the split's wait is over.
    Suspend,
}

/// What went wrong, and on whose account.
pub(crate) struct Blame {
    pub(crate) kind: FaultKind,
    pub(crate) lane: Option<usize>,
    /// Where the instruction is not the one that runs, but one whose asynchronous work went wrong.
    pub(crate) origin: Option<Origin>,
}

impl Blame {
    pub(crate) fn lane(kind: FaultKind, lane: usize) -> Blame {
        Blame {
            kind,
            lane: Some(lane),
            origin: None,
        }
    }

    pub(crate) fn origin(kind: FaultKind, origin: Origin) -> Blame {
        Blame {
            kind,
            lane: None,
            origin: Some(origin),
        }
    }
}

impl From<FaultKind> for Blame {
    fn from(kind: FaultKind) -> Blame {
        Blame {
            kind,
            lane: None,
            origin: None,
        }
    }
}

pub(crate) type Result<T> = std::result::Result<T, Blame>;
