//! Asynchronous copies: TMA, bulk copies of bytes, and `cp.async`.
//!
//! A copy into shared memory takes place when somebody waits for it, or earlier by chance; a copy out of shared memory
//! reads its source as late as its `wait_group.read` allows and writes as late as its `wait_group` does.

use super::Origin;
use super::cluster::{Cluster, Cta};
use super::knowledge::Knowledge;
use super::memory::{Location, number};
use super::queue::{Key, Operation, Queue, Thread};
use super::shared::{Tag, Use};
use super::step::{Blame, Result, Step};
use super::warp::lanes;
use crate::arithmetic;
use crate::error::FaultKind;
use crate::limits::hold;
use crate::op::{
    Address, Binary, Code, MAX_SHARED_BYTES, Reduction, Reg, Region, SHARED_BASE, Space,
};
use crate::tensor_map::{
    CHUNK_BYTES, chunks, computed_as, decode_tensor_map, end_rows_at_whole_units, fill_pattern,
};
use cute_hopper::tma::{self, MAP_BYTES, TensorMap};
use std::ops::Range;

const TILE_ALIGN: u64 = tma::SHARED_ALIGN as u64;
const BULK_ALIGN: u64 = tma::BULK_ALIGN as u64;
/// So many bytes of a copy take the emulator as long as an instruction does.
const BYTES_PER_STEP: u64 = 128;
/// A copy into shared memory is known by its moment, of 31 bits.
const MAX_LANDINGS: u64 = (1 << 31) - 1;
/// Of the stores of a CTA that have read their source and that nobody waits for, so many are delayed further, with so many
/// bytes: eight times its shared memory.
const HELD_STORES: usize = 4096;
const HELD_BYTES: usize = 8 * MAX_SHARED_BYTES as usize;

/// A copy into the shared memory of each CTA of these ranks, at the same address, with the same mbarrier.
pub(crate) struct CopyIn {
    origin: Origin,
    ranks: Vec<usize>,
    to: u64,
    from: Place,
    barrier: u32,
}

/// A `cp.async`.
pub(crate) struct LaneCopy {
    origin: Origin,
    to: (usize, u64),
    from: u64,
    bytes: usize,
    source_bytes: usize,
}

/// An arrival that follows those of the lane's `cp.async`s whose number is below `after`.
pub(crate) struct Arrival {
    origin: Origin,
    barrier: (usize, u32),
    after: u64,
}

/// What becomes of an old element and a new one, and the bytes of an element.
type Update = (Binary, usize);

/// A copy out of shared memory that has not read its source.
pub(crate) struct CopyOut {
    origin: Origin,
    to: Place,
    from: u64,
    reduction: Option<Update>,
    /// What was known when it was asked for.
    knowledge: Knowledge,
}

/// One that has read it and has not written.
pub(crate) struct CopyRead {
    origin: Origin,
    to: Place,
    from: u64,
    reduction: Option<Update>,
    data: Vec<u8>,
}

/// The copies out of the shared memory of a CTA that are not complete.
pub(crate) struct Stores {
    reading: Queue<CopyOut>,
    writing: Queue<CopyRead>,
    /// Bytes of what is to be written.
    held: usize,
    /// For each unit of shared memory: how many stores have yet to read it. Empty before the first store.
    readers: Vec<u32>,
}

impl Stores {
    pub(crate) fn new() -> Stores {
        Stores {
            reading: Queue::new(),
            writing: Queue::new(),
            held: 0,
            readers: Vec::new(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.reading.len() + self.writing.len()
    }

    fn commit(&mut self, thread: Thread, group: u64) {
        self.reading.commit(thread, group);
        self.writing.commit(thread, group);
    }
}

impl CopyOut {
    /// The units of shared memory that it reads.
    fn units(&self) -> Range<usize> {
        let start = (self.from - u64::from(SHARED_BASE)) as usize;
        units(&(start..start + self.to.bytes() as usize))
    }
}

/// The units of which a part lies in a range of bytes.
fn units(range: &Range<usize>) -> Range<usize> {
    range.start / CHUNK_BYTES..range.end.div_ceil(CHUNK_BYTES)
}

/// The other side of a copy.
enum Place {
    Tile {
        map: Box<TensorMap>,
        coords: Vec<i64>,
    },
    Bytes {
        address: u64,
        len: u64,
    },
    /// In the shared memory of the CTA of this rank.
    Shared {
        rank: usize,
        address: u64,
        len: u64,
        knowledge: Knowledge,
    },
    Values(Vec<u8>),
}

impl Place {
    fn bytes(&self) -> u64 {
        match self {
            Place::Tile { map, .. } => map.box_bytes(),
            Place::Bytes { len, .. } | Place::Shared { len, .. } => *len,
            Place::Values(values) => values.len() as u64,
        }
    }

    fn knowledge(&self) -> Option<&Knowledge> {
        match self {
            Place::Shared { knowledge, .. } => Some(knowledge),
            _ => None,
        }
    }

    /// Calls a function for every piece: its offset in the data, its shared address, and its parts that exist on the
    /// other side, each as a range of the piece and an address.
    fn pieces<E>(
        &self,
        shared: u64,
        mut f: impl FnMut(&Piece) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        match self {
            Place::Values(values) => f(&Piece {
                offset: 0,
                len: values.len(),
                shared,
                parts: Vec::new(),
            }),
            Place::Bytes { address, len } | Place::Shared { address, len, .. } => {
                (0..*len).step_by(CHUNK_BYTES).try_for_each(|offset| {
                    let range = 0..CHUNK_BYTES.min((len - offset) as usize);
                    f(&Piece {
                        offset: offset as usize,
                        len: range.end,
                        shared: shared.wrapping_add(offset),
                        parts: vec![(range, address.wrapping_add(offset))],
                    })
                })
            }
            Place::Tile { map, coords } => chunks(map, coords, |chunk| {
                f(&Piece {
                    offset: chunk.offset as usize,
                    len: CHUNK_BYTES,
                    shared: map.swizzle.apply(shared + chunk.offset),
                    parts: chunk.parts,
                })
            }),
        }
    }
}

/// Up to 16 bytes of a copy.
struct Piece {
    offset: usize,
    len: usize,
    shared: u64,
    parts: Vec<(Range<usize>, u64)>,
}

impl Cta {
    /// Whether a write to these bytes of shared memory would change what a store has yet to read.
    pub(crate) fn check_stores(
        &self,
        range: &Range<usize>,
        code: &Code,
    ) -> std::result::Result<(), FaultKind> {
        let written = units(range);
        let readers = self.stores.readers.get(written.clone()).unwrap_or(&[]);
        if readers.iter().all(|readers| *readers == 0) {
            return Ok(());
        }
        let reads = |store: &&CopyOut| {
            let read = store.units();
            read.start < written.end && written.start < read.end
        };
        match self.stores.reading.iter().find(reads) {
            None => Ok(()),
            Some(store) => Err(FaultKind::StoreInFlight {
                address: range.start as u64 + u64::from(SHARED_BASE),
                other: code.other(store.origin.instruction),
            }),
        }
    }
}

impl Step<'_> {
    pub(super) fn copy_in(
        &mut self,
        active: u32,
        to: Address,
        region: &Region,
        barrier: Address,
        multicast: Option<Reg>,
    ) -> Result<()> {
        for lane in lanes(active) {
            let blame = |fault| Blame::lane(fault, lane);
            let from = self.place(lane, region).map_err(blame)?;
            let (rank, to) = self.shared_address(lane, to)?;
            check_copy(&from, to).map_err(blame)?;
            let (barrier_rank, barrier) = self.mbarrier_address(lane, barrier)?;
            if rank != barrier_rank {
                let message = format!(
                    "the data goes to CTA rank {rank}, the mbarrier is in CTA rank {barrier_rank}"
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
                self.expect_copy(*rank, to, &from, barrier).map_err(blame)?;
            }
            let bytes = from.bytes() * ranks.len() as u64;
            self.stats.copied_in += bytes;
            self.charge(bytes / BYTES_PER_STEP);
            self.pending.begin(from.knowledge()).map_err(blame)?;
            let origin = self.origin(lane);
            let copy = CopyIn {
                origin,
                ranks,
                to,
                from,
                barrier,
            };
            self.cluster.copies.push(origin.thread(), copy);
        }
        Ok(())
    }

    /// From here on the bytes belong to the copy.
    fn expect_copy(
        &mut self,
        rank: usize,
        to: u64,
        from: &Place,
        barrier: u32,
    ) -> std::result::Result<(), FaultKind> {
        let (warps, size) = (self.cluster.warps_per_cta(), self.cluster.ctas.len());
        let (code, tag) = (self.code, Tag::copy(self.pc, 0));
        let usage = self.warp.knowledge.overwrites(self.warp.index);
        if rank != self.warp.rank && rank < size && self.cluster.cta_ended(rank) {
            return Err(FaultKind::Ended {
                address: to,
                rank: rank as u32,
            });
        }
        let Some(cta) = self.cluster.ctas.get_mut(rank) else {
            return Err(FaultKind::Operand(format!(
                "multicast to CTA rank {rank} of a cluster of {size}"
            )));
        };
        let address = u64::from(barrier);
        match cta.mbarriers.get(&barrier) {
            None => return Err(FaultKind::NoBarrier { address }),
            Some(barrier) => barrier.check_announced(address)?,
        }
        from.pieces(to, |piece| {
            let range = cta.shared.range(piece.shared, piece.len)?;
            cta.shared.check(range.clone(), usage, code, warps)?;
            cta.check_stores(&range, code)?;
            cta.shared.written(range, tag);
            Ok(())
        })
    }

    fn place(&self, lane: usize, region: &Region) -> std::result::Result<Place, FaultKind> {
        match region {
            Region::Bytes { address, bytes } => Ok(Place::Bytes {
                address: self.address(lane, *address),
                len: u64::from(self.warp.get(*bytes, lane) as u32),
            }),
            Region::Shared { address, bytes } => {
                match self.locate(Space::Shared, self.address(lane, *address))? {
                    Location::Shared(rank, address) => Ok(Place::Shared {
                        rank,
                        address,
                        len: u64::from(self.warp.get(*bytes, lane) as u32),
                        knowledge: self.warp.knowledge.clone(),
                    }),
                    _ => Err(FaultKind::Operand(
                        "the source is not in shared memory".to_owned(),
                    )),
                }
            }
            Region::Values { src, bytes } => {
                let values = src
                    .iter()
                    .flat_map(|src| self.warp.get(*src, lane).to_le_bytes()[..*bytes].to_vec());
                Ok(Place::Values(values.collect()))
            }
            Region::Tile { map, coords } => {
                let mut bytes = [0; MAP_BYTES];
                let address = self.address(lane, *map);
                match self.locate(Space::Generic, address)? {
                    Location::Param(offset) => match self.params.get(offset..offset + MAP_BYTES) {
                        Some(param) => bytes.copy_from_slice(param),
                        None => {
                            return Err(FaultKind::Operand(
                                "the operand is not a tensor map".to_owned(),
                            ));
                        }
                    },
                    Location::Global(address) => self
                        .memory
                        .read(address, &mut bytes)
                        .map_err(FaultKind::Global)?,
                    Location::Shared(..) => {
                        return Err(FaultKind::Operand(
                            "a tensor map cannot be in shared memory".to_owned(),
                        ));
                    }
                }
                let map = decode_tensor_map(&bytes).ok_or_else(|| {
                    FaultKind::Operand("the operand is not a tensor map".to_owned())
                })?;
                if map.rank() != coords.len() {
                    let message = format!(
                        "{} coordinates for a tensor map of rank {}",
                        coords.len(),
                        map.rank()
                    );
                    return Err(FaultKind::Operand(message));
                }
                let coords = coords
                    .iter()
                    .map(|coord| i64::from(self.warp.get(*coord, lane) as i32))
                    .collect();
                Ok(Place::Tile {
                    map: Box::new(map),
                    coords,
                })
            }
        }
    }

    /// Lets some copy into shared memory, or what follows one, take place.
    pub(crate) fn land_some(&mut self) -> Result<()> {
        let Cluster {
            copies,
            lane_copies,
            arrivals,
            ..
        } = &*self.cluster;
        let (bulk, lanes) = (copies.len(), lane_copies.len());
        let pick = self.random.below(bulk + lanes + arrivals.len());
        if pick < bulk {
            let key = copies.any(self.random);
            key.map_or(Ok(()), |key| self.land(key))
        } else if pick < bulk + lanes {
            let key = lane_copies.any(self.random);
            key.map_or(Ok(()), |key| self.land_lane(key))
        } else {
            let key = arrivals.any(self.random);
            key.map_or(Ok(()), |key| self.land_arrival(key))
        }
    }

    /// Everything that is under way completes.
    pub(crate) fn complete_copies(&mut self) -> Result<()> {
        while let Some(key) = self.cluster.copies.oldest() {
            self.land(key)?;
        }
        while let Some(key) = self.cluster.lane_copies.oldest() {
            self.land_lane(key)?;
        }
        while let Some(key) = self.cluster.arrivals.oldest() {
            self.land_arrival(key)?;
        }
        for rank in 0..self.cluster.ctas.len() {
            while let Some(key) = self.cluster.ctas[rank].stores.reading.oldest() {
                self.store_read(rank, key)?;
            }
            while let Some(key) = self.cluster.ctas[rank].stores.writing.oldest() {
                self.store_write(rank, key)?;
            }
        }
        Ok(())
    }

    /// A copy takes place.
    fn land(&mut self, key: Key) -> Result<()> {
        let Some(operation) = self.cluster.copies.remove(key) else {
            return Ok(());
        };
        let CopyIn {
            origin,
            ranks,
            to,
            from,
            barrier,
        } = operation.is;
        self.pending.end(from.knowledge());
        self.progress = true;
        let blame = |fault| Blame::origin(fault, origin);
        let mut fill = [0; CHUNK_BYTES];
        match &from {
            Place::Tile { map, .. } => fill = fill_pattern(map),
            Place::Values(values) => fill[..values.len()].copy_from_slice(values),
            Place::Bytes { .. } | Place::Shared { .. } => {}
        }
        let (code, warps) = (self.code, self.cluster.warps_per_cta());
        let Step {
            memory, cluster, ..
        } = self;
        cluster.landings += 1;
        hold(
            "copies into shared memory in one cluster",
            cluster.landings.into(),
            MAX_LANDINGS,
        )
        .map_err(|limit| blame(limit.into()))?;
        let clock = cluster.landings;
        from.pieces(to, |piece| {
            let mut bytes = fill;
            for (part, address) in &piece.parts {
                let into = &mut bytes[part.clone()];
                let Place::Shared {
                    rank, knowledge, ..
                } = &from
                else {
                    memory.read(*address, into).map_err(FaultKind::Global)?;
                    continue;
                };
                let shared = &cluster.ctas[*rank].shared;
                let range = shared.range(*address, part.len())?;
                shared.check(range.clone(), Use::Asynchronous { knowledge }, code, warps)?;
                into.copy_from_slice(&shared.bytes[range]);
            }
            for rank in &ranks {
                let shared = &mut cluster.ctas[*rank].shared;
                let range = shared.range(piece.shared, piece.len)?;
                shared.bytes[range.clone()].copy_from_slice(&bytes[..piece.len]);
                shared.written(range, Tag::copy(origin.instruction, clock));
            }
            Ok(())
        })
        .map_err(blame)?;
        for rank in ranks {
            let address = u64::from(barrier);
            let barrier = self.cluster.ctas[rank].mbarriers.get_mut(&barrier);
            let barrier = barrier.ok_or_else(|| blame(FaultKind::NoBarrier { address }))?;
            barrier.learn_landing(clock);
            barrier
                .transfer(-(from.bytes() as i64), address)
                .map_err(blame)?;
        }
        Ok(())
    }

    /// A `cp.async` takes place.
    fn land_lane(&mut self, key: Key) -> Result<()> {
        let Some(operation) = self.cluster.lane_copies.remove(key) else {
            return Ok(());
        };
        let LaneCopy {
            origin,
            to: (rank, to),
            from,
            bytes,
            source_bytes,
        } = operation.is;
        self.pending.end(None);
        self.progress = true;
        let blame = |fault| Blame::origin(fault, origin);
        let mut data = [0; 16];
        self.memory
            .read(from, &mut data[..source_bytes])
            .map_err(|error| blame(FaultKind::Global(error)))?;
        let warp = origin.rank * self.cluster.warps_per_cta() + origin.warp as usize;
        let clock = self.warp_at(warp).knowledge.seen[warp];
        let shared = &mut self.cluster.ctas[rank].shared;
        let range = shared.range(to, bytes).map_err(blame)?;
        shared.bytes[range.clone()].copy_from_slice(&data[..bytes]);
        shared.written(range, Tag::generic(origin.instruction, warp, clock));
        Ok(())
    }

    /// An arrival takes place, after what the lane asked for before.
    fn land_arrival(&mut self, key: Key) -> Result<()> {
        let Some(operation) = self.cluster.arrivals.remove(key) else {
            return Ok(());
        };
        let Arrival {
            origin,
            barrier: (rank, barrier),
            after,
        } = operation.is;
        self.pending.end(None);
        self.progress = true;
        while let Some(key) = self.cluster.lane_copies.first_of(origin.thread(), after) {
            self.land_lane(key)?;
        }
        self.arrive_after_copies(rank, barrier, origin)
    }

    fn arrive_after_copies(&mut self, rank: usize, barrier: u32, origin: Origin) -> Result<()> {
        let warp = origin.rank * self.cluster.warps_per_cta() + origin.warp as usize;
        let knowledge = self.warp_at(warp).knowledge.clone();
        let address = u64::from(barrier);
        let found = self.cluster.ctas[rank].mbarriers.get_mut(&barrier);
        let found = found.ok_or_else(|| Blame::origin(FaultKind::NoBarrier { address }, origin))?;
        found.learn(&knowledge);
        found
            .arrive(1, address)
            .map_err(|fault| Blame::origin(fault, origin))
    }

    pub(super) fn copy_out(
        &mut self,
        active: u32,
        region: &Region,
        from: Address,
        reduction: Option<Reduction>,
    ) -> Result<()> {
        for lane in lanes(active) {
            let blame = |fault| Blame::lane(fault, lane);
            let mut to = self.place(lane, region).map_err(blame)?;
            let (rank, from) = self.shared_address(lane, from)?;
            check_copy(&to, from).map_err(blame)?;
            if rank != self.warp.rank {
                return Err(blame(FaultKind::Operand(
                    "the source is in another CTA's shared memory".to_owned(),
                )));
            }
            self.cluster.ctas[rank]
                .shared
                .range(from, to.bytes() as usize)
                .map_err(blame)?;
            let reduction = match (reduction, &to) {
                (None, _) => None,
                (Some(Reduction::Typed { update, bytes }), _) => Some((update, bytes)),
                (Some(Reduction::ByElement(name)), Place::Tile { map, .. }) => {
                    let update = arithmetic::update(name, computed_as(map.element));
                    let update = update.ok_or_else(|| {
                        blame(FaultKind::Operand(format!(
                            "`.{name}` of {:?} elements",
                            map.element
                        )))
                    })?;
                    Some((update, map.element.bytes() as usize))
                }
                (Some(Reduction::ByElement(_)), _) => {
                    return Err(blame(FaultKind::Operand(
                        "a reduction of bytes needs a type".to_owned(),
                    )));
                }
            };
            if let (None, Place::Tile { map, .. }) = (&reduction, &mut to) {
                end_rows_at_whole_units(map);
            }
            self.stats.copied_out += to.bytes();
            self.charge(to.bytes() / BYTES_PER_STEP);
            let (origin, knowledge) = (self.origin(lane), self.warp.knowledge.clone());
            self.pending.begin(Some(&knowledge)).map_err(blame)?;
            let store = CopyOut {
                origin,
                to,
                from,
                reduction,
                knowledge,
            };
            let Cta { shared, stores, .. } = &mut self.cluster.ctas[rank];
            if stores.readers.is_empty() {
                stores.readers = vec![0; shared.bytes.len().div_ceil(CHUNK_BYTES)];
            }
            stores.readers[store.units()]
                .iter_mut()
                .for_each(|readers| *readers += 1);
            stores.reading.push(origin.thread(), store);
        }
        Ok(())
    }

    /// Some store of a CTA reads its source or, with `write`, completes.
    pub(crate) fn store_some(&mut self, rank: usize, write: bool) -> Result<()> {
        let stores = &self.cluster.ctas[rank].stores;
        let key = match self.random.below(stores.len()) < stores.reading.len() {
            true => stores.reading.any(self.random),
            false => stores.writing.any(self.random),
        };
        let Some(key) = key else { return Ok(()) };
        self.store_read(rank, key)?;
        if write {
            self.store_write(rank, key)?;
        }
        Ok(())
    }

    /// A store reads its source, if it has not.
    fn store_read(&mut self, rank: usize, key: Key) -> Result<()> {
        let (code, warps) = (self.code, self.cluster.warps_per_cta());
        let Cta { shared, stores, .. } = &mut self.cluster.ctas[rank];
        let Some(Operation { group, is: store }) = stores.reading.remove(key) else {
            return Ok(());
        };
        self.pending.end(Some(&store.knowledge));
        stores.readers[store.units()]
            .iter_mut()
            .for_each(|readers| *readers -= 1);
        let mut data = vec![0; store.to.bytes() as usize];
        store
            .to
            .pieces(store.from, |piece| {
                // What falls outside of the tensor is not read.
                for (part, _) in &piece.parts {
                    let range = shared.range(piece.shared + part.start as u64, part.len())?;
                    let usage = Use::Asynchronous {
                        knowledge: &store.knowledge,
                    };
                    shared.check(range.clone(), usage, code, warps)?;
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
            ..
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

    /// What the host would have to hold for too many stores is written, which may happen at any time.
    fn write_the_oldest(&mut self, rank: usize) -> Result<()> {
        loop {
            let stores = &self.cluster.ctas[rank].stores;
            match stores.writing.oldest() {
                Some(key) if stores.held > HELD_BYTES || stores.writing.len() > HELD_STORES => {
                    self.store_write(rank, key)?
                }
                _ => return Ok(()),
            }
        }
    }

    /// A store that has read its source writes, and is complete.
    fn store_write(&mut self, rank: usize, key: Key) -> Result<()> {
        let stores = &mut self.cluster.ctas[rank].stores;
        let Some(Operation { is: store, .. }) = stores.writing.remove(key) else {
            return Ok(());
        };
        stores.held -= store.data.len();
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

    pub(super) fn bulk_commit(&mut self, active: u32) {
        for lane in lanes(active) {
            let group = self.warp.bulk_groups[lane];
            self.warp.bulk_groups[lane] += 1;
            let thread = self.origin(lane).thread();
            self.cluster.ctas[self.warp.rank]
                .stores
                .commit(thread, group);
        }
    }

    pub(super) fn bulk_wait(&mut self, active: u32, pending: u64, read: bool) -> Result<()> {
        let rank = self.warp.rank;
        for lane in lanes(active) {
            let thread = self.origin(lane).thread();
            let done = self.warp.bulk_groups[lane].saturating_sub(pending);
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

    /// At the end of a CTA no copy may still read or write its shared memory.
    pub(super) fn check_copies_at_exit(&mut self) -> Result<()> {
        let rank = self.warp.rank;
        if let Some(store) = self.cluster.ctas[rank].stores.reading.iter().next() {
            let other = self.code.other(store.origin.instruction);
            return Err(FaultKind::ExitWithStore { other }.into());
        }
        let into = |copy: &&CopyIn| copy.ranks.contains(&rank);
        if let Some(copy) = self.cluster.copies.iter().find(into) {
            let other = self.code.other(copy.origin.instruction);
            return Err(FaultKind::ExitWithCopy { other }.into());
        }
        Ok(())
    }

    pub(super) fn copy_async(
        &mut self,
        active: u32,
        to: Address,
        from: Address,
        bytes: u32,
        source_bytes: Option<Reg>,
    ) -> Result<()> {
        let (code, warps, tag) = (
            self.code,
            self.cluster.warps_per_cta(),
            Tag::copy(self.pc, 0),
        );
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
            let usage = self.warp.knowledge.writes(self.warp.index);
            cta.shared
                .check(range.clone(), usage, code, warps)
                .map_err(blame)?;
            cta.check_stores(&range, code).map_err(blame)?;
            cta.shared.written(range, tag);
            let (bytes, source_bytes) = (bytes as usize, source_bytes as usize);
            self.pending.begin(None).map_err(blame)?;
            let origin = self.origin(lane);
            let copy = LaneCopy {
                origin,
                to: (rank, to),
                from,
                bytes,
                source_bytes,
            };
            self.cluster.lane_copies.push(origin.thread(), copy);
        }
        Ok(())
    }

    pub(super) fn copy_async_commit(&mut self, active: u32) {
        for lane in lanes(active) {
            let group = self.warp.copy_groups[lane];
            self.warp.copy_groups[lane] += 1;
            let thread = self.origin(lane).thread();
            self.cluster.lane_copies.commit(thread, group);
        }
    }

    pub(super) fn copy_async_wait(&mut self, active: u32, pending: Option<u64>) -> Result<()> {
        for lane in lanes(active) {
            let thread = self.origin(lane).thread();
            let done = pending.map(|pending| self.warp.copy_groups[lane].saturating_sub(pending));
            let waited = |copies: &Queue<LaneCopy>| match done {
                Some(done) => copies.first_committed(thread, done),
                None => copies.first_of(thread, copies.next()),
            };
            while let Some(key) = waited(&self.cluster.lane_copies) {
                self.land_lane(key)?;
            }
        }
        self.warp.written |= active;
        Ok(())
    }

    pub(super) fn copy_async_arrive(
        &mut self,
        active: u32,
        address: Address,
        counted: bool,
    ) -> Result<()> {
        for lane in lanes(active) {
            let blame = |fault| Blame::lane(fault, lane);
            let barrier = self.mbarrier_address(lane, address)?;
            let (found, at) = self.mbarrier(lane, address)?;
            if counted {
                found.await_one_more(at).map_err(blame)?;
            }
            self.pending.begin(None).map_err(blame)?;
            let origin = self.origin(lane);
            let arrival = Arrival {
                origin,
                barrier,
                after: self.cluster.lane_copies.next(),
            };
            self.cluster.arrivals.push(origin.thread(), arrival);
        }
        Ok(())
    }
}

/// The rules for the addresses and sizes of a copy.
fn check_copy(place: &Place, shared: u64) -> std::result::Result<(), FaultKind> {
    let misaligned = |address: u64, align: u64| {
        if address.is_multiple_of(align) {
            Ok(())
        } else {
            Err(FaultKind::Misaligned { address, align })
        }
    };
    match place {
        Place::Tile { map, .. } => {
            misaligned(shared, TILE_ALIGN)?;
            if map.box_bytes() > u64::from(MAX_SHARED_BYTES) {
                return Err(FaultKind::Operand(format!(
                    "a box of {} bytes",
                    map.box_bytes()
                )));
            }
            Ok(())
        }
        Place::Values(values) => misaligned(shared, values.len() as u64),
        Place::Bytes { address, len } | Place::Shared { address, len, .. } => {
            misaligned(shared, BULK_ALIGN)?;
            misaligned(*address, BULK_ALIGN)?;
            if !len.is_multiple_of(BULK_ALIGN) {
                return Err(FaultKind::Operand(format!(
                    "{len} bytes are not a multiple of {BULK_ALIGN}"
                )));
            }
            Ok(())
        }
    }
}
