//! wgmma: its matrices in shared memory, and its asynchronous execution.
//!
//! Each of the four warps of a warpgroup issues the instruction separately. It executes once all four have issued it; each warp
//! computes sixteen rows of D. It reads shared memory and the registers of A and D when the first warp waits with
//! `wgmma.wait_group` or, depending on the schedule, earlier. Before a warp has waited, its other instructions must not use the
//! registers of A and D. Only threads that know of the wait can write the bytes of A and B.

use super::product::{Factor, K_BYTES, KRow, Product, ROWS, rows_of_a};
use crate::error::FaultKind;
use crate::exec::state::knowledge::Heard;
use crate::exec::state::readers::{AsyncRead, End, Reading};
use crate::exec::state::row::{LANES, Row};
use crate::exec::state::shared::{How, Shared};
use crate::exec::state::warp::{Split, WARPGROUP, Wait};
use crate::exec::state::wgmma::{CORE_BYTES, Descriptor, Pending};
use crate::exec::step::{Blame, Flow, Result, Step};
use crate::op::{Instruction, MatrixA, Op, Reg, Wgmma};
use cute_chip::threads;
use rayon::prelude::*;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

/// The most wgmma instructions that are executed together.
const MOST_TOGETHER: u64 = 16;
/// From this many columns of D on, of 16 rows each, several cores share the work.
const WORTHWHILE_COLUMNS: usize = 256;

impl<'a> Step<'a> {
    pub(crate) fn wgmma(&mut self, active: u32, wgmma: &Wgmma) -> Result<()> {
        if active.count_ones() as usize != LANES {
            return Err(FaultKind::Operand(format!(
                "only lanes {active:#010x} of the warp execute the wgmma; all must"
            ))
            .into());
        }
        let warps = self.cluster.warpgroup(self.warp).len();
        if warps != WARPGROUP {
            let message = format!(
                "the warpgroup has {warps} of {WARPGROUP} warps: the CTA's threads are not a multiple of {}",
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
        self.count_product(wgmma.n, K_BYTES / wgmma.inputs.bytes());
        let read = self.begin_reads(wgmma, a, b)?;
        let heard = self.warp.knowledge.to_heard();
        read.heard.borrow_mut().join(&heard);
        self.warp.tick();
        self.pending.begin(&Heard::default())?;
        let origin = self.origin(0);
        self.warp.wgmma.push_back(Pending {
            origin,
            a,
            b,
            accumulate,
            read,
            group: None,
            number: self.warp.wgmma_issued,
        });
        self.warp.wgmma_issued += 1;
        Ok(())
    }

    pub(crate) fn wgmma_commit(&mut self) {
        let warp = &mut *self.warp;
        let fresh = (warp.wgmma_issued - warp.wgmma_committed) as usize;
        for pending in warp.wgmma.iter_mut().rev().take(fresh) {
            pending.group = Some(warp.wgmma_groups);
        }
        warp.wgmma_committed = warp.wgmma_issued;
        warp.wgmma_groups += 1;
    }

    pub(crate) fn wgmma_wait(&mut self, split: &mut Split, pending: u64) -> Result<Flow> {
        let done = self.warp.wgmma_groups.saturating_sub(pending);
        // Groups ascend; instructions without a group come last.
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
        let end = End::Waited {
            warp: warp.index,
            clock: warp.knowledge.seen[warp.index],
        };
        for pending in warp.wgmma.drain(..count) {
            self.pending.end(&Heard::default());
            pending.read.completion.end(end);
            warp.knowledge.hear(&pending.read.heard.borrow());
            let Op::Wgmma(wgmma) = &code.instructions[pending.origin.instruction].op else {
                continue;
            };
            // A register that a later wgmma uses too stays in flight.
            for row in wgmma.rows() {
                let owner = &mut warp.in_flight[row as usize];
                if u64::from(*owner) == pending.number + 1 {
                    *owner = 0;
                }
            }
        }
        Ok(Flow::Next)
    }

    /// Executes the warpgroup's oldest pending wgmma, if all four warps have issued it. Returns whether there was one.
    pub(crate) fn wgmma_advance(&mut self) -> Result<bool> {
        let issued = self.warp.wgmma_executed + 1;
        let ready =
            issued <= self.warp.wgmma_issued && self.cluster.warpgroup_issued(self.warp, issued);
        if ready {
            self.warpgroup_execute(issued)?;
        }
        Ok(ready)
    }

    /// Called for an instruction that uses a register of A or D of some wgmma. It is an error if that wgmma may still use it.
    pub(crate) fn touch(&mut self, instruction: &Instruction) -> Result<()> {
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

    /// An error if the wgmma of the same number in another warp of the warpgroup is different, or has other descriptors.
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
                    "the warps of a warpgroup must issue the same wgmma: this one has {}, but warp {} issued {place} with {} \
                     as its wgmma number {number}",
                    matrices(a, b),
                    warp.warp,
                    matrices(other.a, other.b)
                );
                return Err(FaultKind::Operand(message).into());
            }
        }
        Ok(())
    }

    /// The value of a row in all lanes; an error if the lanes differ.
    fn uniform(&self, row: Reg) -> Result<u64> {
        let values = &self.warp.rows[row as usize];
        match values.iter().position(|value| *value != values[0]) {
            None => Ok(values[0]),
            Some(lane) => {
                let name = &self.code.registers[row as usize];
                let message = format!(
                    "{name} must have the same value in all lanes, but is {:#x} in lane 0 and {:#x} in lane {lane}",
                    values[0], values[lane]
                );
                Err(Blame::lane(FaultKind::Operand(message), lane))
            }
        }
    }

    /// Executes the pending wgmma instructions of the warpgroup up to number `issued`, in all of its warps. Several cores can do this,
    /// since no warp reads the results of another.
    fn warpgroup_execute(&mut self, issued: u64) -> Result<()> {
        while self.warp.wgmma_executed < issued {
            let end = issued.min(self.warp.wgmma_executed + MOST_TOGETHER);
            let mut shares = self.shares(end)?;
            let work: usize = shares.iter().map(Share::columns).sum();
            match work >= WORTHWHILE_COLUMNS {
                true => shares.par_iter_mut().for_each(Share::compute),
                false => shares.iter_mut().for_each(Share::compute),
            }
            // Four columns of D take as long as about five other instructions.
            self.charge(work as u64 * 5 / 4);
            for share in shares {
                let warp = self.warp_at_mut(share.warp);
                warp.rows = share.rows;
                warp.wgmma_executed = end;
            }
        }
        Ok(())
    }

    /// The work of each warp of the warpgroup for its pending wgmma instructions up to number `end`. The shares take the warps'
    /// registers.
    fn shares(&mut self, end: u64) -> Result<Vec<Share<'a>>> {
        let warps = self.cluster.warpgroup(self.warp);
        let mut products = vec![Vec::new(); warps.len()];
        for number in self.warp.wgmma_executed..end {
            // B is the same for all warps.
            let mut factor = None;
            for (i, index) in warps.clone().enumerate() {
                let Some(pending) = self.warp_at(index).wgmma_of_number(number) else {
                    continue;
                };
                let (origin, a, b) = (pending.origin, pending.a, pending.b);
                let accumulate = pending.accumulate;
                let code = self.code;
                let Op::Wgmma(wgmma) = &code.instructions[origin.instruction].op else {
                    continue;
                };
                let blame = |fault| Blame::origin(fault, origin);
                let first = i * ROWS;
                let a = a.map(|a| self.matrix(a, wgmma.transpose_a, first..first + ROWS, wgmma));
                let a = a.transpose().map_err(blame)?;
                let b = match &factor {
                    Some(b) => b,
                    None => {
                        (self.watch).performed(code, self.cluster, origin, "wgmma");
                        let b = self.matrix(b, wgmma.transpose_b, 0..wgmma.n, wgmma);
                        let b = Factor::new(wgmma.inputs, b.map_err(blame)?, wgmma.negate_b);
                        factor.insert(Arc::new(b))
                    }
                };
                products[i].push((&**wgmma, a, b.clone(), accumulate));
            }
        }
        let shares = warps.zip(products).map(|(warp, products)| Share {
            warp,
            rows: std::mem::take(&mut self.warp_at_mut(warp).rows),
            products,
        });
        Ok(shares.collect())
    }

    /// The bytes along K of these rows of A, or columns of B, from shared memory.
    fn matrix(
        &self,
        descriptor: Descriptor,
        mn_major: bool,
        rows: Range<usize>,
        wgmma: &Wgmma,
    ) -> std::result::Result<Vec<KRow>, FaultKind> {
        let shared = &self.cluster.ctas[self.warp.rank].shared;
        let size = wgmma.inputs.bytes();
        let mut matrix = vec![[0; K_BYTES]; rows.len()];
        let first = rows.start;
        descriptor.cores(mn_major, rows, K_BYTES, size, |address, row, k| {
            let core = &shared.bytes[shared.range(address, CORE_BYTES as usize)?];
            if mn_major {
                for (bytes, element) in matrix[row - first..]
                    .iter_mut()
                    .zip(core.chunks_exact(size))
                {
                    bytes[k * size..(k + 1) * size].copy_from_slice(element);
                }
            } else {
                matrix[row - first][k..k + core.len()].copy_from_slice(core);
            }
            Ok(())
        })?;
        Ok(matrix)
    }

    /// Begins the reads of a wgmma. It is an error unless each byte was written in the order of events before it. Writing the bytes
    /// before the wgmma has been waited for is an error.
    fn begin_reads(
        &mut self,
        wgmma: &Wgmma,
        a: Option<Descriptor>,
        b: Descriptor,
    ) -> Result<Rc<AsyncRead>> {
        let number = self.warp.wgmma_issued;
        let warpgroup = self.cluster.warpgroup(self.warp);
        let others = warpgroup.clone().filter(|index| *index != self.warp.index);
        let begun = (others)
            .filter_map(|index| self.cluster.warps[index].wgmma_of_number(number))
            .map(|pending| pending.read.clone())
            .next();
        let warps = self.cluster.warps_per_cta();
        let Step {
            cluster,
            warp,
            code,
            pc,
            ..
        } = self;
        let shared = &mut cluster.ctas[warp.rank].shared;
        let usage = warp.knowledge.uses(warp.index, How::Asynchronous);
        let first = begun.is_none();
        let read = begun.unwrap_or_else(|| {
            let by = Reading::Wgmma {
                warpgroup: warpgroup.start,
            };
            shared.begin_read(by, *pc)
        });
        let rows_of_a = warp.warp as usize % WARPGROUP * ROWS;
        let operands = [
            a.map(|a| (a, wgmma.transpose_a, rows_of_a..rows_of_a + ROWS, true)),
            // All warps read all of B; the first warp records this.
            Some((b, wgmma.transpose_b, 0..wgmma.n, first)),
        ];
        let size = wgmma.inputs.bytes();
        for (descriptor, mn_major, rows, record) in operands.into_iter().flatten() {
            let begin = |shared: &mut Shared, range: Range<usize>| {
                shared.check(range.clone(), usage, code, warps)?;
                match record {
                    true => shared.read_async(range, &read, &warp.knowledge),
                    false => Ok(()),
                }
            };
            // Contiguous bytes are checked together.
            let mut together: Option<Range<usize>> = None;
            descriptor.cores(mn_major, rows, K_BYTES, size, |address, _, _| {
                let range = shared.range(address, CORE_BYTES as usize)?;
                match &mut together {
                    Some(before) if before.end == range.start => before.end = range.end,
                    Some(behind) if behind.start == range.end => behind.start = range.start,
                    other => {
                        if let Some(done) = other.replace(range) {
                            begin(shared, done)?;
                        }
                    }
                }
                Ok(())
            })?;
            if let Some(rest) = together {
                begin(shared, rest)?;
            }
        }
        Ok(read)
    }
}

/// The wgmma instructions that a warp computes, one after another.
struct Share<'a> {
    /// The index of the warp.
    warp: usize,
    rows: Vec<Row>,
    products: Vec<Part<'a>>,
}

/// A wgmma, the warp's rows of A (`None` if they are in registers), B, and whether D is added.
type Part<'a> = (&'a Wgmma, Option<Vec<KRow>>, Arc<Factor>, bool);

impl Share<'_> {
    /// The columns of D that are computed.
    fn columns(&self) -> usize {
        self.products.iter().map(|(wgmma, ..)| wgmma.n).sum()
    }

    fn compute(&mut self) {
        for (wgmma, a, b, accumulate) in &self.products {
            let held;
            let a = match (a, &wgmma.a) {
                (Some(a), _) => a,
                (None, MatrixA::Registers(registers)) => {
                    held = rows_of_a(&self.rows, registers);
                    &held
                }
                (None, MatrixA::Descriptor(_)) => continue,
            };
            let product = Product {
                inputs: wgmma.inputs,
                output: wgmma.output,
                negate: wgmma.negate_a,
                a,
                b,
                c: accumulate.then_some(&wgmma.d),
                d: &wgmma.d,
            };
            product.compute(&mut self.rows);
        }
    }
}

impl Wgmma {
    /// The registers of D and, if A is in registers, those of A.
    fn rows(&self) -> impl Iterator<Item = Reg> + '_ {
        let a: &[Reg] = match &self.a {
            MatrixA::Registers(a) => a,
            MatrixA::Descriptor(_) => &[],
        };
        self.d.iter().chain(a).copied()
    }
}

/// The operands A and B, for a message.
fn matrices(a: Option<Descriptor>, b: Descriptor) -> String {
    match a {
        Some(a) => format!("A {a} and B {b}"),
        None => format!("A in registers and B {b}"),
    }
}
