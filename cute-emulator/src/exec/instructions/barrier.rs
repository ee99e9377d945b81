//! Named barriers and the cluster barrier.

use crate::error::FaultKind;
use crate::exec::state::knowledge::Knowledge;
use crate::exec::state::row::LANES;
use crate::exec::state::warp::{Split, Wait};
use crate::exec::step::{Blame, Flow, Result, Step};
use crate::op::{Reg, Scope, Vote};
use cute_chip::barriers;

impl Step<'_> {
    pub(crate) fn barrier(
        &mut self,
        split: &mut Split,
        id: Reg,
        threads: Option<Reg>,
        wait: bool,
        reduction: Option<(Vote, Reg, Reg)>,
    ) -> Result<Flow> {
        let lane = split.mask.trailing_zeros() as usize;
        let id = self.warp.get(id, lane) as u32 as usize;
        let rank = self.warp.rank;
        let live = self.cluster.live_warps(rank, self.warp.index) * LANES as u64;
        let named = threads.map(|threads| u64::from(self.warp.get(threads, lane) as u32));
        let expected = named.unwrap_or(live);
        let (arrival, code) = (self.event(), self.code);
        let Some(barrier) = self.cluster.ctas[rank].barriers.get_mut(id) else {
            return Err(misused(format!(
                "barrier {id} does not exist: barriers are numbered 0 to {}",
                barriers::NAMED - 1
            )));
        };
        let most = u64::from(code.chip.cta_threads);
        if !expected.is_multiple_of(LANES as u64) || expected == 0 || expected > most {
            return Err(misused(format!(
                "barrier {id} is given {expected} threads; the count must be a multiple of {LANES} from {LANES} to {most}"
            )));
        }
        if barrier.arrived > 0 && barrier.expected != expected && !barrier.whole {
            return Err(misused(format!(
                "barrier {id} is given {expected} threads here, but {} by the warps that have arrived",
                barrier.expected
            )));
        }
        barrier.arrive(id, arrival, &self.warp.knowledge, code)?;
        if let Some((op, dst, predicate)) = reduction {
            barrier.holds += u64::from(self.warp.lanes(predicate, split.mask).count_ones());
            barrier.asked += u64::from(split.mask.count_ones());
            barrier.reductions.push((self.warp.index, op, dst));
        }
        barrier.expected = expected;
        barrier.whole = named.is_none();
        barrier.arrived += LANES as u64;
        barrier.knowledge.join(&self.warp.knowledge);
        barrier.sequential.join(&self.warp.fences.sequential);
        self.warp.tick();
        self.warp.synchronise(split.mask);
        if barrier.arrived > expected {
            return Err(misused(format!(
                "{} threads arrive at barrier {id}, which expects {expected}",
                barrier.arrived
            )));
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

    pub(crate) fn cluster_arrive(&mut self, mask: u32, relaxed: bool) {
        self.warp.cluster_phase = self.cluster.barrier.phase;
        let knowledge = &mut self.cluster.barrier.knowledge;
        match relaxed {
            true => {
                if let Some(released) = self.warp.fences.released_at(Scope::Cluster) {
                    knowledge.join(released);
                }
            }
            false => {
                knowledge.join(&self.warp.knowledge);
                self.warp.tick();
                self.warp.synchronise(mask);
            }
        }
        self.cluster.barrier.arrived += u64::from(mask.count_ones());
        self.complete_cluster_barrier();
    }

    pub(crate) fn cluster_wait(&mut self, split: &mut Split) -> Flow {
        if self.cluster.barrier.phase == self.warp.cluster_phase {
            split.wait = Some(Wait::Cluster {
                phase: self.warp.cluster_phase,
            });
            return Flow::Suspend;
        }
        self.warp.join(&self.cluster.barrier.released);
        self.warp.knowledge.learn_started();
        Flow::Next
    }

    /// Called when a warp has ended: barriers of the whole CTA and the cluster barrier no longer wait for it.
    ///
    /// "As threads exit, barriers waiting on all threads are checked to see if the exiting threads are the only threads that have not
    /// yet made it to a barrier{.cta} for all threads in the CTA or to a barrier.cluster for all threads in the cluster. If the
    /// exiting threads are holding up the barrier, the barrier is released" (PTX ISA, "exit").
    pub(crate) fn leave_barriers(&mut self) {
        let rank = self.warp.rank;
        let live = self.cluster.live_warps(rank, self.warp.index) - 1;
        for id in 0..self.cluster.ctas[rank].barriers.len() {
            let barrier = &mut self.cluster.ctas[rank].barriers[id];
            if barrier.whole && barrier.arrived > 0 {
                barrier.expected = live * LANES as u64;
                self.complete_barrier(id);
            }
        }
        self.complete_cluster_barrier();
    }

    /// `bar.warp.sync`: each lane synchronises with the lanes of its mask.
    pub(crate) fn synchronise_lanes(&mut self, active: u32, members: Reg) {
        self.warp.tick();
        let mut left = active;
        while left != 0 {
            let mask = self.warp.get(members, left.trailing_zeros() as usize) as u32 & active;
            self.warp.synchronise(mask);
            left &= !(mask | 1 << left.trailing_zeros());
        }
    }

    /// Completes a named barrier if all expected threads have arrived, and releases the warps that wait there.
    fn complete_barrier(&mut self, id: usize) {
        let barrier = &mut self.cluster.ctas[self.warp.rank].barriers[id];
        if barrier.arrived == 0 || barrier.arrived < barrier.expected {
            return;
        }
        barrier.generation += 1;
        barrier.arrived = 0;
        barrier.last_arrivals = std::mem::take(&mut barrier.arrivals);
        let waiting = std::mem::take(&mut barrier.waiting);
        let (holds, asked) = (
            std::mem::take(&mut barrier.holds),
            std::mem::take(&mut barrier.asked),
        );
        let reductions = std::mem::take(&mut barrier.reductions);
        let warps = self.cluster.warps.len();
        let knowledge = std::mem::replace(&mut barrier.knowledge, Knowledge::new(warps));
        let sequential = std::mem::take(&mut barrier.sequential);
        for index in waiting {
            let warp = match index == self.warp.index {
                true => &mut *self.warp,
                false => &mut self.cluster.warps[index],
            };
            warp.join(&knowledge);
            warp.fences.sequential.join(&sequential);
        }
        for (index, op, dst) in reductions {
            let warp = match index == self.warp.index {
                true => &mut *self.warp,
                false => &mut self.cluster.warps[index],
            };
            let result = match op {
                Vote::Any => u64::from(holds > 0),
                Vote::All => u64::from(holds == asked),
                Vote::Uniform | Vote::Ballot => holds,
            };
            warp.fill(dst, warp.alive, |_| result);
        }
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
            let barrier = &mut self.cluster.barrier;
            barrier.arrived = 0;
            barrier.phase += 1;
            barrier.released = barrier.knowledge.clone();
        }
    }
}

fn misused(message: String) -> Blame {
    FaultKind::Operand(message).into()
}
