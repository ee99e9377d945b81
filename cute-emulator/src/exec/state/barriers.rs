//! Barriers: mbarriers, the named barriers of a CTA, and the barrier of a cluster.

use super::knowledge::Knowledge;
use super::warp::PhaseValue;
use crate::error::FaultKind;
use cute_hopper::barriers;
use std::fmt::{self, Display, Formatter};

pub(crate) const MBARRIER_BYTES: usize = barriers::MBARRIER_BYTES as usize;
pub(crate) const MAX_ARRIVALS: u64 = barriers::MAX_ARRIVALS as u64;
const MAX_TX_BYTES: u64 = barriers::MAX_TX_BYTES as u64;

/// An mbarrier.
#[derive(Clone, Debug)]
pub(crate) struct Mbarrier {
    /// Completed phases.
    pub(crate) phase: u64,
    /// Arrivals of a phase.
    pub(crate) expected: u64,
    /// Arrivals that the current phase lacks.
    pub(crate) pending: u64,
    /// Bytes that the current phase lacks; negative where they came before they were expected.
    pub(crate) bytes: i64,
    /// The warp that initialised it, and whether a fence has made that known to the asynchronous proxy and the cluster.
    pub(crate) initialiser: usize,
    pub(crate) announced: bool,
    /// What those who arrived have made known.
    pub(crate) knowledge: Knowledge,
}

impl Mbarrier {
    /// Whether a phase is over.
    pub(crate) fn passed(&self, phase: PhaseValue) -> bool {
        match phase {
            PhaseValue::Parity(parity) => self.phase & 1 != parity & 1,
            PhaseValue::State(state) => self.phase > state,
        }
    }

    fn settle(&mut self) {
        if self.pending == 0 && self.bytes == 0 {
            self.phase += 1;
            self.pending = self.expected;
        }
    }

    pub(crate) fn arrive(
        &mut self,
        count: u64,
        address: u64,
    ) -> std::result::Result<(), FaultKind> {
        self.pending = self.pending.checked_sub(count).ok_or_else(|| {
            problem(
                address,
                format!(
                    "{count} threads arrive, but the pending count of phase {} is {}",
                    self.phase, self.pending
                ),
            )
        })?;
        self.settle();
        Ok(())
    }

    /// Expects bytes, or with a negative number takes note that they came.
    pub(crate) fn transfer(
        &mut self,
        bytes: i64,
        address: u64,
    ) -> std::result::Result<(), FaultKind> {
        self.bytes += bytes;
        if self.bytes.unsigned_abs() > MAX_TX_BYTES {
            return Err(problem(
                address,
                format!(
                    "the transaction count becomes {}; its range is -{MAX_TX_BYTES} to {MAX_TX_BYTES}",
                    self.bytes
                ),
            ));
        }
        if bytes < 0 {
            self.settle();
        }
        Ok(())
    }

    /// One more arrival in this phase, for one that is under way.
    pub(crate) fn await_one_more(&mut self, address: u64) -> std::result::Result<(), FaultKind> {
        if self.pending == MAX_ARRIVALS {
            let message =
                format!("the pending count is {MAX_ARRIVALS}, its maximum, and cannot grow");
            return Err(problem(address, message));
        }
        self.pending += 1;
        Ok(())
    }

    /// Knows what landed.
    pub(crate) fn learn_landing(&mut self, clock: u32) {
        self.knowledge.learn_landing(clock);
    }

    /// Whether others than the CTA's threads may use it.
    pub(crate) fn check_announced(&self, address: u64) -> std::result::Result<(), FaultKind> {
        match self.announced {
            true => Ok(()),
            false => Err(problem(
                address,
                "a copy or another CTA uses it, but no fence.mbarrier_init follows its mbarrier.init".to_owned(),
            )),
        }
    }

    pub(crate) fn learn(&mut self, knowledge: &Knowledge) {
        self.knowledge.join(knowledge);
    }
}

impl Display for Mbarrier {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "its phase {} (parity {}) waits for {} of {} arrivals and {} bytes",
            self.phase,
            self.phase & 1,
            self.pending,
            self.expected,
            self.bytes
        )
    }
}

/// One of the barriers of `bar.sync`.
pub(crate) struct NamedBarrier {
    pub(crate) generation: u64,
    /// Threads that have arrived.
    pub(crate) arrived: u64,
    /// Threads that are to arrive.
    pub(crate) expected: u64,
    /// Whether it waits for all threads of the CTA that have not ended.
    pub(crate) whole: bool,
    pub(crate) knowledge: Knowledge,
    pub(crate) waiting: Vec<usize>,
}

impl NamedBarrier {
    pub(crate) fn new(warps: usize) -> NamedBarrier {
        NamedBarrier {
            generation: 0,
            arrived: 0,
            expected: 0,
            whole: false,
            knowledge: Knowledge::new(warps),
            waiting: Vec::new(),
        }
    }
}

/// The barrier of a cluster.
pub(crate) struct ClusterBarrier {
    pub(crate) phase: u64,
    /// Threads that have arrived.
    pub(crate) arrived: u64,
    pub(crate) knowledge: Knowledge,
}

impl ClusterBarrier {
    pub(crate) fn new(warps: usize) -> ClusterBarrier {
        ClusterBarrier {
            phase: 0,
            arrived: 0,
            knowledge: Knowledge::new(warps),
        }
    }
}

pub(crate) fn problem(address: u64, problem: String) -> FaultKind {
    FaultKind::Barrier { address, problem }
}
