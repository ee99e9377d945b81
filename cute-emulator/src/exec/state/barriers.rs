//! Barriers: mbarriers, the named barriers of a CTA, and the barrier of a cluster.

use super::knowledge::{Event, Heard, Knowledge};
use super::releases::Fenced;
use super::warp::PhaseValue;
use crate::error::FaultKind;
use crate::limits::hold;
use crate::op::{Code, Reg, Vote};
use cute_chip::barriers;
use std::fmt::{self, Display, Formatter};

pub(crate) const MBARRIER_BYTES: usize = barriers::MBARRIER_BYTES as usize;
pub(crate) const MAX_ARRIVALS: u64 = barriers::MAX_ARRIVALS as u64;
const MAX_TX_BYTES: u64 = barriers::MAX_TX_BYTES as u64;
/// How many numbers the mbarriers of a cluster may have: the record of a byte that a copy has written has 12 bits for one.
pub(crate) const MAX_NUMBERS: u64 = 1 << 12;
/// The record of a byte that a copy has written has 28 bits for the number of the mbarrier's phases.
const MAX_PHASES: u64 = (1 << 28) - 1;

/// An mbarrier object.
#[derive(Clone, Debug)]
pub(crate) struct Mbarrier {
    /// The number of the mbarrier in the cluster. An mbarrier initialised at the address of an invalidated one gets the same number.
    pub(crate) number: usize,
    /// How many phases the earlier mbarriers of this number have completed.
    pub(crate) before: u32,
    /// The number of the current phase: how many phases are complete. The lowest bit is the parity.
    pub(crate) phase: u64,
    /// The expected count: arrivals in each phase.
    pub(crate) expected: u64,
    /// The pending count: arrivals that the current phase still waits for.
    pub(crate) pending: u64,
    /// The transaction count: bytes that the current phase still waits for. Negative if bytes arrived before they were
    /// expected.
    pub(crate) bytes: i64,
    /// Whether bytes have arrived in the current phase, and in each of the two before it.
    pub(crate) copied: [bool; 3],
    /// Whether a copy started by another CTA has delivered bytes in the current phase.
    pub(crate) copied_by_others: bool,
    /// The index of the warp that initialised it.
    pub(crate) initialiser: usize,
    /// Whether the initialiser has executed a fence since then. After it, copies and other CTAs may use the mbarrier.
    pub(crate) announced: bool,
    /// The knowledge of all warps that have arrived, including in the current phase, when they arrived.
    pub(crate) arrived: Arrivals,
    /// The knowledge of the warps that arrived in the completed phases. A warp whose wait succeeds learns it.
    pub(crate) released: Arrivals,
    /// The same for the completed phases except the last one.
    pub(crate) released_before: Knowledge,
    /// The successful waits since the last phase completed: the last one of each warp.
    pub(crate) waits: Vec<Event>,
}

/// The knowledge of the warps that have arrived at an mbarrier.
#[derive(Clone, Debug)]
pub(crate) struct Arrivals {
    /// The knowledge of all of these warps.
    pub(crate) all: Knowledge,
    /// The knowledge of the warps of the mbarrier's own CTA. A wait of `.cta` scope learns it.
    pub(crate) within: Knowledge,
}

impl Arrivals {
    pub(crate) fn new(warps: usize) -> Arrivals {
        Arrivals {
            all: Knowledge::new(warps),
            within: Knowledge::new(warps),
        }
    }
}

impl Mbarrier {
    /// Whether the phase of this parity, or of this state, is complete.
    pub(crate) fn passed(&self, phase: PhaseValue) -> bool {
        match phase {
            PhaseValue::Parity(parity) => self.phase & 1 != parity & 1,
            PhaseValue::State(state) => self.phase > state,
        }
    }

    /// Whether the holder of this knowledge knows that the passed phase is complete.
    pub(crate) fn known(&self, phase: PhaseValue, knowledge: &Knowledge) -> bool {
        let known = |state| knowledge.knows_complete(self.number, self.before + state as u32 + 1);
        self.all_known(knowledge) || matches!(phase, PhaseValue::State(state) if known(state))
    }

    /// Whether the holder of this knowledge knows that all phases before the current one are complete: from its own wait, from
    /// another warp's wait, or because it knows of each arrival.
    fn all_known(&self, knowledge: &Knowledge) -> bool {
        self.phase == 0
            || knowledge.knows_complete(self.number, self.completed())
            || !self.copied[1] && knowledge.has_heard_all_of(&self.released.all)
    }

    /// Whether the holder of this knowledge knows that all phases before the last complete one are complete.
    fn all_but_last_known(&self, knowledge: &Knowledge) -> bool {
        self.phase <= 1
            || knowledge.knows_complete(self.number, self.completed() - 1)
            || !self.copied[2] && knowledge.has_heard_all_of(&self.released_before)
    }

    /// An error if a wait that succeeds may be meant for another phase with the same parity.
    pub(crate) fn check_wait(
        &self,
        phase: PhaseValue,
        knowledge: &Knowledge,
        address: u64,
    ) -> std::result::Result<(), FaultKind> {
        let message = match phase {
            PhaseValue::Parity(parity) if !self.all_but_last_known(knowledge) => format!(
                "the wait for parity {} succeeds since phase {} is complete, but that phase {} is complete is not in the order of \
                 events before this wait: under another schedule it succeeds since phase {} is complete, which has the same parity. \
                 Wait for each phase, or after whoever has waited for the one before",
                parity & 1,
                self.phase - 1,
                self.phase - 2,
                match self.phase {
                    2 => "-1".to_owned(),
                    phase => (phase - 3).to_string(),
                }
            ),
            PhaseValue::State(state) if self.phase > state + 1 => format!(
                "the wait is for phase {state}, but phase {} is complete, too: a wait can be for the current phase and for the one \
                 before it",
                self.phase - 1
            ),
            _ => return Ok(()),
        };
        Err(problem(address, message))
    }

    /// Records that a warp's wait for the last complete phase has succeeded.
    pub(crate) fn waited(&mut self, wait: Event) {
        match self.waits.iter_mut().find(|other| other.warp == wait.warp) {
            Some(other) => *other = wait,
            None => self.waits.push(wait),
        }
    }

    /// How many phases the mbarriers of this number have completed.
    pub(crate) fn completed(&self) -> u32 {
        self.before + self.phase as u32
    }

    /// Completes the phase if its pending count and its transaction count are zero. It is an error if the warps that arrived do not
    /// know of every successful wait for the phase before: under another schedule this phase may complete before such a wait, and
    /// the wait then hangs.
    fn complete_phase(&mut self, code: &Code, address: u64) -> std::result::Result<(), FaultKind> {
        if self.pending == 0 && self.bytes == 0 {
            let heard = |wait: &Event| self.arrived.all.has_heard(wait);
            if let Some(wait) = self.waits.iter().find(|wait| !heard(wait)) {
                return Err(FaultKind::PhaseOverrun {
                    address,
                    phase: self.phase,
                    other: code.other(wait.instruction),
                });
            }
            self.waits.clear();
            self.phase += 1;
            self.pending = self.expected;
            self.copied = [false, self.copied[0], self.copied[1]];
            let by_others = std::mem::take(&mut self.copied_by_others);
            let phases = u64::from(self.before) + self.phase;
            hold("phases of an mbarrier", phases, MAX_PHASES)?;
            self.arrived.all.learn_phases(self.number, phases as u32);
            if !by_others {
                self.arrived.within.learn_phases(self.number, phases as u32);
            }
            let released = std::mem::replace(&mut self.released, self.arrived.clone());
            self.released_before = released.all;
        }
        Ok(())
    }

    pub(crate) fn arrive(
        &mut self,
        count: u64,
        code: &Code,
        address: u64,
    ) -> std::result::Result<(), FaultKind> {
        if count == 0 {
            let message = "0 threads arrive; at least one must".to_owned();
            return Err(problem(address, message));
        }
        self.pending = self.pending.checked_sub(count).ok_or_else(|| {
            problem(
                address,
                format!(
                    "{count} threads arrive, but the pending count of phase {} is {}",
                    self.phase, self.pending
                ),
            )
        })?;
        self.complete_phase(code, address)
    }

    /// An error unless the holder of this knowledge, which arrives or transfers bytes, knows that the earlier phases are complete.
    /// Otherwise its arrival or its bytes may count for an earlier phase.
    pub(crate) fn check_turn(
        &self,
        knowledge: &Knowledge,
        address: u64,
    ) -> std::result::Result<(), FaultKind> {
        if self.all_known(knowledge) {
            return Ok(());
        }
        let message = format!(
            "phase {} is complete, but not in the order of events before this arrival in phase {}: under another schedule it counts \
             for the earlier phase. Either wait for that phase first, or, if both belong to one phase, the expected count, {}, or \
             the expected bytes are too few",
            self.phase - 1,
            self.phase,
            self.expected
        );
        Err(problem(address, message))
    }

    /// Lowers the expected count of the next phases.
    pub(crate) fn drop_expected(
        &mut self,
        count: u64,
        address: u64,
    ) -> std::result::Result<(), FaultKind> {
        self.expected = self.expected.checked_sub(count).ok_or_else(|| {
            let message = format!(
                "{count} threads drop out, but the expected count is {}",
                self.expected
            );
            problem(address, message)
        })?;
        Ok(())
    }

    /// Adds to the transaction count: a positive number expects bytes, a negative one completes them.
    pub(crate) fn transfer(
        &mut self,
        bytes: i64,
        code: &Code,
        address: u64,
    ) -> std::result::Result<(), FaultKind> {
        self.bytes += bytes;
        self.copied[0] |= bytes < 0;
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
            self.complete_phase(code, address)?;
        }
        Ok(())
    }

    /// Adds one to the pending count, for `cp.async.mbarrier.arrive` without `.noinc`.
    pub(crate) fn expect_one_more(&mut self, address: u64) -> std::result::Result<(), FaultKind> {
        if self.pending == MAX_ARRIVALS {
            let message =
                format!("the pending count is {MAX_ARRIVALS}, its maximum, and cannot grow");
            return Err(problem(address, message));
        }
        self.pending += 1;
        Ok(())
    }

    /// An error unless copies and other CTAs may use it.
    pub(crate) fn check_announced(&self, address: u64) -> std::result::Result<(), FaultKind> {
        match self.announced {
            true => Ok(()),
            false => Err(problem(
                address,
                "a copy or another CTA uses it, but no fence.mbarrier_init follows its mbarrier.init".to_owned(),
            )),
        }
    }

    /// Called when a warp arrives, of the mbarrier's own CTA or of another one. `within` and `all` are the knowledge that it
    /// releases to its CTA and to the cluster. Even if it releases nothing, the mbarrier learns of the events that the warp has heard of.
    pub(crate) fn learn(
        &mut self,
        knowledge: &Knowledge,
        own_cta: bool,
        [within, all]: [Option<&Knowledge>; 2],
    ) {
        let heard = knowledge.to_heard();
        self.arrived.all.hear(&heard);
        all.into_iter().for_each(|it| self.arrived.all.join(it));
        if own_cta {
            let arrived = &mut self.arrived.within;
            arrived.hear(&heard);
            within.into_iter().for_each(|it| arrived.join(it));
        }
    }

    /// Called when a copy arrives, started by a warp of the mbarrier's own CTA or of another one. The mbarrier learns of the events
    /// that this warp had heard of, but not of its writes: a copy releases only its own bytes.
    pub(crate) fn learn_copy(&mut self, heard: &Heard, own_cta: bool) {
        self.arrived.all.heard.join(heard);
        match own_cta {
            true => self.arrived.within.heard.join(heard),
            false => self.copied_by_others = true,
        }
    }
}

impl Display for Mbarrier {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Mbarrier {
            phase,
            pending,
            expected,
            bytes,
            ..
        } = self;
        let parity = phase & 1;
        write!(f, "its phase {phase} (parity {parity}) ")?;
        match pending {
            0 => write!(f, "has {expected} of {expected} arrivals")?,
            _ => write!(f, "waits for {pending} of {expected} arrivals")?,
        }
        match bytes {
            0.. if *pending == 0 => write!(f, " and waits for {bytes} bytes"),
            0.. => write!(f, " and {bytes} bytes"),
            _ => write!(
                f,
                ", and {} bytes have arrived that it does not expect",
                -bytes
            ),
        }
    }
}

/// One of the 16 named barriers of a CTA, which `bar.sync` uses.
pub(crate) struct NamedBarrier {
    /// How often it has completed.
    pub(crate) generation: u64,
    /// Threads that have arrived since it last completed.
    pub(crate) arrived: u64,
    /// Threads that must arrive before it completes.
    pub(crate) expected: u64,
    /// Whether it waits for all threads of the CTA that have not ended, since no number of threads was given.
    pub(crate) whole: bool,
    /// The arrivals since the barrier last completed, and the arrivals that completed it then.
    pub(crate) arrivals: Vec<Event>,
    pub(crate) last_arrivals: Vec<Event>,
    /// The knowledge of the warps that have arrived, when they arrived.
    pub(crate) knowledge: Knowledge,
    /// The releases of their `fence.sc`.
    pub(crate) sequential: Fenced,
    /// The indices of the waiting warps. A warp that only arrives is not among them.
    pub(crate) waiting: Vec<usize>,
    /// The number of threads that have arrived by `bar.red`, and the number of these whose predicate is true.
    pub(crate) asked: u64,
    pub(crate) holds: u64,
    /// For each warp that reduces: its index, the operation and the row of the result.
    pub(crate) reductions: Vec<(usize, Vote, Reg)>,
}

impl NamedBarrier {
    /// `nothing` is the knowledge at the start.
    pub(crate) fn new(nothing: &Knowledge) -> NamedBarrier {
        NamedBarrier {
            generation: 0,
            arrived: 0,
            expected: 0,
            whole: false,
            arrivals: Vec::new(),
            last_arrivals: Vec::new(),
            knowledge: nothing.clone(),
            sequential: Fenced::default(),
            waiting: Vec::new(),
            asked: 0,
            holds: 0,
            reductions: Vec::new(),
        }
    }

    /// Records an arrival. It is an error if the warp does not know of all arrivals that last completed the barrier: under another
    /// schedule this arrival may count among those.
    pub(crate) fn arrive(
        &mut self,
        id: usize,
        arrival: Event,
        knowledge: &Knowledge,
        code: &Code,
    ) -> std::result::Result<(), FaultKind> {
        let other = |other: &Event| code.other(other.instruction);
        if let Some(twice) = self.arrivals.iter().find(|it| it.warp == arrival.warp) {
            let other = other(twice);
            return Err(FaultKind::ArrivesTwice { id, other });
        }
        let unknown = |last: &&Event| last.warp != arrival.warp && !knowledge.has_heard(last);
        if let Some(last) = self.last_arrivals.iter().find(unknown) {
            let other = other(last);
            return Err(FaultKind::BarrierShared { id, other });
        }
        self.arrivals.push(arrival);
        Ok(())
    }
}

/// The barrier of a cluster.
pub(crate) struct ClusterBarrier {
    /// How often it has completed.
    pub(crate) phase: u64,
    /// Threads that have arrived since it last completed.
    pub(crate) arrived: u64,
    /// The knowledge of the warps that have arrived in this phase and in earlier ones, when they arrived.
    pub(crate) knowledge: Knowledge,
    /// The knowledge of the warps that arrived in the completed phases.
    pub(crate) released: Knowledge,
}

impl ClusterBarrier {
    pub(crate) fn new(warps: usize) -> ClusterBarrier {
        ClusterBarrier {
            phase: 0,
            arrived: 0,
            knowledge: Knowledge::new(warps),
            released: Knowledge::new(warps),
        }
    }
}

pub(crate) fn problem(address: u64, problem: String) -> FaultKind {
    FaultKind::Barrier { address, problem }
}
