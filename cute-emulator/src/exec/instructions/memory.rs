//! Loads, stores, atomics, `ldmatrix` and `stmatrix`, and proxy fences.

use super::address::Location;
use super::traffic::{EDGE, Moves};
use crate::access::kind::Kind;
use crate::arithmetic::{low_bits, number};
use crate::error::FaultKind;
use crate::exec::state::lanes::Lanes;
use crate::exec::state::row::{LANES, lanes};
use crate::exec::state::shared::{How, LaneUse, Use};
use crate::exec::state::tag::Tag;
use crate::exec::state::undefined::Cause;
use crate::exec::step::{Blame, Result, Step};
use crate::op::{Access, Address, Atomic, AtomicOperation, Reg, Scope, Space, Strong};
use crate::windows::SHARED_BASE;
use std::cell::Cell;
use std::ops::Range;
use std::rc::Rc;

/// The largest alignment that an access can need, in bytes.
const MAX_ALIGN: usize = 64;
/// The most bytes of several lanes that are accessed together: 16 for each lane of a warp.
const RUN_BYTES: usize = 16 * LANES;
/// This many accesses of lanes with separate addresses are charged as one instruction.
const RUNS_PER_STEP: u64 = 4;
impl Step<'_> {
    pub(crate) fn load(
        &mut self,
        active: u32,
        access: Access,
        dst: &[(Reg, u64)],
        address: Address,
    ) -> Result<()> {
        let kind = match (access.strong, access.read_only) {
            (Some(_), _) => Kind::StrongRead,
            (None, true) => Kind::ReadOnly,
            (None, false) => Kind::Read,
        };
        let scope = access.strong.map_or(Scope::Cta, |strong| strong.scope);
        let size = usize::from(access.bytes);
        let len = size * dst.len();
        self.count_access(active, access.space, address, len, Moves::Read);
        let mut buffer = [0; RUN_BYTES];
        self.each_run(active, address, len, |step, first, run| {
            let bytes = &mut buffer[..len * run.len()];
            match step.locate(access.space, first)? {
                Location::Local(address) => step.read_local(run.clone(), address, bytes)?,
                location => {
                    if let Err(fault) = step.read(location, bytes, run.clone(), kind, scope) {
                        step.read_undefined(fault, location, bytes, run.clone(), (kind, dst))?;
                    }
                    if let Some(strong) = access.strong {
                        step.observe(location, bytes.len(), run.clone(), strong);
                    }
                }
            }
            let dsts = dst.len();
            for (i, (dst, mask)) in dst.iter().enumerate() {
                let row = &mut step.warp.rows[*dst as usize][run.clone()];
                if let (4, false) = (size, access.signed) {
                    // The most common size, known to the compiler here.
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
        })
    }

    pub(crate) fn store(
        &mut self,
        active: u32,
        access: Access,
        src: &[Reg],
        address: Address,
    ) -> Result<()> {
        let size = usize::from(access.bytes);
        let len = size * src.len();
        self.count_access(active, access.space, address, len, Moves::Write);
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
                location => {
                    step.write(location, bytes, run, access.strong)?;
                    match access.strong {
                        Some(strong) => step.release(location, bytes.len(), strong, false),
                        None => Ok(()),
                    }
                }
            }
        })?;
        self.after_release(access.strong);
        Ok(())
    }

    /// Calls a function for the accesses of the active lanes, of `len` bytes each, in the order of the lanes. Lanes with contiguous bytes
    /// make one access: the function gets its first address and its lanes. If an access of several lanes fails, it is repeated lane
    /// by lane to find the lane at fault.
    fn each_run(
        &mut self,
        active: u32,
        address: Address,
        len: usize,
        mut access: impl FnMut(&mut Self, u64, Range<usize>) -> std::result::Result<(), FaultKind>,
    ) -> Result<()> {
        let addresses = self.warp.rows[address.base as usize]
            .map(|base| base.wrapping_add_signed(address.offset));
        let (mut lane, mut runs) = (0, 0);
        while lane < LANES {
            let start = lane;
            lane += 1;
            if active >> start & 1 == 0 {
                continue;
            }
            runs += 1;
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
        self.charge(runs / RUNS_PER_STEP);
        Ok(())
    }

    pub(crate) fn atomic(&mut self, active: u32, atomic: &Atomic) -> Result<()> {
        let (access, address) = (atomic.access, atomic.address);
        let size = usize::from(access.bytes);
        let len = size * atomic.src.len();
        self.count_access(active, access.space, address, len, Moves::Both);
        let strong = access.strong;
        self.charge((active.count_ones() as usize * atomic.src.len()) as u64);
        for lane in lanes(active) {
            for (i, src) in atomic.src.iter().enumerate() {
                let place = self.address(lane, address).wrapping_add((i * size) as u64);
                let mut bytes = [0; 8];
                let blame = |fault| Blame::lane(fault, lane);
                let location = self.locate(access.space, place).map_err(blame)?;
                let by = lane..lane + 1;
                self.read(
                    location,
                    &mut bytes[..size],
                    by,
                    Kind::StrongWrite,
                    Scope::Cta,
                )
                .map_err(blame)?;
                let old = number(&bytes[..size]);
                let operand = self.warp.get(*src, lane) & low_bits(8 * size as u32);
                let new = match (atomic.op, atomic.swap) {
                    (AtomicOperation::CompareAndSwap, Some(swap)) if old == operand => {
                        self.warp.get(swap, lane)
                    }
                    (AtomicOperation::CompareAndSwap, _) => old,
                    (AtomicOperation::Update(update), _) => update(old, operand),
                };
                self.write(location, &new.to_le_bytes()[..size], lane..lane + 1, strong)
                    .map_err(blame)?;
                if let Some(strong) = strong {
                    self.observe(location, size, lane..lane + 1, strong);
                    self.release(location, size, strong, true).map_err(blame)?;
                }
                if let Some(dst) = atomic.dst.as_ref().and_then(|dst| dst.get(i)) {
                    self.warp.set(*dst, lane, old);
                }
            }
        }
        self.after_release(strong);
        Ok(())
    }

    /// `ldmatrix`: lane 8·m + r holds the address of row r of matrix m, which has eight elements of 16 bits.
    pub(crate) fn load_matrix(
        &mut self,
        active: u32,
        dst: &[Reg],
        address: Address,
        transpose: bool,
    ) -> Result<()> {
        self.count_matrices(dst.len(), address, Moves::Read);
        self.charge((dst.len() * EDGE) as u64);
        for (matrix, dst) in dst.iter().enumerate() {
            let mut rows = [[0_u16; EDGE]; EDGE];
            for (row, elements) in rows.iter_mut().enumerate() {
                let lane = matrix * EDGE + row;
                let mut bytes = [0; 2 * EDGE];
                self.locate(Space::Shared, self.address(lane, address))
                    .and_then(|location| {
                        let lanes = Lanes::Several;
                        self.read_by(
                            location,
                            &mut bytes,
                            2 * EDGE,
                            lanes,
                            Kind::Read,
                            Scope::Cta,
                        )
                    })
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
        self.count_matrices(src.len(), address, Moves::Write);
        self.charge((src.len() * EDGE) as u64);
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
                    .and_then(|location| {
                        self.write_by(location, &bytes, 2 * EDGE, Lanes::Several, None)
                    })
                    .map_err(|fault| Blame::lane(fault, lane))?;
            }
        }
        // A row consists of elements of several lanes, so all lanes count as writers.
        self.warp.written |= active;
        Ok(())
    }

    /// Reads memory for lanes with equal numbers of bytes.
    pub(super) fn read(
        &mut self,
        location: Location,
        into: &mut [u8],
        by: Range<usize>,
        kind: Kind,
        scope: Scope,
    ) -> std::result::Result<(), FaultKind> {
        let lanes = Lanes::new(&by, location.address(), into.len());
        self.read_by(location, into, into.len() / by.len(), lanes, kind, scope)
    }

    /// Reads memory with the alignment for `len` bytes, also as the first half of an atomic.
    fn read_by(
        &mut self,
        location: Location,
        into: &mut [u8],
        len: usize,
        lanes: Lanes,
        kind: Kind,
        scope: Scope,
    ) -> std::result::Result<(), FaultKind> {
        match location {
            Location::Global(address) => {
                Self::aligned(address, len)?;
                self.memory.read(address, into).map_err(FaultKind::Global)?;
                self.read_global(address, into.len(), lanes, kind, scope)
            }
            Location::Shared(rank, address) => {
                Self::aligned(address, len)?;
                let shared = &self.cluster.ctas[rank].shared;
                let range = shared.range(address, into.len());
                let range = range.map_err(|fault| fault.seen_from(self.warp.rank, rank))?;
                let strong = kind != Kind::Read && kind != Kind::ReadOnly;
                let how = if strong { How::StrongRead } else { How::Read };
                self.check_shared(rank, range.clone(), how, lanes, None)?;
                let Step { warp, cluster, .. } = self;
                let shared = &mut cluster.ctas[rank].shared;
                into.copy_from_slice(&shared.bytes[range.clone()]);
                let tag = Tag::access(self.pc, warp.index, warp.clock(), strong);
                let by = LaneUse {
                    lanes,
                    order: &warp.lanes,
                    unchanged_by: None,
                    is_alike: None,
                };
                let usage = warp.knowledge.uses(warp.index, how);
                shared.read(
                    range,
                    tag,
                    Use {
                        lanes: Some(by),
                        ..usage
                    },
                )
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

    /// Reads shared memory that was never written, into registers of one lane. Their values are then undefined. A later write that is
    /// not ordered after the read races with it. Any other fault stays a fault.
    #[cold]
    fn read_undefined(
        &mut self,
        fault: FaultKind,
        location: Location,
        into: &mut [u8],
        lanes: Range<usize>,
        (kind, dst): (Kind, &[(Reg, u64)]),
    ) -> std::result::Result<(), FaultKind> {
        let (FaultKind::Uninitialised { .. }, Location::Shared(rank, address), 1) =
            (&fault, location, lanes.len())
        else {
            return Err(fault);
        };
        let lane = lanes.start;
        let cause = Rc::new(Cause::Load(fault, self.origin(lane)));
        for (dst, _) in dst {
            self.warp.undefined.mark(*dst, 1 << lane, cause.clone());
        }
        self.visit(rank, address)?;
        let Step { warp, cluster, .. } = self;
        let shared = &mut cluster.ctas[rank].shared;
        let range = shared.range(address, into.len())?;
        into.copy_from_slice(&shared.bytes[range.clone()]);
        let strong = kind == Kind::StrongRead;
        let how = if strong { How::StrongRead } else { How::Read };
        let tag = Tag::access(self.pc, warp.index, warp.clock(), strong);
        let by = LaneUse {
            lanes: Lanes::One(lane as u8),
            order: &warp.lanes,
            unchanged_by: None,
            is_alike: None,
        };
        let usage = warp.knowledge.uses(warp.index, how);
        shared.uses(&range);
        let lanes = Some(by);
        shared.read(range, tag, Use { lanes, ..usage })
    }

    /// Writes memory for lanes with equal numbers of bytes.
    pub(super) fn write(
        &mut self,
        location: Location,
        from: &[u8],
        by: Range<usize>,
        strong: Option<Strong>,
    ) -> std::result::Result<(), FaultKind> {
        let lanes = Lanes::new(&by, location.address(), from.len());
        self.write_by(location, from, from.len() / by.len(), lanes, strong)?;
        let written = match location {
            Location::Global(_) => &mut self.warp.written_global,
            _ => &mut self.warp.written,
        };
        by.for_each(|lane| *written |= 1 << lane);
        Ok(())
    }

    /// Writes memory with the alignment for `len` bytes.
    fn write_by(
        &mut self,
        location: Location,
        from: &[u8],
        len: usize,
        lanes: Lanes,
        strong: Option<Strong>,
    ) -> std::result::Result<(), FaultKind> {
        match location {
            Location::Global(address) => {
                Self::aligned(address, len)?;
                self.write_global(address, from, lanes, strong)
            }
            Location::Shared(rank, address) => {
                Self::aligned(address, len)?;
                let shared = &self.cluster.ctas[rank].shared;
                let range = shared.range(address, from.len());
                let range = range.map_err(|fault| fault.seen_from(self.warp.rank, rank))?;
                let unchanged = (shared.bytes[range.clone()] == *from).then_some(self.pc);
                let how = match strong {
                    Some(_) => How::StrongWrite,
                    None => How::Write,
                };
                let is_alike = Cell::new(false);
                let unchanged = unchanged.map(|by| (by, &is_alike));
                self.check_shared(rank, range.clone(), how, lanes, unchanged)?;
                let Step { warp, cluster, .. } = self;
                let tag = Tag::access(self.pc, warp.index, warp.clock(), strong.is_some());
                let shared = &mut cluster.ctas[rank].shared;
                shared.bytes[range.clone()].copy_from_slice(from);
                if strong.is_none() && !is_alike.get() {
                    shared.written_by(range, tag, lanes);
                    return Ok(());
                }
                // A write of equal values by the same instruction does not replace the earlier record.
                let tag = Tag::access(self.pc, warp.index, warp.clock(), true);
                let by = LaneUse {
                    lanes,
                    order: &warp.lanes,
                    unchanged_by: None,
                    is_alike: None,
                };
                let usage = warp.knowledge.uses(warp.index, how);
                let lanes = Some(by);
                shared.written_strongly(range, tag, Use { lanes, ..usage })
            }
            Location::Local(address) => Err(beyond_local(address)),
            Location::Param(_) => Err(FaultKind::Operand(
                "parameters cannot be written".to_owned(),
            )),
        }
    }

    /// Reads the local memory of one lane; an error for several, since their local memories are separate.
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

    /// Bytes at a generic address, for a call of a driver function.
    pub(super) fn read_generic(
        &mut self,
        lane: usize,
        address: u64,
        into: &mut [u8],
    ) -> std::result::Result<(), FaultKind> {
        match self.locate(Space::Generic, address)? {
            Location::Local(address) => self.read_local(lane..lane + 1, address, into),
            location => self.read(location, into, lane..lane + 1, Kind::Read, Scope::Cta),
        }
    }

    /// Checks a generic access to shared memory for races with other accesses and with copies.
    fn check_shared(
        &mut self,
        rank: usize,
        range: Range<usize>,
        how: How,
        lanes: Lanes,
        unchanged: Option<(usize, &Cell<bool>)>,
    ) -> std::result::Result<(), FaultKind> {
        let address = range.start as u64 + u64::from(SHARED_BASE);
        self.visit(rank, address)?;
        let warps = self.cluster.warps_per_cta();
        let by = LaneUse {
            lanes,
            order: &self.warp.lanes,
            unchanged_by: unchanged.map(|(by, _)| by),
            is_alike: unchanged.map(|(_, is_alike)| is_alike),
        };
        let usage = Use {
            lanes: Some(by),
            ..self.warp.knowledge.uses(self.warp.index, how)
        };
        let shared = &self.cluster.ctas[rank].shared;
        let checked = shared.check(range, usage, self.code, warps);
        checked.map_err(|fault| fault.seen_from(self.warp.rank, rank))
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

/// The fault for accesses that local memory does not support, such as atomics.
fn beyond_local(address: u64) -> FaultKind {
    FaultKind::Operand(format!(
        "the instruction cannot access local memory, in which the address {address:#x} is"
    ))
}

fn sign_extended(value: u64, bytes: usize) -> u64 {
    let shift = 64 - 8 * bytes as u32;
    ((value << shift) as i64 >> shift) as u64
}
