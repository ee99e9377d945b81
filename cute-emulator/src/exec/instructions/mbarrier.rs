//! The operations on mbarriers.

use crate::error::FaultKind;
use crate::exec::order::Delay;
use crate::exec::state::barriers::{
    Arrivals, MAX_ARRIVALS, MAX_NUMBERS, MBARRIER_BYTES, Mbarrier, problem,
};
use crate::exec::state::repetition::Repetition;
use crate::exec::state::row::lanes;
use crate::exec::state::shared::How;
use crate::exec::state::tag::Tag;
use crate::exec::state::warp::{PhaseValue, Split, Wait};
use crate::exec::step::{Blame, Result, Step};
use crate::limits::hold;
use crate::op::{Acquire, Address, Arrival, PENDING_SHIFT, Phase, Reg, Scope};

/// With random delays, one in this many refused waits runs on before the phase is complete.
const WAKEFUL: usize = 8;

impl Step<'_> {
    pub(crate) fn mbarrier_init(&mut self, mask: u32, address: Address, count: Reg) -> Result<()> {
        for lane in lanes(mask) {
            let (rank, at) = self.mbarrier_address(lane, address)?;
            let count = u64::from(self.warp.get(count, lane) as u32);
            if count == 0 || count > MAX_ARRIVALS {
                let fault = problem(
                    u64::from(at),
                    format!("the count {count} is not in 1 to {MAX_ARRIVALS}"),
                );
                return Err(Blame::lane(fault, lane));
            }
            if self.cluster.ctas[rank].mbarriers.contains_key(&at) {
                let message = "it is initialised a second time, maybe by several threads; one thread initialises it once, or \
                               executes mbarrier.inval before";
                let fault = problem(u64::from(at), message.to_owned());
                return Err(Blame::lane(fault, lane));
            }
            let (number, before) = self.mbarrier_number(rank, at);
            hold("mbarriers of the cluster", number as u64 + 1, MAX_NUMBERS)
                .map_err(|limit| Blame::lane(limit.into(), lane))?;
            let nothing = Arrivals::new(self.cluster.warps.len());
            let fresh = Mbarrier {
                number,
                before,
                phase: 0,
                expected: count,
                pending: count,
                bytes: 0,
                copied: [false; 3],
                copied_by_others: false,
                initialiser: self.warp.index,
                announced: false,
                released_before: nothing.all.clone(),
                arrived: nothing.clone(),
                released: nothing,
                waits: Vec::new(),
            };
            let clock = self.warp.knowledge.seen[self.warp.index];
            let tag = Tag::mbarrier(self.pc, self.warp.index, clock);
            self.overwrite(rank, at, tag)
                .map_err(|fault| Blame::lane(fault, lane))?;
            let mbarriers = &mut self.cluster.ctas[rank].mbarriers;
            mbarriers.insert(at, fresh);
            let (count, limit) = (mbarriers.len() as u64, self.limits.mbarriers);
            self.warp.unannounced.insert((rank, at));
            hold("mbarriers of the CTA", count, limit)
                .map_err(|limit| Blame::lane(limit.into(), lane))?;
        }
        Ok(())
    }

    pub(crate) fn mbarrier_inval(&mut self, mask: u32, address: Address) -> Result<()> {
        for lane in lanes(mask) {
            let (rank, at) = self.mbarrier_address(lane, address)?;
            let Some(removed) = self.cluster.ctas[rank].mbarriers.remove(&at) else {
                let address = u64::from(at);
                return Err(Blame::lane(FaultKind::NoBarrier { address }, lane));
            };
            if removed.bytes != 0 {
                let message = format!("it is invalidated, and bytes are under way: {removed}");
                return Err(Blame::lane(problem(u64::from(at), message), lane));
            }
            self.forget_mbarrier(&removed, rank, at);
            let clock = self.warp.knowledge.seen[self.warp.index];
            let tag = Tag::generic(self.pc, self.warp.index, clock);
            let shared = &mut self.cluster.ctas[rank].shared;
            let range = shared
                .range(at.into(), MBARRIER_BYTES)
                .map_err(|fault| Blame::lane(fault, lane))?;
            shared.written(range, tag);
        }
        Ok(())
    }

    /// Writes the bytes of a new mbarrier, where no mbarrier is yet.
    fn overwrite(&mut self, rank: usize, at: u32, tag: Tag) -> std::result::Result<(), FaultKind> {
        let warps = self.cluster.warps_per_cta();
        let usage = self.warp.knowledge.uses(self.warp.index, How::Write);
        let shared = &mut self.cluster.ctas[rank].shared;
        let range = shared.range(at.into(), MBARRIER_BYTES)?;
        shared.check(range.clone(), usage, self.code, warps)?;
        shared.written(range, tag);
        Ok(())
    }

    /// The number for an mbarrier that is initialised at an address, and how many phases this number has completed.
    fn mbarrier_number(&mut self, rank: usize, at: u32) -> (usize, u32) {
        let cluster = &mut *self.cluster;
        let earlier = cluster.invalidated.remove(&(rank, at));
        earlier.unwrap_or_else(|| {
            cluster.mbarriers += 1;
            (cluster.mbarriers - 1, 0)
        })
    }

    pub(crate) fn mbarrier_arrive(
        &mut self,
        mask: u32,
        address: Address,
        arrival: Arrival,
    ) -> Result<()> {
        let Arrival {
            state,
            count,
            drop,
            expect,
            own_cta,
            relaxed,
        } = arrival;
        // The mbarrier learns the warp's knowledge once for each lane.
        self.charge(u64::from(mask.count_ones()));
        let knowledge = self.warp.knowledge.clone();
        let (own, code) = (self.warp.rank, self.code);
        let released = [Scope::Cta, Scope::Cluster].map(|scope| match relaxed {
            true => self.warp.fences.released_at(scope).cloned(),
            false => Some(knowledge.clone()),
        });
        let [to_cta, to_cluster] = released.each_ref().map(Option::as_ref);
        for lane in lanes(mask) {
            let count = count.map(|count| u64::from(self.warp.get(count, lane) as u32));
            let expect = expect.map(|bytes| i64::from(self.warp.get(bytes, lane) as u32));
            let (rank, _) = self.mbarrier_address(lane, address)?;
            let (barrier, at) = self.mbarrier(lane, address)?;
            let before = barrier.phase | barrier.pending << PENDING_SHIFT;
            let mut update = || {
                barrier.check_turn(&knowledge, at)?;
                if let Some(bytes) = expect {
                    barrier.transfer(bytes, code, at)?;
                }
                if let Some(count) = count {
                    let to_cluster = to_cluster.filter(|_| rank == own || !own_cta);
                    barrier.learn(&knowledge, rank == own, [to_cta, to_cluster]);
                    if drop {
                        barrier.drop_expected(count, at)?;
                    }
                    barrier.arrive(count, code, at)?;
                }
                Ok(())
            };
            update().map_err(|fault: FaultKind| Blame::lane(fault.seen_from(own, rank), lane))?;
            self.watch.phase(self.code, self.cluster, rank, at as u32);
            if let Some(state) = state {
                self.warp.set(state, lane, before);
            }
        }
        self.warp.tick();
        Ok(())
    }

    pub(crate) fn mbarrier_complete(
        &mut self,
        mask: u32,
        address: Address,
        bytes: Reg,
    ) -> Result<()> {
        let knowledge = self.warp.knowledge.clone();
        for lane in lanes(mask) {
            let bytes = i64::from(self.warp.get(bytes, lane) as u32);
            let (own, code) = (self.warp.rank, self.code);
            let (rank, _) = self.mbarrier_address(lane, address)?;
            let (barrier, at) = self.mbarrier(lane, address)?;
            barrier
                .check_turn(&knowledge, at)
                .and_then(|()| barrier.transfer(-bytes, code, at))
                .map_err(|fault| Blame::lane(fault.seen_from(own, rank), lane))?;
            self.watch.phase(self.code, self.cluster, rank, at as u32);
        }
        Ok(())
    }

    /// `test_wait` and `try_wait`. If the phase is not complete, the wait returns false, and the split sleeps until the phase is complete
    /// or nothing else can run. If the phase is complete, but its completion is not ordered before the wait, the first wait returns
    /// false: under another schedule the phase would not be complete yet.
    pub(crate) fn mbarrier_wait(
        &mut self,
        split: &mut Split,
        mask: u32,
        address: Address,
        done: Reg,
        acquire: Acquire,
        phase: Phase,
    ) -> Result<()> {
        let knowledge = self.warp.knowledge.clone();
        let (mut passed, mut known) = (0_u32, 0_u32);
        let (mut unknown, mut incomplete) = (None, None);
        let mut previous = None;
        for lane in lanes(mask) {
            let phase = self.phase_value(lane, phase);
            let (rank, at) = self.mbarrier_address(lane, address)?;
            let wait = Wait::Mbarrier {
                rank,
                address: at,
                phase,
            };
            // All lanes mostly wait for the same phase.
            let (is_passed, is_known) = match &previous {
                Some((same, answer)) if *same == wait => *answer,
                _ => {
                    let (barrier, _) = self.mbarrier(lane, address)?;
                    let is_passed = barrier.passed(phase);
                    (is_passed, is_passed && barrier.known(phase, &knowledge))
                }
            };
            passed |= u32::from(is_passed) << lane;
            known |= u32::from(is_known) << lane;
            if !is_known {
                unknown.get_or_insert(wait.clone());
            }
            if !is_passed {
                incomplete.get_or_insert(wait.clone());
            }
            previous = Some((wait, (is_passed, is_known)));
        }
        let refusal = unknown.map(|wait| (self.pc, wait));
        let again = refusal.is_none() || refusal == split.refused;
        let granted = if again { passed } else { known };
        self.pass(granted, address, acquire, phase)?;
        self.warp
            .fill(done, mask, |lane| u64::from(granted >> lane & 1));
        if granted == mask {
            split.refused = None;
            split.given_up = false;
            split.attempts = Repetition::default();
            return Ok(());
        }
        split.refused = refusal;
        // On a GPU a refused warp runs on. It mostly tests again, so here it mostly sleeps.
        let sleeps = self.delay != Delay::Random || !self.random.one_in(WAKEFUL);
        split.wait = incomplete.filter(|_| sleeps);
        if std::mem::take(&mut split.given_up) {
            // The kernel may count its attempts, and act after some number of them.
            let state = self.warp.fingerprint() ^ self.pc as u64;
            self.progress |= !split.attempts.add(state);
        }
        Ok(())
    }

    /// Lets the waits of these lanes succeed. The warp learns the releases of the arrivals at their mbarriers: at once or, for a relaxed
    /// wait, at the next fence.
    fn pass(
        &mut self,
        lanes_of: u32,
        address: Address,
        Acquire { own_cta, relaxed }: Acquire,
        phase: Phase,
    ) -> Result<()> {
        let mut previous = None;
        for lane in lanes(lanes_of) {
            let (rank, at) = self.mbarrier_address(lane, address)?;
            let phase = self.phase_value(lane, phase);
            if previous.replace((rank, at, phase)) == Some((rank, at, phase)) {
                continue;
            }
            let wait = self.event();
            let (number, own) = (self.cluster.number, self.warp.rank);
            if let Some(barrier) = self.cluster.ctas[rank].mbarriers.get_mut(&at) {
                barrier
                    .check_wait(phase, &self.warp.knowledge, at.into())
                    .map_err(|fault| Blame::lane(fault.seen_from(own, rank), lane))?;
                barrier.waited(wait);
                let (all, within) = (&barrier.released.all, &barrier.released.within);
                let released = if own_cta { within } else { all };
                if relaxed {
                    self.warp.knowledge.hear(&released.to_heard());
                    self.warp.fences.see(Scope::Cta, number, within, false);
                    if !own_cta {
                        self.warp.fences.see(Scope::Cluster, number, all, false);
                    }
                    continue;
                }
                self.warp.learn(lanes_of, number, number, released);
            }
        }
        Ok(())
    }

    /// The phase that a lane waits for.
    fn phase_value(&self, lane: usize, phase: Phase) -> PhaseValue {
        match phase {
            Phase::Parity(row) => PhaseValue::Parity(self.warp.get(row, lane)),
            Phase::State(row) => {
                PhaseValue::State(self.warp.get(row, lane) & ((1 << PENDING_SHIFT) - 1))
            }
        }
    }

    /// Called at a fence. Copies and other CTAs can now use the mbarriers that the warp has initialised.
    pub(crate) fn announce_mbarriers(&mut self) {
        for (rank, address) in std::mem::take(&mut self.warp.unannounced) {
            if let Some(barrier) = self.cluster.ctas[rank].mbarriers.get_mut(&address) {
                barrier.announced |= barrier.initialiser == self.warp.index;
            }
        }
    }

    /// The mbarrier that a lane's operand names, and its shared address.
    pub(crate) fn mbarrier(
        &mut self,
        lane: usize,
        address: Address,
    ) -> Result<(&mut Mbarrier, u64)> {
        let (rank, at) = self.mbarrier_address(lane, address)?;
        self.visit(rank, at.into())
            .map_err(|fault| Blame::lane(fault, lane))?;
        let (code, warps, own) = (self.code, self.cluster.warps_per_cta(), self.warp.rank);
        let cta = &mut self.cluster.ctas[rank];
        let address = u64::from(at);
        let Some(barrier) = cta.mbarriers.get_mut(&at) else {
            let fault = FaultKind::NoBarrier { address }.seen_from(own, rank);
            return Err(Blame::lane(fault, lane));
        };
        // The initialisation must be ordered before this access, and the mbarrier's bytes must not be overwritten.
        let usage = self.warp.knowledge.uses(self.warp.index, How::Mbarrier);
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
            .map_err(|fault| Blame::lane(fault.seen_from(own, rank), lane))?;
        Ok((barrier, address))
    }

    /// The CTA rank and the shared address of an mbarrier operand.
    pub(crate) fn mbarrier_address(&self, lane: usize, address: Address) -> Result<(usize, u32)> {
        let (rank, at) = self.shared_address(lane, address)?;
        self.cluster.ctas[rank]
            .shared
            .range(at, MBARRIER_BYTES)
            .map_err(|fault| Blame::lane(fault.seen_from(self.warp.rank, rank), lane))?;
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

    /// Called when an mbarrier was invalidated: its initialiser's next fence no longer concerns it.
    fn forget_mbarrier(&mut self, gone: &Mbarrier, rank: usize, at: u32) {
        let counted = (gone.number, gone.completed());
        self.cluster.invalidated.insert((rank, at), counted);
        let initialiser = match gone.initialiser == self.warp.index {
            true => &mut *self.warp,
            false => &mut self.cluster.warps[gone.initialiser],
        };
        initialiser.unannounced.remove(&(rank, at));
    }
}
