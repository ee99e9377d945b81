//! Bulk stores: bulk copies and reductions out of shared memory. A store reads its source at the latest when its thread waits with
//! `wait_group.read`, and writes at the latest when the thread waits with `wait_group`. Writing the source before the wait is an
//! error.

use super::region::{BYTES_PER_STEP, check_copy};
use crate::access::kind::Kind;
use crate::arithmetic::{self, number};
use crate::error::FaultKind;
use crate::exec::state::cluster::Cta;
use crate::exec::state::copies::{CopyOut, CopyRead};
use crate::exec::state::endpoint::Endpoint;
use crate::exec::state::knowledge::Heard;
use crate::exec::state::queue::{Key, Operation};
use crate::exec::state::readers::{Completion, End, Reading};
use crate::exec::state::row::lanes;
use crate::exec::state::shared::How;
use crate::exec::step::{Blame, Result, Step};
use crate::op::{Address, Reduction, Region};
use crate::tensor_map::{computed_as, element_bytes, end_rows_at_whole_units};

/// How many stores of a CTA can have read their source without having written. Beyond this number, the oldest is written.
const HELD_STORES: usize = 4096;
/// How many bytes these stores may hold, as a multiple of the most shared memory of a CTA.
const HELD_MEMORIES: usize = 8;

impl Step<'_> {
    pub(crate) fn copy_out(
        &mut self,
        active: u32,
        region: &Region,
        from: Address,
        reduction: Option<Reduction>,
    ) -> Result<()> {
        for lane in lanes(active) {
            let blame = |fault| Blame::lane(fault, lane);
            let mut to = self.endpoint(lane, region).map_err(blame)?;
            let (rank, from) = self.shared_address(lane, from)?;
            check_copy(self.code.chip, &to, from, true).map_err(blame)?;
            if rank != self.warp.rank {
                return Err(blame(FaultKind::Operand(format!(
                    "the source is in the shared memory of CTA rank {rank}; it must be in the CTA's own"
                ))));
            }
            self.cluster.ctas[rank]
                .shared
                .range(from, to.bytes() as usize)
                .map_err(blame)?;
            let reduction = match (reduction, &to) {
                (None, _) => None,
                (Some(Reduction::Typed { update, bytes }), _) => Some((update, bytes)),
                (Some(Reduction::ByElement(name)), Endpoint::Tile { map, .. }) => {
                    let update = arithmetic::update(name, computed_as(map.element));
                    let update = update.ok_or_else(|| {
                        blame(FaultKind::Operand(format!(
                            "the reduction `.{name}` of {:?} elements is not modelled",
                            map.element
                        )))
                    })?;
                    Some((update, element_bytes(map)))
                }
                (Some(Reduction::ByElement(_)), _) => {
                    return Err(blame(FaultKind::Operand(
                        "a reduction without a tensor map needs an element type".to_owned(),
                    )));
                }
            };
            if let (None, Endpoint::Tile { map, .. }) = (&reduction, &mut to) {
                end_rows_at_whole_units(map);
            }
            self.watch.counts.copied_out += to.bytes();
            self.charge(to.bytes() / BYTES_PER_STEP);
            let origin = self.origin(lane);
            self.pending.begin(&Heard::default()).map_err(blame)?;
            let (warps, knowledge) = (self.cluster.warps_per_cta(), &self.warp.knowledge);
            let usage = knowledge.uses(self.warp.index, How::Asynchronous);
            let Cta { shared, stores, .. } = &mut self.cluster.ctas[rank];
            let by = Reading::Store {
                warp: self.warp.index,
                lane,
            };
            let read = shared.begin_read(by, self.pc);
            to.pieces(from, |piece| {
                // Bytes of the box outside the tensor are not read.
                for (part, _) in &piece.parts {
                    let range = shared.range(piece.shared + part.start as u64, part.len())?;
                    shared.check(range.clone(), usage, self.code, warps)?;
                    shared.read_async(range, &read, knowledge)?;
                }
                Ok(())
            })
            .map_err(blame)?;
            stores.unwaited.push(origin.thread(), read);
            let kind = match reduction {
                None => Kind::BulkWrite,
                Some(_) => Kind::BulkReduce,
            };
            let written = Completion::new(by);
            self.use_global_async(&to, from, kind, lane, &written)
                .map_err(blame)?;
            let stores = &mut self.cluster.ctas[rank].stores;
            stores.unwaited_writes.push(origin.thread(), written);
            let store = CopyOut {
                origin,
                to,
                from,
                reduction,
            };
            stores.reading.push(origin.thread(), store);
        }
        Ok(())
    }

    pub(crate) fn bulk_commit(&mut self, active: u32) {
        for lane in lanes(active) {
            let group = self.warp.bulk_groups[lane];
            self.warp.bulk_groups[lane] += 1;
            let thread = self.origin(lane).thread();
            self.cluster.ctas[self.warp.rank]
                .stores
                .commit(thread, group);
        }
    }

    pub(crate) fn bulk_wait(&mut self, active: u32, pending: u64, read: bool) -> Result<()> {
        let rank = self.warp.rank;
        for lane in lanes(active) {
            let thread = self.origin(lane).thread();
            let done = self.warp.bulk_groups[lane].saturating_sub(pending);
            let end = End::Waited {
                warp: self.warp.index,
                clock: self.warp.knowledge.seen[self.warp.index],
            };
            let unwaited = &mut self.cluster.ctas[rank].stores.unwaited;
            while let Some(key) = unwaited.first_committed(thread, done) {
                if let Some(operation) = unwaited.remove(key) {
                    operation.is.completion.end(end);
                }
            }
            let unwaited = &mut self.cluster.ctas[rank].stores.unwaited_writes;
            while let Some(key) = unwaited.first_committed(thread, done).filter(|_| !read) {
                if let Some(operation) = unwaited.remove(key) {
                    operation.is.end(end);
                    self.pending.end(&Heard::default());
                }
            }
            let reading = |step: &Self| {
                let stores = &step.cluster.ctas[rank].stores;
                stores.reading.first_committed(thread, done)
            };
            while let Some(key) = reading(self) {
                self.store_read(rank, key)?;
            }
            let writing = |step: &Self| {
                let stores = &step.cluster.ctas[rank].stores;
                stores.writing.first_committed(thread, done)
            };
            while let Some(key) = writing(self).filter(|_| !read) {
                self.store_write(rank, key)?;
            }
        }
        Ok(())
    }

    /// Lets a store read its source, unless it already has.
    pub(crate) fn store_read(&mut self, rank: usize, key: Key) -> Result<()> {
        let Cta { shared, stores, .. } = &mut self.cluster.ctas[rank];
        let Some(Operation { group, is: store }) = stores.reading.remove(key) else {
            return Ok(());
        };
        let mut data = vec![0; store.to.bytes() as usize];
        store
            .to
            .pieces(store.from, |piece| {
                // Bytes of the box outside the tensor are not read.
                for (part, _) in &piece.parts {
                    let range = shared.range(piece.shared + part.start as u64, part.len())?;
                    data[piece.offset + part.start..piece.offset + part.end]
                        .copy_from_slice(&shared.bytes[range]);
                }
                Ok(())
            })
            .map_err(|fault| Blame::origin(fault, store.origin))?;
        stores.held += data.len();
        let CopyOut {
            origin,
            to,
            from,
            reduction,
        } = store;
        let is = CopyRead {
            origin,
            to,
            from,
            reduction,
            data,
        };
        stores.writing.insert(key, Operation { group, is });
        self.write_the_oldest(rank)
    }

    /// Writes a store that has read its source. The store is then complete.
    pub(crate) fn store_write(&mut self, rank: usize, key: Key) -> Result<()> {
        let stores = &mut self.cluster.ctas[rank].stores;
        let Some(Operation { is: store, .. }) = stores.writing.remove(key) else {
            return Ok(());
        };
        stores.held -= store.data.len();
        (self.watch).performed(self.code, self.cluster, store.origin, "copy");
        let memory = &mut *self.memory;
        store
            .to
            .pieces(store.from, |piece| {
                for (part, address) in &piece.parts {
                    let from = &store.data[piece.offset + part.start..piece.offset + part.end];
                    let into = memory
                        .bytes_mut(*address, part.len())
                        .map_err(FaultKind::Global)?;
                    match store.reduction {
                        None => into.copy_from_slice(from),
                        Some((update, bytes)) => {
                            for (into, from) in
                                into.chunks_exact_mut(bytes).zip(from.chunks_exact(bytes))
                            {
                                let new = update(number(into), number(from));
                                into.copy_from_slice(&new.to_le_bytes()[..bytes]);
                            }
                        }
                    }
                }
                Ok(())
            })
            .map_err(|fault| Blame::origin(fault, store.origin))
    }

    /// Writes the oldest stores until the others fit within the limits on the host's memory. PTX allows a store to write at any time.
    fn write_the_oldest(&mut self, rank: usize) -> Result<()> {
        let held_bytes = HELD_MEMORIES * self.code.chip.cta_shared_bytes as usize;
        loop {
            let stores = &self.cluster.ctas[rank].stores;
            match stores.writing.oldest() {
                Some(key) if stores.held > held_bytes || stores.writing.len() > HELD_STORES => {
                    self.store_write(rank, key)?
                }
                _ => return Ok(()),
            }
        }
    }
}
