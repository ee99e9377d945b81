//! `setmaxnreg`.

use crate::error::{FaultKind, OtherRegisters, Setmaxnreg};
use crate::exec::state::row::LANES;
use crate::exec::state::warp::{RegisterChange, Split, Wait, Warp};
use crate::exec::step::{Flow, Result, Step};
use cute_chip::registers::allocated;

impl Step<'_> {
    pub(crate) fn set_max_registers(
        &mut self,
        split: &mut Split,
        count: u32,
        increase: bool,
    ) -> Result<Flow> {
        if !self.warp.waits_for_registers {
            self.begin_register_change()?;
        }
        let current = self.warp.registers;
        let change = allocated(count).abs_diff(allocated(current)) * LANES as u32;
        let pool = &mut self.cluster.ctas[self.warp.rank].free_registers;
        match (increase, count >= current) {
            (true, true) if *pool >= change => *pool -= change,
            (true, true) => {
                self.warp.waits_for_registers = true;
                split.wait = Some(Wait::Registers { count: change });
                return Ok(Flow::Suspend);
            }
            (false, false) => *pool += change,
            (false, true) if count == current => {}
            _ => {
                let direction = if increase {
                    "an increase"
                } else {
                    "a decrease"
                };
                let message =
                    format!("the thread has {current} registers; {count} is not {direction}");
                return Err(FaultKind::Operand(message).into());
            }
        }
        self.warp.waits_for_registers = false;
        self.warp.registers = count;
        Ok(Flow::Next)
    }

    /// An error if other warps of the warpgroup have ended or executed a different `setmaxnreg` in place of this one. Also an error if
    /// the warp does not know that they have executed the previous one.
    ///
    /// "The same setmaxnreg instruction must be executed by all warps in a warpgroup. After executing a setmaxnreg instruction, all
    /// warps in the warpgroup must synchronize explicitly before executing subsequent setmaxnreg instructions. If a setmaxnreg
    /// instruction is not executed by all warps in the warpgroup, then the behavior is undefined" (PTX ISA, "setmaxnreg").
    fn begin_register_change(&mut self) -> Result<()> {
        let own = self.warp.register_change;
        let number = own.count + 1;
        for other in self.others_of_warpgroup() {
            let theirs = other.register_change;
            let last = || self.code.other(own.instruction);
            let what = if theirs.count == number && theirs.instruction != self.pc {
                Setmaxnreg::Differs(self.code.other(theirs.instruction))
            } else if theirs.count < number && other.alive == 0 {
                Setmaxnreg::Ended
            } else if theirs.count < own.count
                || own.count > 0
                    && theirs.count == own.count
                    && self.warp.knowledge.seen[other.index] < theirs.clock
            {
                Setmaxnreg::NotOrdered(last())
            } else {
                continue;
            };
            return Err(other_registers(other, what).into());
        }
        self.warp.register_change = RegisterChange {
            count: number,
            instruction: self.pc,
            clock: self.warp.clock(),
        };
        self.warp.tick();
        Ok(())
    }

    /// Called when a warp has ended. It is an error if another warp of its warpgroup has executed one `setmaxnreg` more.
    pub(crate) fn check_register_changes(&self) -> Result<()> {
        let count = self.warp.register_change.count;
        let mut others = self.others_of_warpgroup();
        let ahead = others.find(|other| other.register_change.count > count);
        ahead.map_or(Ok(()), |other| {
            let without = self.code.other(other.register_change.instruction);
            Err(other_registers(other, Setmaxnreg::EndsWithout(without)).into())
        })
    }

    fn others_of_warpgroup(&self) -> impl Iterator<Item = &Warp> {
        let indices = self.cluster.warpgroup(self.warp);
        let others = indices.filter(|index| *index != self.warp.index);
        others.map(|index| &self.cluster.warps[index])
    }
}

fn other_registers(other: &Warp, what: Setmaxnreg) -> FaultKind {
    let warp = other.warp;
    FaultKind::OtherRegisters(Box::new(OtherRegisters { warp, what }))
}
