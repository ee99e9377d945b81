//! Bulk copies into shared memory: bytes and boxes of tensors. A copy is performed when no warp can run without it. With random
//! delays, it can also be performed at a random earlier moment.

use super::region::{BYTES_PER_STEP, check_copy};
use crate::access::kind::Kind;
use crate::arithmetic::number;
use crate::error::FaultKind;
use crate::exec::state::barriers::MBARRIER_BYTES;
use crate::exec::state::cluster::Cta;
use crate::exec::state::copies::CopyIn;
use crate::exec::state::endpoint::Endpoint;
use crate::exec::state::queue::Key;
use crate::exec::state::readers::{Completion, End, Reading};
use crate::exec::state::row::lanes;
use crate::exec::state::shared::How;
use crate::exec::state::tag::Tag;
use crate::exec::step::{Blame, Result, Step};
use crate::op::{Address, Reg, Region};
use crate::tensor_map::{CHUNK_BYTES, fill_pattern};
use std::rc::Rc;

impl Step<'_> {
    pub(crate) fn copy_in(
        &mut self,
        active: u32,
        to: Address,
        region: &Region,
        barrier: Address,
        multicast: Option<Reg>,
    ) -> Result<()> {
        for lane in lanes(active) {
            let blame = |fault| Blame::lane(fault, lane);
            let from = self.endpoint(lane, region).map_err(blame)?;
            let (rank, to) = self.shared_address(lane, to)?;
            check_copy(self.code.chip, &from, to, false).map_err(blame)?;
            let (barrier_rank, barrier) = self.mbarrier_address(lane, barrier)?;
            if rank != barrier_rank {
                let message = format!(
                    "the destination is in CTA rank {rank}, but its mbarrier in CTA rank {barrier_rank}; they must be in one CTA"
                );
                return Err(blame(FaultKind::Operand(message)));
            }
            let ranks: Vec<usize> = match multicast {
                None => vec![rank],
                Some(mask) => {
                    let mask = self.warp.get(mask, lane) as u16;
                    (0..16).filter(|rank| mask >> rank & 1 == 1).collect()
                }
            };
            for rank in &ranks {
                let expected = self.expect_copy(*rank, to, &from, barrier);
                expected.map_err(|fault| blame(fault.seen_from(self.warp.rank, *rank)))?;
            }
            let bytes = from.bytes() * ranks.len() as u64;
            self.watch.counts.copied_in += bytes;
            self.charge(bytes / BYTES_PER_STEP);
            let read = self
                .begin_copy_read(lane, to, &from, &ranks, barrier)
                .map_err(blame)?;
            let heard = self.warp.knowledge.to_heard();
            self.pending.begin(&heard).map_err(blame)?;
            let origin = self.origin(lane);
            let copy = CopyIn {
                origin,
                ranks,
                to,
                from,
                barrier,
                heard,
                read,
            };
            self.cluster.copies.push(origin.thread(), copy);
        }
        self.warp.tick();
        Ok(())
    }

    /// Checks the destination of a copy in one CTA and marks its bytes. Using them before the copy is complete is an error.
    fn expect_copy(
        &mut self,
        rank: usize,
        to: u64,
        from: &Endpoint,
        barrier: u32,
    ) -> std::result::Result<(), FaultKind> {
        let (warps, size) = (self.cluster.warps_per_cta(), self.cluster.ctas.len());
        let (code, tag) = (self.code, Tag::copy(self.pc));
        let how = match &from {
            Endpoint::Values {
                update: Some(_), ..
            } => How::Update,
            Endpoint::Values { update: None, .. } => How::Write,
            _ => How::Copy,
        };
        if rank < size {
            self.check_started(rank, to)?;
        }
        let usage = self.warp.knowledge.uses(self.warp.index, how);
        if rank != self.warp.rank && rank < size && self.cluster.cta_ended(rank) {
            return Err(FaultKind::Ended {
                address: to,
                rank: rank as u32,
            });
        }
        let Some(cta) = self.cluster.ctas.get_mut(rank) else {
            return Err(FaultKind::Operand(format!(
                "the multicast mask contains CTA rank {rank}, but the cluster's ranks are 0 to {}",
                size - 1
            )));
        };
        let address = u64::from(barrier);
        let Some(found) = cta.mbarriers.get(&barrier) else {
            return Err(FaultKind::NoBarrier { address });
        };
        // A CTA barrier orders the initialisation before accesses of threads. On GPUs it also orders it before copies that they start.
        if self.checks.strict || rank != self.warp.rank {
            found.check_announced(address)?;
        }
        found.check_turn(&self.warp.knowledge, address)?;
        let initialised = self.warp.knowledge.uses(self.warp.index, How::Mbarrier);
        let range = cta.shared.range(address, MBARRIER_BYTES)?;
        cta.shared.check(range, initialised, code, warps)?;
        from.pieces(to, |piece| {
            let range = cta.shared.range(piece.shared, piece.len)?;
            cta.shared.check(range.clone(), usage, code, warps)?;
            cta.shared.written(range, tag);
            Ok(())
        })
    }

    /// Begins the reads of a copy. Writing the source before the copy has arrived is an error.
    fn begin_copy_read(
        &mut self,
        lane: usize,
        shared: u64,
        from: &Endpoint,
        to: &[usize],
        barrier: u32,
    ) -> std::result::Result<Option<Rc<Completion>>, FaultKind> {
        let Some(to) = to.first() else {
            return Ok(None);
        };
        let address_of_barrier = u64::from(barrier);
        let found = self.cluster.ctas[*to].mbarriers.get(&barrier);
        let mbarrier = found
            .ok_or(FaultKind::NoBarrier {
                address: address_of_barrier,
            })?
            .number;
        let Endpoint::Shared { rank, address, len } = from else {
            let completion = Completion::new(Reading::Copy { mbarrier });
            self.use_global_async(from, shared, Kind::BulkRead, lane, &completion)?;
            return Ok(Some(completion));
        };
        let warps = self.cluster.warps_per_cta();
        let knowledge = &self.warp.knowledge;
        let usage = knowledge.uses(self.warp.index, How::Asynchronous);
        let shared = &mut self.cluster.ctas[*rank].shared;
        let range = shared.range(*address, *len as usize)?;
        shared.check(range.clone(), usage, self.code, warps)?;
        let read = shared.begin_read(Reading::Copy { mbarrier }, self.pc);
        shared.read_async(range, &read, knowledge)?;
        Ok(Some(read.completion.clone()))
    }

    /// Performs a copy, and completes its bytes on the mbarriers.
    pub(crate) fn land(&mut self, key: Key) -> Result<()> {
        let Some(operation) = self.cluster.copies.remove(key) else {
            return Ok(());
        };
        let CopyIn {
            origin,
            ranks,
            to,
            from,
            barrier,
            heard,
            read,
        } = operation.is;
        self.pending.end(&heard);
        self.progress = true;
        let blame = |fault| Blame::origin(fault, origin);
        let mut fill = [0; CHUNK_BYTES];
        match &from {
            Endpoint::Tile { map, .. } => fill = fill_pattern(map),
            Endpoint::Values { bytes, .. } => fill[..bytes.len()].copy_from_slice(bytes),
            Endpoint::Bytes { .. } | Endpoint::Shared { .. } => {}
        }
        let Step {
            memory, cluster, ..
        } = self;
        let address = u64::from(barrier);
        let arrives = |rank: usize| {
            let found = cluster.ctas[rank].mbarriers.get(&barrier);
            let found = found.ok_or_else(|| {
                blame(FaultKind::NoBarrier { address }.seen_from(origin.rank, rank))
            })?;
            let after = found.completed() + 1;
            if let Some(read) = &read {
                read.end(End::Arrived {
                    mbarrier: found.number,
                    phases: after,
                });
            }
            Ok((rank, Tag::copied(origin.instruction, found.number, after)))
        };
        let ranks: Vec<(usize, Tag)> = ranks.into_iter().map(arrives).collect::<Result<_>>()?;
        from.pieces(to, |piece| {
            let mut bytes = fill;
            for (part, address) in &piece.parts {
                let into = &mut bytes[part.clone()];
                let Endpoint::Shared { rank, .. } = &from else {
                    memory.read(*address, into).map_err(FaultKind::Global)?;
                    continue;
                };
                let shared = &cluster.ctas[*rank].shared;
                let range = shared.range(*address, part.len())?;
                into.copy_from_slice(&shared.bytes[range]);
            }
            for (rank, tag) in &ranks {
                let shared = &mut cluster.ctas[*rank].shared;
                let range = shared.range(piece.shared, piece.len)?;
                let mut bytes = bytes;
                if let Some(update) = from.update() {
                    let new = update(
                        number(&shared.bytes[range.clone()]),
                        number(&bytes[..piece.len]),
                    );
                    bytes[..piece.len].copy_from_slice(&new.to_le_bytes()[..piece.len]);
                }
                shared.bytes[range.clone()].copy_from_slice(&bytes[..piece.len]);
                shared.written(range, *tag);
            }
            Ok(())
        })
        .map_err(blame)?;
        (self.watch).performed(self.code, self.cluster, origin, "copy");
        for (rank, _) in ranks {
            let Cta {
                mbarriers, copied, ..
            } = &mut self.cluster.ctas[rank];
            let barrier = mbarriers.get_mut(&barrier);
            let barrier = barrier.ok_or_else(|| blame(FaultKind::NoBarrier { address }))?;
            let arrival = (barrier.completed() + 1, origin.instruction);
            copied.insert(barrier.number, arrival);
            barrier.learn_copy(&heard, rank == origin.rank);
            barrier
                .transfer(-(from.bytes() as i64), self.code, address)
                .map_err(|fault| blame(fault.seen_from(origin.rank, rank)))?;
            self.watch
                .phase(self.code, self.cluster, rank, address as u32);
        }
        Ok(())
    }
}
