//! `cp.async`: asynchronous copies of 4, 8 or 16 bytes per lane, which are not bulk copies.

use super::traffic::Moves;
use crate::error::FaultKind;
use crate::exec::state::copies::{Arrival, LaneCopy};
use crate::exec::state::knowledge::Heard;
use crate::exec::state::lanes::Lanes;
use crate::exec::state::queue::{Key, Queue};
use crate::exec::state::readers::{Completion, End, Reading};
use crate::exec::state::row::lanes;
use crate::exec::state::shared::How;
use crate::exec::state::tag::Tag;
use crate::exec::step::{Blame, Result, Step};
use crate::op::{Address, Reg, Space};

/// The copy of a lane is charged as this many instructions, since it stays in a queue until it is waited for.
const STEPS_PER_COPY: u64 = 6;

impl Step<'_> {
    pub(crate) fn copy_async(
        &mut self,
        active: u32,
        to: Address,
        from: Address,
        bytes: u32,
        source_bytes: Option<Reg>,
    ) -> Result<()> {
        self.count_access(active, Space::Shared, to, bytes as usize, Moves::Write);
        self.charge(STEPS_PER_COPY * u64::from(active.count_ones()));
        let reads = |lane: &usize| source_bytes.is_none_or(|row| self.warp.get(row, *lane) != 0);
        let reading = lanes(active)
            .filter(reads)
            .fold(0, |mask, lane| mask | 1 << lane);
        self.count_access(reading, Space::Global, from, bytes as usize, Moves::Read);
        let (code, warps, tag) = (self.code, self.cluster.warps_per_cta(), Tag::copy(self.pc));
        let warp = self.warp.index;
        let read = Completion::new(Reading::Lanes { warp });
        for lane in lanes(active) {
            let blame = |fault| Blame::lane(fault, lane);
            let (rank, to) = self.shared_address(lane, to)?;
            let from = self.address(lane, from);
            let source_bytes = source_bytes
                .map_or(bytes, |row| self.warp.get(row, lane) as u32)
                .min(bytes);
            for address in [to, from] {
                if !address.is_multiple_of(u64::from(bytes)) {
                    return Err(blame(FaultKind::Misaligned {
                        address,
                        align: u64::from(bytes),
                    }));
                }
            }
            let cta = &mut self.cluster.ctas[rank];
            let range = cta.shared.range(to, bytes as usize).map_err(blame)?;
            let usage = self.warp.knowledge.uses(self.warp.index, How::Write);
            cta.shared
                .check(range.clone(), usage, code, warps)
                .map_err(blame)?;
            cta.shared.written(range, tag);
            let (bytes, source_bytes) = (bytes as usize, source_bytes as usize);
            self.read_global_later(from, source_bytes, lane, &read)
                .map_err(blame)?;
            self.pending.begin(&Heard::default()).map_err(blame)?;
            let origin = self.origin(lane);
            let copy = LaneCopy {
                origin,
                to: (rank, to),
                from,
                bytes,
                source_bytes,
                read: read.clone(),
            };
            self.cluster.lane_copies.push(origin.thread(), copy);
        }
        Ok(())
    }

    pub(crate) fn copy_async_commit(&mut self, active: u32) {
        for lane in lanes(active) {
            let group = self.warp.copy_groups[lane];
            self.warp.copy_groups[lane] += 1;
            let thread = self.origin(lane).thread();
            self.cluster.lane_copies.commit(thread, group);
            self.cluster.unwaited.commit(thread, group);
        }
    }

    pub(crate) fn copy_async_wait(&mut self, active: u32, pending: Option<u64>) -> Result<()> {
        for lane in lanes(active) {
            let thread = self.origin(lane).thread();
            let done = pending.map(|pending| self.warp.copy_groups[lane].saturating_sub(pending));
            let waited = |copies: &Queue<LaneCopy>| match done {
                Some(done) => copies.first_committed(thread, done),
                None => copies.first_of(thread, u64::MAX),
            };
            while let Some(key) = waited(&self.cluster.lane_copies) {
                self.land_lane(key)?;
            }
            let clock = self.warp.knowledge.seen[self.warp.index];
            while let Some(key) = waited(&self.cluster.unwaited) {
                self.settle_lane(key, clock)?;
            }
        }
        self.warp.written |= active;
        Ok(())
    }

    pub(crate) fn copy_async_arrive(
        &mut self,
        active: u32,
        address: Address,
        counted: bool,
    ) -> Result<()> {
        let knowledge = self.warp.knowledge.clone();
        for lane in lanes(active) {
            let blame = |fault| Blame::lane(fault, lane);
            let barrier = self.mbarrier_address(lane, address)?;
            let (found, at) = self.mbarrier(lane, address)?;
            found.check_turn(&knowledge, at).map_err(blame)?;
            if counted {
                found.expect_one_more(at).map_err(blame)?;
            }
            self.pending.begin(&Heard::default()).map_err(blame)?;
            let origin = self.origin(lane);
            let arrival = Arrival {
                origin,
                barrier,
                after: self.cluster.lane_copies.next(),
                knowledge: knowledge.clone(),
            };
            self.cluster.arrivals.push(origin.thread(), arrival);
        }
        self.warp.tick();
        Ok(())
    }

    /// Performs a `cp.async`. Its bytes count as a copy under way until a thread has waited for it.
    pub(crate) fn land_lane(&mut self, key: Key) -> Result<()> {
        let Some(operation) = self.cluster.lane_copies.remove(key) else {
            return Ok(());
        };
        let LaneCopy {
            origin,
            to: (rank, to),
            from,
            bytes,
            source_bytes,
            ..
        } = operation.is;
        self.progress = true;
        let blame = |fault| Blame::origin(fault, origin);
        let mut data = [0; 16];
        // A copy that reads nothing writes zeros, and its source address can be anything.
        if source_bytes > 0 {
            self.memory
                .read(from, &mut data[..source_bytes])
                .map_err(|error| blame(FaultKind::Global(error)))?;
        }
        let shared = &mut self.cluster.ctas[rank].shared;
        let range = shared.range(to, bytes).map_err(blame)?;
        shared.bytes[range].copy_from_slice(&data[..bytes]);
        self.cluster.unwaited.insert(key, operation);
        Ok(())
    }

    /// Called when a `cp.async` has been waited for. Its bytes now count as written by the warp at this time of its clock. Returns the
    /// instruction of the copy.
    fn settle_lane(&mut self, key: Key, clock: u32) -> Result<Option<usize>> {
        let Some(operation) = self.cluster.unwaited.remove(key) else {
            return Ok(None);
        };
        self.pending.end(&Heard::default());
        let LaneCopy {
            origin,
            to: (rank, to),
            bytes,
            read,
            ..
        } = operation.is;
        let warp = origin.rank * self.cluster.warps_per_cta() + origin.warp as usize;
        read.end(End::Waited { warp, clock });
        let shared = &mut self.cluster.ctas[rank].shared;
        let range = shared
            .range(to, bytes)
            .map_err(|fault| Blame::origin(fault, origin))?;
        let lanes = Lanes::One(origin.lane as u8);
        shared.written_by(range, Tag::generic(origin.instruction, warp, clock), lanes);
        Ok(Some(origin.instruction))
    }

    /// Performs a `cp.async.mbarrier.arrive` after the lane's earlier `cp.async`. The lane's earlier arrivals come first, since they
    /// follow fewer copies.
    pub(crate) fn land_arrival(&mut self, key: Key) -> Result<()> {
        while let Some(earlier) = self.cluster.arrivals.first_of(key.0, key.1) {
            self.land_arrival(earlier)?;
        }
        let Some(operation) = self.cluster.arrivals.remove(key) else {
            return Ok(());
        };
        let Arrival {
            origin,
            barrier: (rank, barrier),
            after,
            knowledge,
        } = operation.is;
        self.pending.end(&Heard::default());
        self.progress = true;
        while let Some(key) = self.cluster.lane_copies.first_of(origin.thread(), after) {
            self.land_lane(key)?;
        }
        let warp = origin.rank * self.cluster.warps_per_cta() + origin.warp as usize;
        let clock = knowledge.seen[warp];
        let mut last_copy = None;
        while let Some(key) = self.cluster.unwaited.first_of(origin.thread(), after) {
            last_copy = self.settle_lane(key, clock)?.or(last_copy);
        }
        let address = u64::from(barrier);
        let cta = &mut self.cluster.ctas[rank];
        let found = cta.mbarriers.get_mut(&barrier);
        let found = found.ok_or_else(|| Blame::origin(FaultKind::NoBarrier { address }, origin))?;
        if let Some(copy) = last_copy {
            let after = found.completed() + 1;
            cta.copied.insert(found.number, (after, copy));
        }
        found.learn(&knowledge, true, [Some(&knowledge); 2]);
        found
            .arrive(1, self.code, address)
            .map_err(|fault| Blame::origin(fault, origin))?;
        self.watch.phase(self.code, self.cluster, rank, barrier);
        Ok(())
    }
}
