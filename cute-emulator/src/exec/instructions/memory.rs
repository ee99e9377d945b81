//! Loads, stores, atomics, `ldmatrix` and `stmatrix`, and proxy fences.

use super::address::Location;
use crate::arithmetic::{low_bits, number};
use crate::error::FaultKind;
use crate::exec::state::shared::{How, Tag};
use crate::exec::state::warp::{LANES, lanes};
use crate::exec::step::{Blame, Result, Step};
use crate::op::{Access, Address, Atomic, AtomicOperation, Reg, Space};
use std::ops::Range;
use std::rc::Rc;

/// No access needs a larger alignment, in bytes.
const MAX_ALIGN: usize = 64;
/// The most bytes of several lanes that are accessed together: 16 for each lane of a warp.
const RUN_BYTES: usize = 16 * LANES;
/// The number of rows and of columns of a matrix of `ldmatrix`.
const EDGE: usize = 8;

impl Step<'_> {
    pub(crate) fn load(
        &mut self,
        active: u32,
        access: Access,
        dst: &[(Reg, u64)],
        address: Address,
    ) -> Result<()> {
        let size = usize::from(access.bytes);
        let len = size * dst.len();
        let mut buffer = [0; RUN_BYTES];
        self.each_run(active, address, len, |step, first, run| {
            let bytes = &mut buffer[..len * run.len()];
            match step.locate(access.space, first)? {
                Location::Local(address) => step.read_local(run.clone(), address, bytes)?,
                location => step.read(location, bytes, len, access.strong)?,
            }
            let dsts = dst.len();
            for (i, (dst, mask)) in dst.iter().enumerate() {
                let row = &mut step.warp.rows[*dst as usize][run.clone()];
                if let (4, false) = (size, access.signed) {
                    // The most common size, which the compiler knows here.
                    let words = bytes.as_chunks().0.chunks_exact(dsts);
                    for (value, words) in row.iter_mut().zip(words) {
                        *value = u64::from(u32::from_le_bytes(words[i])) & mask;
                    }
                    continue;
                }
                let elements = bytes[i * size..].chunks(len);
                for (value, bytes) in row.iter_mut().zip(elements) {
                    let loaded = number(&bytes[..size]);
                    *value = mask
                        & match access.signed {
                            true => sign_extended(loaded, size),
                            false => loaded,
                        };
                }
            }
            Ok(())
        })?;
        if access.strong {
            let Step { warp, cluster, .. } = self;
            warp.knowledge.join(&cluster.strong);
        }
        Ok(())
    }

    pub(crate) fn store(
        &mut self,
        active: u32,
        access: Access,
        src: &[Reg],
        address: Address,
    ) -> Result<()> {
        self.progress = true;
        if access.strong {
            self.publish();
        }
        let size = usize::from(access.bytes);
        let len = size * src.len();
        let mut buffer = [0; RUN_BYTES];
        self.each_run(active, address, len, |step, first, run| {
            let bytes = &mut buffer[..len * run.len()];
            let srcs = src.len();
            for (i, src) in src.iter().enumerate() {
                let row = &step.warp.rows[*src as usize][run.clone()];
                if size == 4 {
                    let words = bytes.as_chunks_mut().0.chunks_exact_mut(srcs);
                    for (value, words) in row.iter().zip(words) {
                        words[i] = (*value as u32).to_le_bytes();
                    }
                    continue;
                }
                for (value, bytes) in row.iter().zip(bytes.chunks_exact_mut(len)) {
                    bytes[i * size..(i + 1) * size].copy_from_slice(&value.to_le_bytes()[..size]);
                }
            }
            match step.locate(access.space, first)? {
                Location::Local(address) => step.write_local(run, address, bytes),
                location => step.write(location, bytes, run, access.strong),
            }
        })
    }

    /// Calls a function for the accesses of the active lanes, of `len` bytes each, in the order of the lanes: lanes whose bytes
    /// follow one another make one access, of which the function gets the first address and the lanes. If an access of
    /// several lanes fails, it is repeated lane by lane, which tells the lane.
    fn each_run(
        &mut self,
        active: u32,
        address: Address,
        len: usize,
        mut access: impl FnMut(&mut Self, u64, Range<usize>) -> std::result::Result<(), FaultKind>,
    ) -> Result<()> {
        let addresses = self.warp.rows[address.base as usize]
            .map(|base| base.wrapping_add_signed(address.offset));
        let mut lane = 0;
        while lane < LANES {
            let start = lane;
            lane += 1;
            if active >> start & 1 == 0 {
                continue;
            }
            let first = addresses[start];
            let mut next = first.wrapping_add(len as u64);
            let most = LANES.min(start + RUN_BYTES / len);
            while lane < most && active >> lane & 1 == 1 && addresses[lane] == next {
                next = next.wrapping_add(len as u64);
                lane += 1;
            }
            if lane - start > 1 && access(self, first, start..lane).is_ok() {
                continue;
            }
            for lane in start..lane {
                access(self, self.address(lane, address), lane..lane + 1)
                    .map_err(|fault| Blame::lane(fault, lane))?;
            }
        }
        Ok(())
    }

    pub(crate) fn atomic(&mut self, active: u32, atomic: &Atomic) -> Result<()> {
        let (access, address) = (atomic.access, atomic.address);
        self.progress = true;
        let size = usize::from(access.bytes);
        self.publish();
        for lane in lanes(active) {
            for (i, src) in atomic.src.iter().enumerate() {
                let place = self.address(lane, address).wrapping_add((i * size) as u64);
                let mut bytes = [0; 8];
                let location = self
                    .locate(access.space, place)
                    .map_err(|fault| Blame::lane(fault, lane))?;
                self.read(location, &mut bytes[..size], size, true)
                    .map_err(|fault| Blame::lane(fault, lane))?;
                let old = number(&bytes[..size]);
                let operand = self.warp.get(*src, lane) & low_bits(8 * size as u32);
                let new = match (atomic.op, atomic.swap) {
                    (AtomicOperation::CompareAndSwap, Some(swap)) if old == operand => {
                        self.warp.get(swap, lane)
                    }
                    (AtomicOperation::CompareAndSwap, _) => old,
                    (AtomicOperation::Update(update), _) => update(old, operand),
                };
                self.write(location, &new.to_le_bytes()[..size], lane..lane + 1, true)
                    .map_err(|fault| Blame::lane(fault, lane))?;
                if let Some(dst) = atomic.dst.as_ref().and_then(|dst| dst.get(i)) {
                    self.warp.set(*dst, lane, old);
                }
            }
        }
        let Step { warp, cluster, .. } = self;
        warp.knowledge.join(&cluster.strong);
        Ok(())
    }

    /// `fence.proxy.async`: what the warp knows may be read by the async proxy after the next synchronisation.
    pub(crate) fn proxy_fence(&mut self, active: u32) {
        self.warp.written &= !active;
        let own = self.warp.index;
        let knowledge = &mut self.warp.knowledge;
        let before = knowledge.fenced[own];
        let fenced = Rc::make_mut(&mut knowledge.fenced);
        for (fenced, seen) in fenced.iter_mut().zip(knowledge.seen.iter()) {
            *fenced = (*fenced).max(*seen);
        }
        if self.warp.written != 0 {
            // Other lanes of the warp have written without a fence. Clocks belong to whole warps, so none of the warp's own
            // writes count as fenced.
            fenced[own] = before;
        }
        self.warp.tick();
    }

    /// Passes the warp's knowledge on to the warps that later execute an atomic or a strong load.
    fn publish(&mut self) {
        let Step { warp, cluster, .. } = self;
        cluster.strong.join(&warp.knowledge);
        warp.tick();
    }

    /// `ldmatrix`: lane 8·m + r holds the address of row r of matrix m, which has eight elements of 16 bits.
    pub(crate) fn load_matrix(
        &mut self,
        active: u32,
        dst: &[Reg],
        address: Address,
        transpose: bool,
    ) -> Result<()> {
        for (matrix, dst) in dst.iter().enumerate() {
            let mut rows = [[0_u16; EDGE]; EDGE];
            for (row, elements) in rows.iter_mut().enumerate() {
                let lane = matrix * EDGE + row;
                let mut bytes = [0; 2 * EDGE];
                self.locate(Space::Shared, self.address(lane, address))
                    .and_then(|location| self.read(location, &mut bytes, 2 * EDGE, false))
                    .map_err(|fault| Blame::lane(fault, lane))?;
                for (element, bytes) in elements.iter_mut().zip(bytes.chunks_exact(2)) {
                    *element = number(bytes) as u16;
                }
            }
            self.warp.fill(*dst, active, |lane| {
                let (row, column) = (lane / 4, lane % 4 * 2);
                let element = |row: usize, column: usize| {
                    u64::from(if transpose {
                        rows[column][row]
                    } else {
                        rows[row][column]
                    })
                };
                element(row, column) | element(row, column + 1) << 16
            });
        }
        Ok(())
    }

    pub(crate) fn store_matrix(
        &mut self,
        active: u32,
        src: &[Reg],
        address: Address,
        transpose: bool,
    ) -> Result<()> {
        self.progress = true;
        for (matrix, src) in src.iter().enumerate() {
            let values = self.warp.rows[*src as usize];
            let element = |row: usize, column: usize| {
                let (row, column) = if transpose {
                    (column, row)
                } else {
                    (row, column)
                };
                (values[row * 4 + column / 2] >> (column % 2 * 16)) as u16
            };
            for row in 0..EDGE {
                let lane = matrix * EDGE + row;
                let mut bytes = [0; 2 * EDGE];
                for (column, bytes) in bytes.chunks_exact_mut(2).enumerate() {
                    bytes.copy_from_slice(&element(row, column).to_le_bytes());
                }
                self.locate(Space::Shared, self.address(lane, address))
                    .and_then(|location| self.write(location, &bytes, lane..lane + 1, false))
                    .map_err(|fault| Blame::lane(fault, lane))?;
            }
        }
        // Each row that a lane's address names consists of elements of several lanes, so all lanes count as writers.
        self.warp.written |= active;
        Ok(())
    }

    /// Reads memory for lanes with `len` bytes each.
    pub(super) fn read(
        &mut self,
        location: Location,
        into: &mut [u8],
        len: usize,
        strong: bool,
    ) -> std::result::Result<(), FaultKind> {
        match location {
            Location::Global(address) => {
                Self::aligned(address, len)?;
                self.memory.read(address, into).map_err(FaultKind::Global)
            }
            Location::Shared(rank, address) => {
                Self::aligned(address, len)?;
                let range = self.shared_bytes(rank, address, into.len(), false, strong)?;
                let clock = self.warp.knowledge.seen[self.warp.index];
                let shared = &mut self.cluster.ctas[rank].shared;
                into.copy_from_slice(&shared.bytes[range.clone()]);
                let tag = Tag::access(self.pc, self.warp.index, clock, strong);
                shared.read(range, tag, &self.warp.knowledge)
            }
            Location::Local(address) => Err(beyond_local(address)),
            Location::Param(offset) => match self.params.get(offset..offset + into.len()) {
                Some(bytes) => {
                    into.copy_from_slice(bytes);
                    Ok(())
                }
                None => Err(FaultKind::Operand(format!(
                    "{} bytes at offset {offset} are outside the entry's {} bytes of parameters",
                    into.len(),
                    self.params.len()
                ))),
            },
        }
    }

    /// Writes memory for lanes with equal numbers of bytes.
    pub(super) fn write(
        &mut self,
        location: Location,
        from: &[u8],
        by: Range<usize>,
        strong: bool,
    ) -> std::result::Result<(), FaultKind> {
        let len = from.len() / by.len();
        match location {
            Location::Global(address) => {
                Self::aligned(address, len)?;
                self.memory.write(address, from).map_err(FaultKind::Global)
            }
            Location::Shared(rank, address) => {
                Self::aligned(address, len)?;
                let range = self.shared_bytes(rank, address, from.len(), true, strong)?;
                by.for_each(|lane| self.warp.written |= 1 << lane);
                let clock = self.warp.knowledge.seen[self.warp.index];
                let tag = Tag::access(self.pc, self.warp.index, clock, strong);
                let shared = &mut self.cluster.ctas[rank].shared;
                shared.bytes[range.clone()].copy_from_slice(from);
                if strong {
                    return shared.written_strongly(range, tag, &self.warp.knowledge);
                }
                shared.written(range, tag);
                Ok(())
            }
            Location::Local(address) => Err(beyond_local(address)),
            Location::Param(_) => Err(FaultKind::Operand(
                "parameters cannot be written".to_owned(),
            )),
        }
    }

    /// Reads the local memory of one lane; an error for several, whose memories do not follow one another.
    pub(super) fn read_local(
        &self,
        lanes: Range<usize>,
        address: u64,
        into: &mut [u8],
    ) -> std::result::Result<(), FaultKind> {
        Self::aligned(address, into.len())?;
        let local = &self.warp.local[lanes.start];
        let range = local_range(local, lanes, address, into.len())?;
        into.copy_from_slice(&local[range]);
        Ok(())
    }

    /// Writes the local memory of one lane; an error for several.
    pub(super) fn write_local(
        &mut self,
        lanes: Range<usize>,
        address: u64,
        from: &[u8],
    ) -> std::result::Result<(), FaultKind> {
        Self::aligned(address, from.len())?;
        let local = &mut self.warp.local[lanes.start];
        let range = local_range(local, lanes, address, from.len())?;
        local[range].copy_from_slice(from);
        Ok(())
    }

    /// Bytes at a generic address, for what a lane passes to the driver.
    pub(super) fn read_generic(
        &mut self,
        lane: usize,
        address: u64,
        into: &mut [u8],
    ) -> std::result::Result<(), FaultKind> {
        match self.locate(Space::Generic, address)? {
            Location::Local(address) => self.read_local(lane..lane + 1, address, into),
            location => self.read(location, into, 1, false),
        }
    }

    /// The range of shared memory that a generic access covers, after the checks for races and for copies that use it.
    fn shared_bytes(
        &mut self,
        rank: usize,
        address: u64,
        len: usize,
        write: bool,
        strong: bool,
    ) -> std::result::Result<Range<usize>, FaultKind> {
        let warps = self.cluster.warps_per_cta();
        let cta = &self.cluster.ctas[rank];
        let range = cta.shared.range(address, len)?;
        let how = match (strong, write) {
            (true, true) => How::StrongWrite,
            (true, false) => How::StrongRead,
            (false, true) => How::Write,
            (false, false) => How::Read,
        };
        let usage = self.warp.knowledge.uses(self.warp.index, how);
        cta.shared.check(range.clone(), usage, self.code, warps)?;
        self.visit(rank);
        Ok(range)
    }

    fn aligned(address: u64, bytes: usize) -> std::result::Result<(), FaultKind> {
        let align = bytes.next_power_of_two().min(MAX_ALIGN) as u64;
        if address.is_multiple_of(align) {
            Ok(())
        } else {
            Err(FaultKind::Misaligned { address, align })
        }
    }
}

/// The range of a lane's local memory that an access covers.
fn local_range(
    local: &[u8],
    lanes: Range<usize>,
    address: u64,
    len: usize,
) -> std::result::Result<Range<usize>, FaultKind> {
    let start = usize::try_from(address).unwrap_or(usize::MAX);
    let range = start..start.saturating_add(len);
    match lanes.len() == 1 && range.end <= local.len() {
        true => Ok(range),
        false => Err(FaultKind::Operand(format!(
            "{len} bytes at local address {address:#x} are outside the thread's {} bytes of local memory",
            local.len()
        ))),
    }
}

/// For accesses that local memory does not have, such as atomics.
fn beyond_local(address: u64) -> FaultKind {
    FaultKind::Operand(format!(
        "the instruction cannot access local memory, in which the address {address:#x} is"
    ))
}

fn sign_extended(value: u64, bytes: usize) -> u64 {
    let shift = 64 - 8 * bytes as u32;
    ((value << shift) as i64 >> shift) as u64
}
