//! Barriers of every kind.

use super::cluster::Cluster;
use super::knowledge::Knowledge;
use super::shared::Tag;
use super::step::{Blame, Flow, Result, Step};
use super::warp::{LANES, PhaseValue, Split, Wait, lanes};
use crate::error::FaultKind;
use crate::limits::hold;
use crate::op::{Address, PENDING_SHIFT, Phase, Reg};
use cute_hopper::{barriers, threads};
use std::fmt::{self, Display, Formatter};

const MAX_ARRIVALS: u64 = barriers::MAX_ARRIVALS as u64;
const MAX_TX_BYTES: u64 = barriers::MAX_TX_BYTES as u64;
const MAX_THREADS: u64 = threads::MAX_CTA as u64;
const MBARRIER_BYTES: usize = barriers::MBARRIER_BYTES as usize;

/// An mbarrier.
#[derive(Clone, Debug)]
pub(crate) struct Mbarrier {
    /// Completed phases.
    phase: u64,
    /// Arrivals of a phase.
    expected: u64,
    /// Arrivals that the current phase lacks.
    pending: u64,
    /// Bytes that the current phase lacks; negative where they came before they were expected.
    bytes: i64,
    /// The warp that initialised it, and whether a fence has made that known to the asynchronous proxy and the cluster.
    initialiser: usize,
    announced: bool,
    /// What those who arrived have made known.
    knowledge: Knowledge,
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
                    "{count} arrivals where its phase {} lacks {}",
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
                    "{} bytes are outstanding; the limit is {MAX_TX_BYTES}",
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
            let message = format!("{MAX_ARRIVALS} arrivals are outstanding, the most there may be");
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
                "no fence.mbarrier_init follows its initialisation".to_owned(),
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
            "it is in phase {}, of parity {}, and lacks {} of {} arrivals and {} bytes",
            self.phase,
            self.phase & 1,
            self.pending,
            self.expected,
            self.bytes
        )
    }
}

pub(crate) fn problem(address: u64, problem: String) -> FaultKind {
    FaultKind::Barrier { address, problem }
}

/// One of the barriers of `bar.sync`.
pub(crate) struct NamedBarrier {
    pub(crate) generation: u64,
    /// Threads that have arrived.
    pub(crate) arrived: u64,
    /// Threads that are to arrive.
    pub(crate) expected: u64,
    /// Whether it waits for all threads of the CTA that have not ended.
    whole: bool,
    knowledge: Knowledge,
    waiting: Vec<usize>,
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
    knowledge: Knowledge,
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

impl Step<'_> {
    pub(super) fn barrier(
        &mut self,
        split: &mut Split,
        id: Reg,
        threads: Option<Reg>,
        wait: bool,
    ) -> Result<Flow> {
        let lane = split.mask.trailing_zeros() as usize;
        let id = self.warp.get(id, lane) as u32 as usize;
        let rank = self.warp.rank;
        let live = live_warps(self.cluster, rank, self.warp.index) * LANES as u64;
        let named = threads.map(|threads| u64::from(self.warp.get(threads, lane) as u32));
        self.meet();
        let expected = named.unwrap_or(live);
        let Some(barrier) = self.cluster.ctas[rank].barriers.get_mut(id) else {
            return Err(Blame::from(FaultKind::Operand(format!(
                "barrier {id} is not 0 to {}",
                barriers::NAMED - 1
            ))));
        };
        if !expected.is_multiple_of(LANES as u64) || expected == 0 || expected > MAX_THREADS {
            return Err(problem(
                id as u64,
                format!("{expected} threads are not a multiple of {LANES} up to {MAX_THREADS}"),
            )
            .into());
        }
        if barrier.arrived > 0 && barrier.expected != expected && !barrier.whole {
            let message = format!("{expected} threads here, {} elsewhere", barrier.expected);
            return Err(problem(id as u64, message).into());
        }
        barrier.expected = expected;
        barrier.whole = named.is_none();
        barrier.arrived += LANES as u64;
        barrier.knowledge.join(&self.warp.knowledge);
        self.warp.tick();
        if barrier.arrived > expected {
            return Err(problem(
                id as u64,
                format!("{} threads where {expected} are expected", barrier.arrived),
            )
            .into());
        }
        if wait {
            barrier.waiting.push(self.warp.index);
            split.wait = Some(Wait::Barrier {
                id,
                generation: barrier.generation,
            });
        }
        self.complete_barrier(id);
        if wait && self.cluster.ready(self.warp, split) {
            split.wait = None;
        }
        Ok(Flow::Next)
    }

    /// Lets a barrier go if everybody is there.
    fn complete_barrier(&mut self, id: usize) {
        let barrier = &mut self.cluster.ctas[self.warp.rank].barriers[id];
        if barrier.arrived == 0 || barrier.arrived < barrier.expected {
            return;
        }
        barrier.generation += 1;
        barrier.arrived = 0;
        let waiting = std::mem::take(&mut barrier.waiting);
        let warps = self.cluster.warps.len();
        let knowledge = std::mem::replace(&mut barrier.knowledge, Knowledge::new(warps));
        for index in waiting {
            if index == self.warp.index {
                self.warp.knowledge.join(&knowledge);
            } else {
                self.cluster.warps[index].knowledge.join(&knowledge);
            }
        }
    }

    /// The warp's lanes have met: what each wrote is ordered before what each does next.
    pub(super) fn meet(&mut self) {
        self.warp.written = 0;
    }

    pub(super) fn cluster_arrive(&mut self, mask: u32) {
        self.meet();
        self.warp.cluster_phase = self.cluster.barrier.phase;
        self.cluster.barrier.knowledge.join(&self.warp.knowledge);
        self.warp.tick();
        self.cluster.barrier.arrived += u64::from(mask.count_ones());
        self.complete_cluster_barrier();
    }

    pub(super) fn cluster_wait(&mut self, split: &mut Split) -> Flow {
        if self.cluster.barrier.phase == self.warp.cluster_phase {
            split.wait = Some(Wait::Cluster {
                phase: self.warp.cluster_phase,
            });
            return Flow::Suspend;
        }
        self.warp.knowledge.join(&self.cluster.barrier.knowledge);
        Flow::Next
    }

    fn complete_cluster_barrier(&mut self) {
        let others = self
            .cluster
            .warps
            .iter()
            .map(|warp| u64::from(warp.alive.count_ones()))
            .sum::<u64>();
        let expected = others + u64::from(self.warp.alive.count_ones());
        if self.cluster.barrier.arrived > 0 && self.cluster.barrier.arrived >= expected {
            self.cluster.barrier.arrived = 0;
            self.cluster.barrier.phase += 1;
        }
    }

    /// A warp has ended: nobody waits for it any longer.
    pub(super) fn leave_barriers(&mut self) {
        let rank = self.warp.rank;
        let live = live_warps(self.cluster, rank, self.warp.index) - 1;
        for id in 0..self.cluster.ctas[rank].barriers.len() {
            let barrier = &mut self.cluster.ctas[rank].barriers[id];
            if barrier.whole && barrier.arrived > 0 {
                barrier.expected = live * LANES as u64;
                self.complete_barrier(id);
            }
        }
        self.complete_cluster_barrier();
    }

    pub(super) fn mbarrier_init(&mut self, mask: u32, address: Address, count: Reg) -> Result<()> {
        for lane in lanes(mask) {
            let (rank, at) = self.mbarrier_address(lane, address)?;
            let count = u64::from(self.warp.get(count, lane) as u32);
            if count == 0 || count > MAX_ARRIVALS {
                let fault = problem(
                    u64::from(at),
                    format!("count {count} is not 1 to {MAX_ARRIVALS}"),
                );
                return Err(Blame::lane(fault, lane));
            }
            let knowledge = Knowledge::new(self.cluster.warps.len());
            let fresh = Mbarrier {
                phase: 0,
                expected: count,
                pending: count,
                bytes: 0,
                initialiser: self.warp.index,
                announced: false,
                knowledge,
            };
            let clock = self.warp.knowledge.seen[self.warp.index];
            let tag = Tag::generic(self.pc, self.warp.index, clock);
            let shared = &mut self.cluster.ctas[rank].shared;
            let range = shared
                .range(at.into(), MBARRIER_BYTES)
                .map_err(|fault| Blame::lane(fault, lane))?;
            shared.written(range, tag);
            let mbarriers = &mut self.cluster.ctas[rank].mbarriers;
            let replaced = mbarriers.insert(at, fresh);
            let (count, limit) = (mbarriers.len() as u64, self.limits.mbarriers);
            if let Some(replaced) = replaced {
                self.forget_mbarrier(&replaced, rank, at);
            }
            self.warp.unannounced.insert((rank, at));
            hold("mbarriers of the CTA", count, limit)
                .map_err(|limit| Blame::lane(limit.into(), lane))?;
        }
        Ok(())
    }

    pub(super) fn mbarrier_inval(&mut self, mask: u32, address: Address) -> Result<()> {
        for lane in lanes(mask) {
            let (rank, at) = self.mbarrier_address(lane, address)?;
            let Some(removed) = self.cluster.ctas[rank].mbarriers.remove(&at) else {
                let address = u64::from(at);
                return Err(Blame::lane(FaultKind::NoBarrier { address }, lane));
            };
            self.forget_mbarrier(&removed, rank, at);
        }
        Ok(())
    }

    /// An mbarrier is gone: its initialiser has nothing to announce.
    fn forget_mbarrier(&mut self, gone: &Mbarrier, rank: usize, at: u32) {
        let initialiser = match gone.initialiser == self.warp.index {
            true => &mut *self.warp,
            false => &mut self.cluster.warps[gone.initialiser],
        };
        initialiser.unannounced.remove(&(rank, at));
    }

    pub(super) fn mbarrier_arrive(
        &mut self,
        mask: u32,
        address: Address,
        state: Option<Reg>,
        count: Option<Reg>,
        drop: bool,
        expect: Option<Reg>,
    ) -> Result<()> {
        let knowledge = self.warp.knowledge.clone();
        for lane in lanes(mask) {
            let count = count.map(|count| u64::from(self.warp.get(count, lane) as u32));
            let expect = expect.map(|bytes| i64::from(self.warp.get(bytes, lane) as u32));
            let (barrier, at) = self.mbarrier(lane, address)?;
            let before = barrier.phase | barrier.pending << PENDING_SHIFT;
            let mut update = || {
                if let Some(bytes) = expect {
                    barrier.transfer(bytes, at)?;
                }
                if let Some(count) = count {
                    barrier.learn(&knowledge);
                    if drop {
                        barrier.expected = barrier.expected.saturating_sub(count);
                    }
                    barrier.arrive(count, at)?;
                }
                Ok(())
            };
            update().map_err(|fault| Blame::lane(fault, lane))?;
            if let Some(state) = state {
                self.warp.set(state, lane, before);
            }
        }
        self.warp.tick();
        Ok(())
    }

    pub(super) fn mbarrier_complete(
        &mut self,
        mask: u32,
        address: Address,
        bytes: Reg,
    ) -> Result<()> {
        for lane in lanes(mask) {
            let bytes = i64::from(self.warp.get(bytes, lane) as u32);
            let (barrier, at) = self.mbarrier(lane, address)?;
            barrier
                .transfer(-bytes, at)
                .map_err(|fault| Blame::lane(fault, lane))?;
        }
        Ok(())
    }

    pub(super) fn mbarrier_wait(
        &mut self,
        split: &mut Split,
        mask: u32,
        address: Address,
        done: Reg,
        phase: Phase,
    ) -> Result<Flow> {
        let mut passed = 0_u32;
        let mut waits = None;
        for lane in lanes(mask) {
            let value = match phase {
                Phase::Parity(row) => PhaseValue::Parity(self.warp.get(row, lane)),
                Phase::State(row) => {
                    PhaseValue::State(self.warp.get(row, lane) & ((1 << PENDING_SHIFT) - 1))
                }
            };
            let (rank, at) = self.mbarrier_address(lane, address)?;
            let (barrier, _) = self.mbarrier(lane, address)?;
            if barrier.passed(value) {
                passed |= 1 << lane;
                let knowledge = barrier.knowledge.clone();
                self.warp.knowledge.join(&knowledge);
            } else {
                waits.get_or_insert(Wait::Mbarrier {
                    rank,
                    address: at,
                    phase: value,
                });
            }
        }
        // A wait may end without success at any time; the kernel has to try again.
        let give_up =
            std::mem::take(&mut split.give_up) || self.random.one_in(8) && self.random_delays;
        if waits.is_some() && !give_up {
            split.wait = waits;
            return Ok(Flow::Suspend);
        }
        self.warp
            .fill(done, mask, |lane| u64::from(passed >> lane & 1));
        Ok(Flow::Next)
    }

    /// The CTA and the address of an mbarrier operand.
    pub(super) fn mbarrier_address(&self, lane: usize, address: Address) -> Result<(usize, u32)> {
        let (rank, at) = self.shared_address(lane, address)?;
        self.cluster.ctas[rank]
            .shared
            .range(at, MBARRIER_BYTES)
            .map_err(|fault| Blame::lane(fault, lane))?;
        if !at.is_multiple_of(8) {
            return Err(Blame::lane(
                FaultKind::Misaligned {
                    address: at,
                    align: 8,
                },
                lane,
            ));
        }
        Ok((rank, at as u32))
    }

    pub(super) fn mbarrier(
        &mut self,
        lane: usize,
        address: Address,
    ) -> Result<(&mut Mbarrier, u64)> {
        let (rank, at) = self.mbarrier_address(lane, address)?;
        let (code, warps, own) = (self.code, self.cluster.warps_per_cta(), self.warp.rank);
        let cta = &mut self.cluster.ctas[rank];
        let address = u64::from(at);
        let Some(barrier) = cta.mbarriers.get_mut(&at) else {
            return Err(Blame::lane(FaultKind::NoBarrier { address }, lane));
        };
        // Its initialisation must be known here, and nobody may have written over it.
        let usage = self.warp.knowledge.reads(self.warp.index);
        cta.shared
            .range(address, MBARRIER_BYTES)
            .and_then(|range| cta.shared.check(range, usage, code, warps))
            .and_then(|()| {
                if rank == own {
                    Ok(())
                } else {
                    barrier.check_announced(address)
                }
            })
            .map_err(|fault| Blame::lane(fault, lane))?;
        Ok((barrier, address))
    }

    /// The mbarriers that the warp has initialised may be used by everybody.
    pub(super) fn announce_mbarriers(&mut self) {
        for (rank, address) in std::mem::take(&mut self.warp.unannounced) {
            if let Some(barrier) = self.cluster.ctas[rank].mbarriers.get_mut(&address) {
                barrier.announced |= barrier.initialiser == self.warp.index;
            }
        }
    }

    pub(super) fn set_max_registers(
        &mut self,
        split: &mut Split,
        count: u32,
        increase: bool,
    ) -> Result<Flow> {
        let current = self.warp.registers;
        let change = count.abs_diff(current) * LANES as u32;
        let pool = &mut self.cluster.ctas[self.warp.rank].free_registers;
        match (increase, count >= current) {
            (true, true) if *pool >= change => *pool -= change,
            (true, true) => {
                split.wait = Some(Wait::Registers { count: change });
                return Ok(Flow::Suspend);
            }
            (false, false) => *pool += change,
            (false, true) if count == current => {}
            _ => {
                let direction = if increase { "increase" } else { "decrease" };
                let message =
                    format!("the thread has {current} registers; {count} is no {direction}");
                return Err(FaultKind::Operand(message).into());
            }
        }
        self.warp.registers = count;
        Ok(Flow::Next)
    }
}

/// Warps of a CTA that have not ended, the running one included.
fn live_warps(cluster: &Cluster, rank: usize, running: usize) -> u64 {
    let per_cta = cluster.warps_per_cta();
    let range = rank * per_cta..(rank + 1) * per_cta;
    range
        .filter(|index| *index == running || cluster.warps[*index].alive != 0)
        .count() as u64
}
