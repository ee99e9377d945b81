//! The interpreter: runs some lanes of a warp for a while.

use super::cluster::Cluster;
use super::queue::Budget;
use super::warp::{LANES, Row, Split, Wait, Warp, lanes};
use super::{Origin, Random};
use crate::arithmetic::low_bits;
use crate::error::FaultKind;
use crate::launch::Stats;
use crate::limits::Limits;
use crate::memory::GlobalMemory;
use crate::op::{Code, Function, Instruction, Op, Reg, Shuffle, Together, Vote};
use std::rc::Rc;

/// What went wrong, and on whose account.
pub(crate) struct Blame {
    pub(crate) kind: FaultKind,
    pub(crate) lane: Option<usize>,
    /// Where the instruction is not the one that runs, but one whose asynchronous work went wrong.
    pub(crate) origin: Option<Origin>,
}

impl Blame {
    pub(crate) fn lane(kind: FaultKind, lane: usize) -> Blame {
        Blame {
            kind,
            lane: Some(lane),
            origin: None,
        }
    }

    pub(crate) fn origin(kind: FaultKind, origin: Origin) -> Blame {
        Blame {
            kind,
            lane: None,
            origin: Some(origin),
        }
    }
}

impl From<FaultKind> for Blame {
    fn from(kind: FaultKind) -> Blame {
        Blame {
            kind,
            lane: None,
            origin: None,
        }
    }
}

pub(crate) type Result<T> = std::result::Result<T, Blame>;

/// What follows an instruction.
pub(crate) enum Flow {
    Next,
    /// The lanes of the mask go to the target, the others on.
    Branch {
        target: usize,
        taken: u32,
    },
    /// The lanes of the mask end.
    Exit(u32),
    /// The same instruction again, once the split's wait is over.
    Suspend,
}

/// Everything that an instruction may touch.
pub(crate) struct Step<'a> {
    pub(crate) code: &'a Code,
    pub(crate) params: &'a [u8],
    pub(crate) cluster: &'a mut Cluster,
    /// Taken out of the cluster while it runs.
    pub(crate) warp: &'a mut Warp,
    pub(crate) memory: &'a mut GlobalMemory,
    pub(crate) random: &'a mut Random,
    pub(crate) random_delays: bool,
    pub(crate) stats: &'a mut Stats,
    pub(crate) limits: &'a Limits,
    pub(crate) pending: &'a mut Budget,
    /// What counts as instructions beside those executed.
    pub(crate) charged: &'a mut u64,
    /// The instruction that runs.
    pub(crate) pc: usize,
    /// Whether something changed that others may wait for.
    pub(crate) progress: bool,
}

impl Step<'_> {
    /// Runs lanes until they wait, others of the warp should catch up, or the budget is used up.
    pub(crate) fn run(&mut self, mut split: Split, mut budget: u32) -> Result<()> {
        split.wait = None;
        while budget > 0 {
            budget -= 1;
            self.pc = split.pc;
            let code: &Code = self.code;
            let instruction = &code.instructions[split.pc];
            let active = match instruction.guard {
                None => split.mask,
                Some((row, false)) => self.warp.lanes(row, split.mask),
                Some((row, true)) => split.mask & !self.warp.lanes(row, split.mask),
            };
            if active == 0 {
                split.pc += 1;
            } else {
                if let Some(required) = self.missing(instruction, &split) {
                    split.wait = Some(Wait::Lanes { required });
                    break;
                }
                self.stats.steps += 1;
                match self.execute(instruction, &mut split, active)? {
                    Flow::Next => split.pc += 1,
                    Flow::Suspend => break,
                    Flow::Exit(ending) => {
                        self.progress = true;
                        self.warp.alive &= !ending;
                        split.mask &= !ending;
                        split.pc += 1;
                        if self.warp.alive == 0 {
                            self.leave()?;
                        }
                        if split.mask == 0 {
                            return Ok(());
                        }
                    }
                    Flow::Branch { target, taken } if taken == split.mask => split.pc = target,
                    Flow::Branch { target, taken } => {
                        let rest = Split {
                            pc: split.pc + 1,
                            mask: split.mask & !taken,
                            wait: None,
                            give_up: false,
                        };
                        split = Split {
                            pc: target,
                            mask: taken,
                            wait: None,
                            give_up: false,
                        };
                        self.warp.splits.push(rest);
                    }
                }
            }
            if split.wait.is_some() {
                break;
            }
            if !self.warp.splits.is_empty() && self.regroup(&mut split) {
                break;
            }
        }
        self.warp.splits.push(split);
        Ok(())
    }

    /// The lanes that must come here first, if any.
    fn missing(&self, instruction: &Instruction, split: &Split) -> Option<u32> {
        let required = match instruction.together {
            Together::No => return None,
            Together::Warp => self.warp.alive,
            Together::Mask(row) => {
                self.warp.get(row, split.mask.trailing_zeros() as usize) as u32 & self.warp.alive
            }
        };
        (required & !split.mask != 0).then_some(required)
    }

    /// Takes in the lanes that stand at the same instruction; whether others are behind and can run.
    fn regroup(&mut self, split: &mut Split) -> bool {
        self.warp.splits.retain(|other| {
            let same =
                other.pc == split.pc && matches!(other.wait, None | Some(Wait::Lanes { .. }));
            if same {
                split.mask |= other.mask;
            }
            !same
        });
        self.warp
            .splits
            .iter()
            .any(|other| other.pc < split.pc && other.wait.is_none())
    }

    fn execute(
        &mut self,
        instruction: &Instruction,
        split: &mut Split,
        active: u32,
    ) -> Result<Flow> {
        if !instruction.matrix_registers.is_empty() {
            self.touch(instruction)?;
        }
        match &instruction.op {
            Op::Compute {
                function,
                dst,
                src,
                flush,
                saturate,
            } => {
                self.compute(active, *function, *dst, src, *flush, *saturate);
            }
            Op::Compare {
                compare,
                flush,
                combine,
                p,
                q,
                a,
                b,
            } => {
                let (a, b) = (self.warp.rows[*a as usize], self.warp.rows[*b as usize]);
                let c = combine.map(|(function, row)| (function, self.warp.rows[row as usize]));
                for lane in lanes(active) {
                    let (a, b) = if *flush {
                        (flushed(a[lane]), flushed(b[lane]))
                    } else {
                        (a[lane], b[lane])
                    };
                    let holds = compare(a, b) & 1;
                    let combined =
                        |value| c.map_or(value, |(function, c)| function(value, c[lane]));
                    self.warp.set(*p, lane, combined(holds));
                    if let Some(q) = q {
                        self.warp.set(*q, lane, combined(holds ^ 1));
                    }
                }
            }
            Op::Pack { dst, parts, bits } => {
                for lane in lanes(active) {
                    let mask = low_bits(*bits);
                    let value = parts.iter().rev().fold(0_u64, |value, part| {
                        value.checked_shl(*bits).unwrap_or(0) | self.warp.get(*part, lane) & mask
                    });
                    self.warp.set(*dst, lane, value);
                }
            }
            Op::Unpack { parts, src, bits } => {
                for lane in lanes(active) {
                    let value = self.warp.get(*src, lane);
                    for (i, part) in parts.iter().enumerate() {
                        let shifted = value.checked_shr(*bits * i as u32).unwrap_or(0);
                        self.warp.set(*part, lane, shifted & low_bits(*bits));
                    }
                }
            }
            Op::Branch { target } => {
                return Ok(Flow::Branch {
                    target: *target,
                    taken: active,
                });
            }
            Op::Exit => return Ok(Flow::Exit(active)),
            Op::Trap => {
                return Err(Blame::lane(
                    FaultKind::Trap,
                    active.trailing_zeros() as usize,
                ));
            }
            Op::Nop => {}
            Op::Clock { dst } => {
                let now = self.stats.steps;
                self.warp.fill(*dst, active, |_| now);
            }
            Op::Shuffle {
                mode,
                dst,
                valid,
                src,
                lane,
                clamp,
            } => {
                self.shuffle(active, *mode, *dst, *valid, *src, *lane, *clamp);
            }
            Op::Vote {
                mode,
                dst,
                predicate,
                members,
            } => {
                let holds = self.warp.lanes(*predicate, active);
                let members =
                    self.warp.get(*members, active.trailing_zeros() as usize) as u32 & active;
                let (some, all) = (holds & members != 0, holds & members == members);
                let result = match mode {
                    Vote::Any => u64::from(some),
                    Vote::All => u64::from(all),
                    Vote::Uniform => u64::from(all || !some),
                    Vote::Ballot => u64::from(holds & members),
                };
                self.warp.fill(*dst, active, |_| result);
            }
            Op::Reduce { op, dst, src } => {
                let row = self.warp.rows[*src as usize];
                let result = lanes(active).map(|lane| row[lane]).reduce(op).unwrap_or(0);
                self.warp.fill(*dst, active, |_| result);
            }
            Op::Elect {
                dst,
                elected,
                members,
            } => {
                let first = active.trailing_zeros() as usize;
                let members = self.warp.get(*members, first) as u32 & active;
                let leader = members.trailing_zeros() as usize;
                self.warp.fill(*dst, active, |_| leader as u64);
                self.warp
                    .fill(*elected, active, |lane| u64::from(lane == leader));
            }
            Op::ActiveMask { dst } => self.warp.fill(*dst, active, |_| u64::from(active)),
            Op::WarpSync => self.meet(),
            Op::ProxyFence => {
                self.announce_mbarriers();
                self.proxy_fence(active);
            }
            Op::InitFence => self.announce_mbarriers(),
            Op::RankOf {
                dst,
                address,
                generic,
            } => {
                for lane in lanes(active) {
                    let rank = self
                        .rank_of(self.warp.get(*address, lane), *generic)
                        .map_err(|fault| Blame::lane(fault, lane))?;
                    self.warp.set(*dst, lane, rank as u64);
                }
            }
            Op::MapRank {
                dst,
                address,
                rank,
                generic,
            } => {
                for lane in lanes(active) {
                    let (address, rank) = (
                        self.warp.get(*address, lane),
                        self.warp.get(*rank, lane) as u32,
                    );
                    let mapped = self
                        .map_rank(address, rank, *generic)
                        .map_err(|fault| Blame::lane(fault, lane))?;
                    self.warp.set(*dst, lane, mapped);
                }
            }

            Op::Load {
                access,
                dst,
                address,
            } => self.load(active, *access, dst, *address)?,
            Op::Store {
                access,
                src,
                address,
            } => self.store(active, *access, src, *address)?,
            Op::Atomic {
                access,
                op,
                dst,
                address,
                src,
                swap,
            } => {
                self.atomic(active, *access, *op, dst.as_deref(), *address, src, *swap)?;
            }
            Op::LoadMatrix {
                dst,
                address,
                transpose,
            } => self.load_matrix(active, dst, *address, *transpose)?,
            Op::StoreMatrix {
                src,
                address,
                transpose,
            } => self.store_matrix(active, src, *address, *transpose)?,

            Op::Barrier { id, threads, wait } => {
                self.progress = true;
                return self.barrier(split, *id, *threads, *wait);
            }
            Op::ClusterArrive => {
                self.progress = true;
                self.cluster_arrive(active);
            }
            Op::ClusterWait => return Ok(self.cluster_wait(split)),
            Op::MbarrierInit { address, count } => self.mbarrier_init(active, *address, *count)?,
            Op::MbarrierInval { address } => self.mbarrier_inval(active, *address)?,
            Op::MbarrierArrive {
                address,
                state,
                count,
                drop,
                expect,
            } => {
                self.progress = true;
                self.mbarrier_arrive(active, *address, *state, *count, *drop, *expect)?;
            }
            Op::MbarrierCompleteTx { address, bytes } => {
                self.progress = true;
                self.mbarrier_complete(active, *address, *bytes)?;
            }
            Op::MbarrierWait {
                address,
                done,
                phase,
            } => {
                return self.mbarrier_wait(split, active, *address, *done, *phase);
            }
            Op::SetMaxRegisters { count, increase } => {
                self.progress = true;
                return self.set_max_registers(split, *count, *increase);
            }

            Op::CopyIn {
                to,
                region,
                barrier,
                multicast,
            } => {
                self.progress = true;
                self.copy_in(active, *to, region, *barrier, *multicast)?;
            }
            Op::CopyOut {
                region,
                from,
                reduction,
            } => self.copy_out(active, region, *from, *reduction)?,
            Op::BulkCommit => self.bulk_commit(active),
            Op::BulkWait { pending, read } => self.bulk_wait(active, *pending, *read)?,
            Op::CopyAsync {
                to,
                from,
                bytes,
                source_bytes,
            } => {
                self.copy_async(active, *to, *from, *bytes, *source_bytes)?;
            }
            Op::CopyAsyncCommit => self.copy_async_commit(active),
            Op::CopyAsyncWait { pending } => self.copy_async_wait(active, *pending)?,
            Op::CopyAsyncArrive { address, counted } => {
                self.progress = true;
                self.copy_async_arrive(active, *address, *counted)?;
            }

            Op::Wgmma(wgmma) => self.wgmma(active, wgmma)?,
            Op::WgmmaFence => self.warp.wgmma_fences += 1,
            Op::WgmmaCommit => self.wgmma_commit(),
            Op::WgmmaWait { pending } => return self.wgmma_wait(split, *pending),
        }
        Ok(Flow::Next)
    }

    fn compute(
        &mut self,
        active: u32,
        function: Function,
        dst: Reg,
        src: &[Reg; 4],
        flush: bool,
        saturate: bool,
    ) {
        let rows = &self.warp.rows;
        let row = |i: usize| -> Row {
            let row = rows[src[i] as usize];
            if flush { row.map(flushed) } else { row }
        };
        let mut result: Row = match function {
            Function::F1(f) => row(0).map(f),
            Function::F2(f) => {
                let (a, b) = (row(0), row(1));
                std::array::from_fn(|lane| f(a[lane], b[lane]))
            }
            Function::F3(f) => {
                let (a, b, c) = (row(0), row(1), row(2));
                std::array::from_fn(|lane| f(a[lane], b[lane], c[lane]))
            }
            Function::F4(f) => {
                let (a, b, c, d) = (row(0), row(1), row(2), row(3));
                std::array::from_fn(|lane| f(a[lane], b[lane], c[lane], d[lane]))
            }
        };
        if flush {
            result = result.map(flushed);
        }
        if saturate {
            result = result.map(saturated);
        }
        let dst = &mut self.warp.rows[dst as usize];
        if active == u32::MAX {
            *dst = result;
        } else {
            lanes(active).for_each(|lane| dst[lane] = result[lane]);
        }
    }

    #[expect(clippy::too_many_arguments, reason = "the operands of the instruction")]
    fn shuffle(
        &mut self,
        active: u32,
        mode: Shuffle,
        dst: Reg,
        valid: Option<Reg>,
        src: Reg,
        lane: Reg,
        clamp: Reg,
    ) {
        let values = self.warp.rows[src as usize];
        for this in lanes(active) {
            let by = self.warp.get(lane, this) as usize & 31;
            let clamp = self.warp.get(clamp, this) as usize;
            // The low bits bound the source lane, bits 8 to 12 fix the part of it that names the segment.
            let (bound, segment) = (clamp & 31, clamp >> 8 & 31);
            let last = this & segment | bound & !segment;
            let first = this & segment;
            let (from, inside) = match mode {
                Shuffle::Up => (this.wrapping_sub(by), this >= by && this - by >= last),
                Shuffle::Down => (this + by, this + by <= last),
                Shuffle::Butterfly => (this ^ by, this ^ by <= last),
                Shuffle::Index => (first | by & !segment, first | by & !segment <= last),
            };
            let from = if inside { from & (LANES - 1) } else { this };
            self.warp.set(dst, this, values[from]);
            if let Some(valid) = valid {
                self.warp.set(valid, this, u64::from(inside));
            }
        }
    }

    /// A warp has ended.
    fn leave(&mut self) -> Result<()> {
        self.leave_barriers();
        if self.cluster.cta_ended(self.warp.rank) {
            self.check_copies_at_exit()?;
        }
        Ok(())
    }

    /// A fence between the generic and the asynchronous proxy.
    fn proxy_fence(&mut self, active: u32) {
        self.warp.written &= !active;
        let own = self.warp.index;
        let knowledge = &mut self.warp.knowledge;
        let before = knowledge.fenced[own];
        let fenced = Rc::make_mut(&mut knowledge.fenced);
        for (fenced, seen) in fenced.iter_mut().zip(knowledge.seen.iter()) {
            *fenced = (*fenced).max(*seen);
        }
        if self.warp.written != 0 {
            // Other lanes have written and not fenced: the warp as a whole has not.
            fenced[own] = before;
        }
        self.warp.tick();
    }

    /// Counts what takes as long as so many instructions.
    pub(crate) fn charge(&mut self, steps: u64) {
        *self.charged = self.charged.saturating_add(steps);
    }

    /// Names the running instruction and lane.
    pub(crate) fn origin(&self, lane: usize) -> Origin {
        Origin {
            instruction: self.pc,
            rank: self.warp.rank,
            warp: self.warp.warp,
            lane,
        }
    }
}

impl Warp {
    /// What the warp does from here on is not known to those who know what it did so far.
    pub(crate) fn tick(&mut self) {
        let own = self.index;
        Rc::make_mut(&mut self.knowledge.seen)[own] += 1;
    }
}

/// A single-precision subnormal becomes a zero of its sign.
fn flushed(bits: u64) -> u64 {
    if bits & 0x7f80_0000 == 0 {
        bits & 0x8000_0000
    } else {
        bits
    }
}

/// A single-precision value held between 0 and 1; a NaN becomes 0.
fn saturated(bits: u64) -> u64 {
    let value = f32::from_bits(bits as u32);
    let held = if value > 0.0 { value.min(1.0) } else { 0.0 };
    u64::from(held.to_bits())
}
