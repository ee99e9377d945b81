//! Runs a split of a warp: lanes that are at the same instruction.

use super::order::Delay;
use super::state::row::lanes;
use super::state::warp::{Parting, Split, Wait};
use super::step::{Blame, Flow, Leave, Result, Step};
use super::together::Gathered;
use crate::error::FaultKind;
use crate::op::{Code, Convergence, Instruction};
use std::rc::Rc;

impl Step<'_> {
    /// Runs a split until it waits, until another split of the warp is behind and can run, or for `budget` instructions.
    pub(crate) fn run(&mut self, mut split: Split, mut budget: u32) -> Result<()> {
        split.wait = None;
        while budget > 0 {
            budget -= 1;
            self.pc = split.pc;
            if !split.partings.is_empty() {
                split.meet();
            }
            let code: &Code = self.code;
            let instruction = &code.instructions[split.pc];
            let followed = instruction.followed.as_deref();
            let followed = followed.filter(|_| self.checks.registers);
            if let Some(guard) = followed.and_then(|followed| followed.guard) {
                self.check_written(&[guard], split.mask)?;
            }
            let active = match instruction.guard {
                None => split.mask,
                Some((row, false)) => self.warp.lanes(row, split.mask),
                Some((row, true)) => split.mask & !self.warp.lanes(row, split.mask),
            };
            if instruction.is_checked || !self.warp.undefined.is_empty() {
                self.check(instruction, split.mask, active)?;
            }
            if active == 0 {
                split.pc += 1;
            } else {
                let (gathered, active) = match instruction.convergence {
                    Convergence::No => (Gathered::All, active),
                    _ => (self.gather(instruction, &mut split, active)?, split.mask),
                };
                if let Gathered::Some = gathered {
                    break;
                }
                self.watch.step(code, split.pc);
                let flow = match gathered {
                    Gathered::AtSeveral(partners) => {
                        self.execute_with(instruction, &mut split, partners)?
                    }
                    _ => self.execute(instruction, &mut split, active)?,
                };
                if let Some(followed) = followed {
                    self.record_writes(followed, active);
                }
                if self.delay == Delay::Earliest {
                    self.complete_started()?;
                }
                match flow {
                    Flow::Next => split.pc += 1,
                    Flow::Suspend => break,
                    Flow::Leave(Leave::Branch { target, taken }) if taken == split.mask => {
                        split.pc = target;
                    }
                    Flow::Leave(leave) => {
                        self.divert(&mut split, leave, instruction.meets)?;
                        if split.mask == 0 {
                            return Ok(());
                        }
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
        split.since = self.watch.counts.steps;
        let waits_for_lanes = matches!(split.wait, Some(Wait::Lanes { .. }));
        self.warp.splits.push(split);
        if waits_for_lanes {
            self.check_coming()?;
        }
        Ok(())
    }

    /// Sends lanes of the split to the targets of `leave`. The split keeps the lanes of one path, if any. The paths meet again at `meets`.
    #[inline(never)]
    fn divert(&mut self, split: &mut Split, leave: Leave, meets: Option<usize>) -> Result<()> {
        match leave {
            Leave::Exit(ending) => {
                self.progress = true;
                self.warp.alive &= !ending;
                for lane in lanes(ending) {
                    self.warp.ended_at[lane] = split.pc as u32;
                }
                split.mask &= !ending;
                split.pc += 1;
                if self.warp.alive == 0 {
                    self.leave()?;
                }
            }
            Leave::Branch { target, taken } => {
                split.part(meets);
                let rest = split.on(split.pc + 1, split.mask & !taken);
                split.pc = target;
                split.mask = taken;
                self.warp.splits.push(rest);
            }
            Leave::Call {
                target,
                taken,
                waiting,
                frame,
            } => {
                let next = split.mask & !taken & !waiting;
                if taken != split.mask {
                    // The paths from a call meet after it.
                    let behind = frame.as_ref().map(|_| split.pc + 1);
                    split.part(behind.or(meets));
                }
                for (mask, pc) in [(next, split.pc + 1), (waiting, split.pc)] {
                    if mask != 0 {
                        self.warp.splits.push(split.on(pc, mask));
                    }
                }
                split.pc = target;
                split.mask = taken;
                split.call = frame.or(split.call.take());
            }
            Leave::Return(taken) => {
                let Some(frame) = split.call.take() else {
                    return Err(Blame::from(FaultKind::Trap));
                };
                if taken != split.mask {
                    split.call = Some(frame.clone());
                    split.part(None);
                    let rest = split.on(split.pc + 1, split.mask & !taken);
                    self.warp.splits.push(rest);
                }
                let is_inside = |it: &Rc<Parting>| {
                    let call = it.call.as_ref();
                    call.is_some_and(|call| Rc::ptr_eq(call, &frame))
                };
                split.partings.retain(|parting| !is_inside(parting));
                split.pc = frame.at + 1;
                split.mask = taken;
                split.call = frame.caller.clone();
            }
        }
        Ok(())
    }

    /// An error if the registers read, the addresses accessed or the path taken differ from the module's claims.
    #[inline(never)]
    fn check(&self, instruction: &Instruction, reached: u32, active: u32) -> Result<()> {
        if let Some(ways) = instruction.ways.as_deref()
            && self.checks.ways
        {
            self.check_way(ways, &instruction.op, reached, active)?;
        }
        if let Some((guard, _)) = instruction.guard
            && !self.warp.undefined.is_empty()
        {
            self.check_defined(&[guard], reached)?;
        }
        if active == 0 {
            return Ok(());
        }
        if let Some(followed) = instruction.followed.as_deref()
            && self.checks.registers
        {
            self.check_reads(followed, active)?;
        }
        if !instruction.claims.is_empty() && self.checks.tensors {
            self.check_claims(instruction, active)?;
        }
        if let Some(bounds) = instruction.bounds.as_deref() {
            self.check_bounds(bounds, active)?;
        }
        Ok(())
    }

    /// Merges the splits at the same instruction into this one. Returns whether another split is behind and can run.
    fn regroup(&mut self, split: &mut Split) -> bool {
        self.warp.splits.retain(|other| {
            let same = other.is_at(split) && matches!(other.wait, None | Some(Wait::Lanes { .. }));
            if same {
                split.mask |= other.mask;
                split.take_partings(other);
            }
            !same
        });
        self.warp
            .splits
            .iter()
            .any(|other| other.order() < split.order() && other.wait.is_none())
    }

    /// Called when the last lane of a warp has ended.
    fn leave(&mut self) -> Result<()> {
        self.leave_barriers();
        self.check_register_changes()?;
        let left = &mut self.cluster.ctas[self.warp.rank].left;
        left.join(&self.warp.knowledge);
        if self.checks.order && self.cluster.cta_ended(self.warp.rank) {
            self.check_exit()?;
        }
        Ok(())
    }
}
