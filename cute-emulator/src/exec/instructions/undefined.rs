//! Follows undefined values until something depends on one.

use super::claim::lanes_where;
use crate::error::{FaultKind, UndefinedValue};
use crate::exec::state::undefined::{Cause, Lanes};
use crate::exec::step::{Blame, Result, Step};
use crate::op::{Compare, Compute, Function, Instruction, Op, Reg, Values};

impl Step<'_> {
    /// Called before an instruction of a warp with undefined values. It is an error if something depends on one. A result computed from
    /// one is undefined, too.
    #[inline(never)]
    pub(crate) fn follow_undefined(
        &mut self,
        instruction: &Instruction,
        active: u32,
    ) -> Result<()> {
        let code = self.code;
        let uses = &code.uses[self.pc];
        let results = match (uses.values, &instruction.op) {
            (Values::Used, _) => {
                self.check_defined(&uses.reads, active)?;
                Lanes::default()
            }
            // Local memory does not record which bytes are undefined.
            (Values::Stored, Op::Store { address, .. }) => {
                self.check_defined(&[address.base], active)?;
                Lanes::default()
            }
            (Values::Exchanged, Op::Shuffle(shuffle)) => {
                self.check_defined(&[shuffle.lane, shuffle.clamp], active)?;
                // The shuffle itself marks its undefined results.
                return Ok(());
            }
            (Values::Selected, Op::Compute(compute)) => {
                let [first, second, condition, _] = compute.src;
                let holds = self.warp.lanes(condition, active);
                self.undefined(&[first], holds)
                    .and(self.undefined(&[second], active & !holds))
                    .and(self.undefined(&[condition], active))
            }
            (Values::Bitwise, Op::Compute(compute)) => self.undefined_bits(compute, active),
            (_, Op::Compare(compare)) => self.undefined_comparison(compare, active),
            _ => self.undefined(&uses.reads, active),
        };
        for row in &uses.writes {
            self.warp.undefined.write(*row, active, results.clone());
        }
        Ok(())
    }

    /// An error if one of the registers is undefined in one of the lanes.
    pub(crate) fn check_defined(&self, rows: &[Reg], active: u32) -> Result<()> {
        for row in rows {
            return Err(match self.warp.undefined.first(*row, active) {
                None => continue,
                Some((_, Cause::Load(fault, origin))) => Blame {
                    lane: Some(origin.lane),
                    ..Blame::origin(fault.clone(), *origin)
                },
                Some((lane, Cause::Shuffle(value))) => {
                    let register = self.code.registers[*row as usize].clone();
                    let value = UndefinedValue {
                        register,
                        ..value.clone()
                    };
                    Blame::lane(FaultKind::UndefinedValue(Box::new(value)), lane)
                }
            });
        }
        Ok(())
    }

    /// The lanes in which one of the registers is undefined.
    fn undefined(&self, rows: &[Reg], active: u32) -> Lanes {
        let each = rows
            .iter()
            .map(|row| self.warp.undefined.lanes(*row, active));
        each.fold(Lanes::default(), Lanes::and)
    }

    /// The lanes in which the result of `and` or `or` is undefined. The result may not depend on an undefined operand.
    fn undefined_bits(&self, compute: &Compute, active: u32) -> Lanes {
        let [a, b, ..] = compute.src;
        let Function::F2(function) = compute.function else {
            return self.undefined(&[a, b], active);
        };
        let side = |undefined: Reg, other: Reg| {
            let depends = |other: u64| function(0, other) != function(u64::MAX, other);
            let unknown = self.undefined(&[other], active).mask();
            let lanes = self.undefined(&[undefined], active);
            lanes.within(unknown | self.where_value(other, depends))
        };
        side(a, b).and(side(b, a))
    }

    /// The lanes in which the result of a comparison is undefined. `false && x` is false and `true || x` is true for any x.
    fn undefined_comparison(&self, compare: &Compare, active: u32) -> Lanes {
        let compared = self.undefined(&[compare.a, compare.b], active);
        let Some((combine, with)) = compare.combine else {
            return compared;
        };
        let depends = |with: u64| combine(0, with) & 1 != combine(1, with) & 1;
        let unknown = self.undefined(&[with], active);
        let compared = compared.within(unknown.mask() | self.where_value(with, depends));
        compared.and(unknown)
    }

    /// The lanes in which the value of a register has a property.
    fn where_value(&self, row: Reg, holds: impl Fn(u64) -> bool) -> u32 {
        lanes_where(|lane| holds(self.warp.get(row, lane)))
    }
}
