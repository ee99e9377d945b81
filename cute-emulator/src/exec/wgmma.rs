//! The tensor cores: matrix descriptors, fragments, and instructions that are under way.
//!
//! The four warps of a warpgroup issue an instruction each on their own, and it executes when all of them have: each warp
//! computes sixteen rows of D. It reads shared memory and the registers of A and D as late as the first `wait_group` of a
//! warp allows, or earlier by chance; until a warp's own wait its registers belong to the instruction.

use super::Origin;
use super::cluster::Cluster;
use super::knowledge::Knowledge;
use super::shared::Use;
use super::step::{Blame, Flow, Result, Step};
use super::warp::{LANES, Split, Wait, Warp};
use crate::error::FaultKind;
use crate::numerics::{FusedSum, Row};
use crate::op::{Inputs, Instruction, MatrixA, Op, Output, Reg, Wgmma};
use cute_hopper::{SwizzleMode, threads, wgmma};
use std::ops::Range;

/// Rows of D that a warp computes.
const ROWS: usize = wgmma::M as usize / WARPS;
const WARPS: usize = threads::WARPGROUP_WARPS as usize;
const K_BYTES: usize = wgmma::K_BYTES as usize;
const CORE_ROWS: u64 = wgmma::CORE_ROWS as u64;
const CORE_BYTES: u64 = wgmma::CORE_BYTES as u64;
/// So many columns of D take the emulator as long as an instruction of another kind does.
const COLUMNS_PER_STEP: usize = 8;

/// A row of a matrix along K, as bytes.
type KRow = [u8; K_BYTES];

/// A tensor-core instruction that has not been waited for.
pub(crate) struct Pending {
    origin: Origin,
    a: Option<Descriptor>,
    b: Descriptor,
    accumulate: bool,
    knowledge: Knowledge,
    group: Option<u64>,
    /// How many the warp issued before.
    number: u64,
}

/// A matrix descriptor, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Descriptor {
    start: u64,
    leading: u64,
    stride: u64,
    swizzle: SwizzleMode,
}

impl Descriptor {
    fn new(bits: u64) -> std::result::Result<Descriptor, FaultKind> {
        let wgmma::Descriptor {
            address: start,
            leading,
            stride,
            base_offset,
            swizzle,
        } = wgmma::Descriptor::decode(bits);
        if base_offset != 0 {
            let message = format!(
                "matrix descriptor {bits:#018x}: base offset {base_offset} is not modelled"
            );
            return Err(FaultKind::Operand(message));
        }
        Ok(Descriptor {
            start,
            leading,
            stride,
            swizzle,
        })
    }

    /// Bytes of a row of the swizzle's pattern.
    fn span(&self) -> u64 {
        self.swizzle.span() as u64
    }

    /// The address of 16 bytes along K, of a matrix whose rows along K are contiguous.
    fn k_major(&self, row: u64, k_byte: u64) -> u64 {
        let along_k = match self.swizzle {
            SwizzleMode::None => k_byte / CORE_BYTES * self.leading,
            _ => k_byte,
        };
        let within = row / CORE_ROWS * self.stride + row % CORE_ROWS * self.span();
        self.swizzle.apply(self.start + within + along_k)
    }

    /// The address of 16 bytes across K, of a matrix whose columns are contiguous.
    fn mn_major(&self, byte: u64, k: u64) -> u64 {
        let within = k % CORE_ROWS * self.span() + byte % self.span();
        let panel = byte / self.span();
        // Without a swizzle the two strides change their roles.
        let (panel_stride, k_stride) = match self.swizzle {
            SwizzleMode::None => (self.stride, self.leading),
            _ => (self.leading, self.stride),
        };
        self.swizzle
            .apply(self.start + panel * panel_stride + k / CORE_ROWS * k_stride + within)
    }
}

impl Step<'_> {
    pub(super) fn wgmma(&mut self, active: u32, wgmma: &Wgmma) -> Result<()> {
        if active.count_ones() as usize != LANES {
            return Err(FaultKind::Operand(format!(
                "lanes {active:#010x} of a warp instead of all"
            ))
            .into());
        }
        let warps = self.cluster.warpgroup(self.warp).len();
        if warps != WARPS {
            let message = format!(
                "a warpgroup of {warps} warps: the CTA's threads are not a multiple of {}",
                threads::WARPGROUP
            );
            return Err(FaultKind::Operand(message).into());
        }
        let a = match &wgmma.a {
            MatrixA::Descriptor(row) => Some(Descriptor::new(self.uniform(*row)?)?),
            MatrixA::Registers(_) => None,
        };
        let b = Descriptor::new(self.uniform(wgmma.b)?)?;
        let accumulate = self.uniform(wgmma.scale_d)? & 1 == 1;
        for row in wgmma.rows() {
            if self.warp.touched[row as usize] == self.warp.wgmma_fences {
                let register = self.code.registers[row as usize].clone();
                return Err(FaultKind::MissingWgmmaFence { register }.into());
            }
            self.warp.in_flight[row as usize] = self.warp.wgmma_issued as u32 + 1;
        }
        self.check_warpgroup(a, b)?;
        self.stats.wgmma += 1;
        let knowledge = self.warp.knowledge.clone();
        self.pending.begin(Some(&knowledge))?;
        let origin = self.origin(0);
        self.warp.wgmma.push_back(Pending {
            origin,
            a,
            b,
            accumulate,
            knowledge,
            group: None,
            number: self.warp.wgmma_issued,
        });
        self.warp.wgmma_issued += 1;
        self.progress = true;
        Ok(())
    }

    /// The other warps of the warpgroup issue the same instruction with the same descriptors.
    fn check_warpgroup(&self, a: Option<Descriptor>, b: Descriptor) -> Result<()> {
        let number = self.warp.wgmma_issued;
        for index in self.cluster.warpgroup(self.warp) {
            let warp = &self.cluster.warps[index];
            let Some(other) = warp.wgmma_of_number(number) else {
                continue;
            };
            if (other.origin.instruction, other.a, other.b) != (self.pc, a, b) {
                let place = self.code.other(other.origin.instruction);
                let message = format!(
                    "A {a:x?}, B {b:x?}; as its wgmma number {number} warp {} issued {place} of A {:x?}, B {:x?}",
                    warp.warp, other.a, other.b
                );
                return Err(FaultKind::Operand(message).into());
            }
        }
        Ok(())
    }

    /// A value that all lanes agree on.
    fn uniform(&self, row: Reg) -> Result<u64> {
        let values = &self.warp.rows[row as usize];
        match values.iter().position(|value| *value != values[0]) {
            None => Ok(values[0]),
            Some(lane) => {
                let name = &self.code.registers[row as usize];
                let message = format!(
                    "{name} is {:#x} in lane 0 and {:#x} in this one",
                    values[0], values[lane]
                );
                Err(Blame::lane(FaultKind::Operand(message), lane))
            }
        }
    }

    /// Another instruction uses registers of the tensor cores.
    pub(super) fn touch(&mut self, instruction: &Instruction) -> Result<()> {
        if matches!(instruction.op, Op::Wgmma(_)) {
            return Ok(());
        }
        for row in &instruction.matrix_registers {
            self.warp.touched[*row as usize] = self.warp.wgmma_fences;
            let owner = self.warp.in_flight[*row as usize].checked_sub(1);
            let owner = owner.and_then(|number| self.warp.wgmma_of_number(number.into()));
            if let Some(owner) = owner {
                return Err(FaultKind::RegisterInFlight {
                    register: self.code.registers[*row as usize].clone(),
                    other: self.code.other(owner.origin.instruction),
                }
                .into());
            }
        }
        Ok(())
    }

    pub(super) fn wgmma_commit(&mut self) {
        let warp = &mut *self.warp;
        let fresh = (warp.wgmma_issued - warp.wgmma_committed) as usize;
        for pending in warp.wgmma.iter_mut().rev().take(fresh) {
            pending.group = Some(warp.wgmma_groups);
        }
        warp.wgmma_committed = warp.wgmma_issued;
        warp.wgmma_groups += 1;
    }

    pub(super) fn wgmma_wait(&mut self, split: &mut Split, pending: u64) -> Result<Flow> {
        let done = self.warp.wgmma_groups.saturating_sub(pending);
        // Groups ascend, and what is in none comes last.
        let waited = |pending: &Pending| pending.group.is_some_and(|group| group < done);
        let count = self.warp.wgmma.partition_point(waited);
        let Some(last) = count.checked_sub(1) else {
            return Ok(Flow::Next);
        };
        let issued = self.warp.wgmma[last].number + 1;
        if !self.cluster.warpgroup_issued(self.warp, issued) {
            split.wait = Some(Wait::Warpgroup { issued });
            return Ok(Flow::Suspend);
        }
        self.warpgroup_execute(issued)?;
        let (code, warp) = (self.code, &mut *self.warp);
        for pending in warp.wgmma.drain(..count) {
            self.pending.end(Some(&pending.knowledge));
            let Op::Wgmma(wgmma) = &code.instructions[pending.origin.instruction].op else {
                continue;
            };
            // A later one that uses the register keeps it.
            for row in wgmma.rows() {
                let owner = &mut warp.in_flight[row as usize];
                if u64::from(*owner) == pending.number + 1 {
                    *owner = 0;
                }
            }
        }
        Ok(Flow::Next)
    }

    /// The cluster has ended: nobody will wait for its instructions.
    pub(super) fn forget_wgmma(&mut self) {
        for pending in self.cluster.warps.iter().flat_map(|warp| &warp.wgmma) {
            self.pending.end(Some(&pending.knowledge));
        }
    }

    /// The oldest instruction that has not executed does, if all four warps have issued it.
    pub(crate) fn wgmma_advance(&mut self) -> Result<()> {
        let issued = self.warp.wgmma_executed + 1;
        if issued <= self.warp.wgmma_issued && self.cluster.warpgroup_issued(self.warp, issued) {
            return self.warpgroup_execute(issued);
        }
        Ok(())
    }

    /// Executes the first so many instructions of a warpgroup, in all of its warps.
    fn warpgroup_execute(&mut self, issued: u64) -> Result<()> {
        let own = self.warp.index;
        for other in self.cluster.warpgroup(self.warp) {
            // What does not run stands in the cluster: the two change places.
            if other != own {
                std::mem::swap(self.warp, &mut self.cluster.warps[other]);
            }
            let mut result = Ok(());
            while result.is_ok() && self.warp.wgmma_executed < issued {
                result = self.wgmma_execute();
            }
            if other != own {
                std::mem::swap(self.warp, &mut self.cluster.warps[other]);
            }
            result?;
        }
        Ok(())
    }

    /// The warp's oldest instruction that has not executed does.
    fn wgmma_execute(&mut self) -> Result<()> {
        let number = self.warp.wgmma_executed;
        self.warp.wgmma_executed += 1;
        let Some(pending) = self.warp.wgmma_of_number(number) else {
            return Ok(());
        };
        let accumulate = pending.accumulate;
        let code = self.code;
        let origin = pending.origin;
        let Op::Wgmma(wgmma) = &code.instructions[origin.instruction].op else {
            return Ok(());
        };
        let a = match &wgmma.a {
            MatrixA::Registers(registers) => self.fragment_a(registers),
            MatrixA::Descriptor(_) => {
                let first = self.warp.warp as usize % WARPS * ROWS;
                self.matrix(pending, wgmma, true, first..first + ROWS)
                    .map_err(|fault| Blame::origin(fault, origin))?
            }
        };
        let b = self
            .matrix(pending, wgmma, false, 0..wgmma.n)
            .map_err(|fault| Blame::origin(fault, origin))?;
        self.charge((wgmma.n / COLUMNS_PER_STEP) as u64);
        match wgmma.inputs {
            Inputs::Float(a_format, b_format) => {
                let decode = |rows: &[KRow], format, negate| -> Vec<Row> {
                    rows.iter()
                        .map(|row| Row::new(format, row, negate))
                        .collect()
                };
                let a = decode(&a, a_format, wgmma.negate_a);
                let b = decode(&b, b_format, wgmma.negate_b);
                let fused = FusedSum {
                    a: a_format,
                    b: b_format,
                    k: K_BYTES / a_format.bytes(),
                };
                self.multiply_floats(wgmma, &fused, &a, &b, accumulate);
            }
            Inputs::Int(a_signed, b_signed) => {
                self.multiply_ints(wgmma, &a, &b, a_signed, b_signed, accumulate)
            }
        }
        Ok(())
    }

    /// The rows along K of A or B in shared memory.
    fn matrix(
        &self,
        pending: &Pending,
        wgmma: &Wgmma,
        is_a: bool,
        rows: Range<usize>,
    ) -> std::result::Result<Vec<KRow>, FaultKind> {
        let (descriptor, transposed) = match (is_a, pending.a) {
            (true, Some(a)) => (a, wgmma.transpose_a),
            _ => (pending.b, wgmma.transpose_b),
        };
        let warps = self.cluster.warps_per_cta();
        let shared = &self.cluster.ctas[self.warp.rank].shared;
        let usage = Use::Asynchronous {
            knowledge: &pending.knowledge,
        };
        let core = |address: u64| -> std::result::Result<&[u8], FaultKind> {
            let range = shared.range(address, CORE_BYTES as usize)?;
            shared.check(range.clone(), usage, self.code, warps)?;
            Ok(&shared.bytes[range])
        };
        let mut matrix = vec![[0; K_BYTES]; rows.len()];
        if !transposed {
            for (row, bytes) in rows.zip(&mut matrix) {
                for (k_byte, chunk) in (0..)
                    .step_by(CORE_BYTES as usize)
                    .zip(bytes.chunks_exact_mut(CORE_BYTES as usize))
                {
                    chunk.copy_from_slice(core(descriptor.k_major(row as u64, k_byte))?);
                }
            }
            return Ok(matrix);
        }
        let size = wgmma.inputs.bytes();
        let per_core = CORE_BYTES as usize / size;
        for first in (0..rows.len()).step_by(per_core) {
            for k in 0..K_BYTES / size {
                let chunk =
                    core(descriptor.mn_major(((rows.start + first) * size) as u64, k as u64))?;
                for (bytes, element) in matrix[first..].iter_mut().zip(chunk.chunks_exact(size)) {
                    bytes[k * size..(k + 1) * size].copy_from_slice(element);
                }
            }
        }
        Ok(matrix)
    }

    /// The warp's rows of A from registers: each holds four bytes of a row.
    fn fragment_a(&self, registers: &[Reg; 4]) -> Vec<KRow> {
        let mut matrix = vec![[0; K_BYTES]; ROWS];
        for (i, register) in registers.iter().enumerate() {
            for lane in 0..LANES {
                let row = lane / 4 + 8 * (i & 1);
                let byte = 4 * (lane % 4) + 16 * (i >> 1);
                let value = self.warp.get(*register, lane) as u32;
                matrix[row][byte..byte + 4].copy_from_slice(&value.to_le_bytes());
            }
        }
        matrix
    }

    fn multiply_floats(
        &mut self,
        wgmma: &Wgmma,
        fused: &FusedSum,
        a: &[Row],
        b: &[Row],
        accumulate: bool,
    ) {
        for (i, register) in wgmma.d.iter().enumerate() {
            let d = &mut self.warp.rows[*register as usize];
            for (lane, d) in d.iter_mut().enumerate() {
                *d = match wgmma.output {
                    Output::F16 => {
                        let (row, column) = (lane / 4 + 8 * (i & 1), 8 * (i >> 1) + 2 * (lane % 4));
                        let element = |column: usize, old: u64| {
                            let c = if accumulate {
                                half::f16::from_bits(old as u16).to_f32()
                            } else {
                                0.0
                            };
                            u64::from(fused.to_f16(fused.sum(&a[row], &b[column], c)))
                        };
                        element(column, *d) | element(column + 1, *d >> 16) << 16
                    }
                    _ => {
                        let (row, column) = element_of(i, lane);
                        let c = if accumulate {
                            f32::from_bits(*d as u32)
                        } else {
                            0.0
                        };
                        u64::from(fused.to_f32(fused.sum(&a[row], &b[column], c)).to_bits())
                    }
                };
            }
        }
    }

    fn multiply_ints(
        &mut self,
        wgmma: &Wgmma,
        a: &[KRow],
        b: &[KRow],
        a_signed: bool,
        b_signed: bool,
        accumulate: bool,
    ) {
        let value = |byte: u8, signed: bool| {
            if signed {
                i64::from(byte as i8)
            } else {
                i64::from(byte)
            }
        };
        let saturate = wgmma.output == Output::S32 { saturate: true };
        for (i, register) in wgmma.d.iter().enumerate() {
            let d = &mut self.warp.rows[*register as usize];
            for (lane, d) in d.iter_mut().enumerate() {
                let (row, column) = element_of(i, lane);
                let products = a[row]
                    .iter()
                    .zip(&b[column])
                    .map(|(a, b)| value(*a, a_signed) * value(*b, b_signed));
                let c = if accumulate { i64::from(*d as i32) } else { 0 };
                let sum = c + products.sum::<i64>();
                let sum = if saturate {
                    sum.clamp(i64::from(i32::MIN), i64::from(i32::MAX))
                } else {
                    sum
                };
                *d = u64::from(sum as u32);
            }
        }
    }
}

impl Cluster {
    /// The warps of a warp's warpgroup, numbered in the cluster.
    fn warpgroup(&self, warp: &Warp) -> Range<usize> {
        let per_cta = self.warps_per_cta();
        let first = warp.warp as usize / WARPS * WARPS;
        let cta = warp.rank * per_cta;
        cta + first..cta + (first + WARPS).min(per_cta)
    }

    /// Whether all warps of a warpgroup have issued so many instructions; `warp` is one of them, and may run.
    pub(crate) fn warpgroup_issued(&self, warp: &Warp, issued: u64) -> bool {
        self.warpgroup(warp)
            .all(|index| index == warp.index || self.warps[index].wgmma_issued >= issued)
    }
}

impl Warp {
    /// The instruction before which the warp issued so many, if it has not been waited for.
    fn wgmma_of_number(&self, number: u64) -> Option<&Pending> {
        let index = number.checked_sub(self.wgmma.front()?.number)?;
        self.wgmma.get(usize::try_from(index).ok()?)
    }
}

impl Wgmma {
    /// The registers of D, and of A if it is in registers.
    fn rows(&self) -> impl Iterator<Item = Reg> + '_ {
        let a: &[Reg] = match &self.a {
            MatrixA::Registers(a) => a,
            MatrixA::Descriptor(_) => &[],
        };
        self.d.iter().chain(a).copied()
    }
}

/// Row and column in the warp's part of D that register `i` of a lane holds.
fn element_of(i: usize, lane: usize) -> (usize, usize) {
    (
        lane / 4 + 8 * (i >> 1 & 1),
        8 * (i >> 2) + 2 * (lane % 4) + (i & 1),
    )
}
