//! The context of an instruction, and the control flow after it.

use super::order::Delay;
use super::random::Random;
use super::state::cluster::Cluster;
use super::state::global::Global;
use super::state::knowledge::Event;
use super::state::origin::Origin;
use super::state::queue::Budget;
use super::state::warp::{Frame, Warp};
use super::views::Launched;
use super::watch::Watch;
use crate::error::FaultKind;
use crate::launch::Checks;
use crate::limits::Limits;
use crate::memory::GlobalMemory;
use crate::op::Code;
use std::rc::Rc;

/// The context of an instruction while it executes.
pub(crate) struct Step<'a> {
    pub(crate) code: &'a Code,
    pub(crate) params: &'a [u8],
    /// The tensors in global memory that the module describes: one for each view or, for a list, one for each item.
    pub(crate) views: &'a [Box<[Launched]>],
    pub(crate) cluster: &'a mut Cluster,
    /// The warp that executes it. It is removed from `cluster.warps` during the step.
    pub(crate) warp: &'a mut Warp,
    pub(crate) memory: &'a mut GlobalMemory,
    /// The launch's accesses to global memory.
    pub(crate) global: &'a mut Global,
    pub(crate) random: &'a mut Random,
    pub(crate) delay: Delay,
    pub(crate) watch: &'a mut Watch,
    pub(crate) limits: &'a Limits,
    pub(crate) checks: Checks,
    pub(crate) pending: &'a mut Budget,
    /// The index of the instruction.
    pub(crate) pc: usize,
    /// Whether the step changed something that other warps may wait for.
    pub(crate) progress: bool,
}

impl Step<'_> {
    /// Charges slow work as this many instructions.
    pub(crate) fn charge(&mut self, steps: u64) {
        let charged = &mut self.watch.counts.charged;
        *charged = charged.saturating_add(steps);
    }

    /// The running instruction, with this lane.
    pub(crate) fn origin(&self, lane: usize) -> Origin {
        Origin {
            instruction: self.pc,
            rank: self.warp.rank,
            warp: self.warp.warp,
            lane,
            started: self.watch.counts.steps as u32,
        }
    }

    /// The running instruction, at the time of the warp's clock.
    pub(crate) fn event(&self) -> Event {
        Event {
            warp: self.warp.index,
            clock: self.warp.clock(),
            instruction: self.pc,
        }
    }

    /// Like [`warp_at`](Step::warp_at), mutably.
    pub(crate) fn warp_at_mut(&mut self, index: usize) -> &mut Warp {
        if index == self.warp.index {
            self.warp
        } else {
            &mut self.cluster.warps[index]
        }
    }

    /// A warp of the cluster by its index: the running one is not in `cluster.warps`.
    pub(crate) fn warp_at(&self, index: usize) -> &Warp {
        if index == self.warp.index {
            self.warp
        } else {
            &self.cluster.warps[index]
        }
    }
}

/// The control flow after an instruction.
pub(crate) enum Flow {
    Next,
    /// The split waits, and then executes the same instruction again.
    Suspend,
    Leave(Leave),
}

/// The targets of lanes that do not continue with the next instruction.
pub(crate) enum Leave {
    /// The lanes `taken` branch to the target, and the others continue with the next instruction.
    Branch { target: usize, taken: u32 },
    /// The lanes `taken` go to the target, in a call if there is a frame. The lanes `waiting` have another target, and stay.
    Call {
        target: usize,
        taken: u32,
        waiting: u32,
        frame: Option<Rc<Frame>>,
    },
    /// The lanes of the mask return from the function.
    Return(u32),
    /// The lanes of the mask end.
    Exit(u32),
}

/// A fault, with the instruction and lane that caused it.
pub(crate) struct Blame {
    pub(crate) kind: FaultKind,
    pub(crate) lane: Option<usize>,
    /// The instruction that started the asynchronous work at fault; `None` for the running instruction.
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
