//! The operations on mbarriers.

use crate::error::FaultKind;
use crate::exec::state::barriers::{MAX_ARRIVALS, MBARRIER_BYTES, Mbarrier, problem};
use crate::exec::state::knowledge::Knowledge;
use crate::exec::state::shared::Tag;
use crate::exec::state::warp::{PhaseValue, Split, Wait, lanes};
use crate::exec::step::{Blame, Flow, Result, Step};
use crate::limits::hold;
use crate::op::{Address, PENDING_SHIFT, Phase, Reg};

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

    pub(crate) fn mbarrier_inval(&mut self, mask: u32, address: Address) -> Result<()> {
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

    pub(crate) fn mbarrier_arrive(
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

    pub(crate) fn mbarrier_complete(
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

    pub(crate) fn mbarrier_wait(
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
        // PTX allows a wait to return false at any time; the kernel has to try again.
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

    /// Called at a fence: copies and other CTAs may use the mbarriers that the warp has initialised.
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
        let (code, warps, own) = (self.code, self.cluster.warps_per_cta(), self.warp.rank);
        let cta = &mut self.cluster.ctas[rank];
        let address = u64::from(at);
        let Some(barrier) = cta.mbarriers.get_mut(&at) else {
            return Err(Blame::lane(FaultKind::NoBarrier { address }, lane));
        };
        // Its initialisation must be ordered before this access, and nothing may have overwritten it.
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

    /// The CTA rank and the shared address of an mbarrier operand.
    pub(crate) fn mbarrier_address(&self, lane: usize, address: Address) -> Result<(usize, u32)> {
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

    /// Called when an mbarrier was invalidated or initialised again: its initialiser's next fence no longer concerns it.
    fn forget_mbarrier(&mut self, gone: &Mbarrier, rank: usize, at: u32) {
        let initialiser = match gone.initialiser == self.warp.index {
            true => &mut *self.warp,
            false => &mut self.cluster.warps[gone.initialiser],
        };
        initialiser.unannounced.remove(&(rank, at));
    }
}
