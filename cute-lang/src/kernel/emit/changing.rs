//! Numbers that are computed from `let mut` variables. A condition on a variable proves nothing of it, since the variable may change.

use crate::kernel::emit::builder::Builder;
use crate::kernel::ir::{Line, Operand, Register};
use crate::kernel::value::{Num, Scalar};
use cute_ptx::table::Opcode;

impl Builder {
    /// Notes that a register is a `let mut` variable of this name.
    pub fn note_variable(&mut self, register: &Scalar, name: &str) {
        self.variables.insert(register.register, name.into());
    }

    /// How to prove that a number is below a limit although it is computed from a `let mut` variable; `None` if it is not. `what` names the
    /// number in the text.
    pub fn changing(&self, what: &str, number: &Num, limit: &str) -> Option<String> {
        let (name, is_copy) = self.variable_in(number)?;
        let copy = if name == "k" { "j" } else { "k" };
        let condition = match is_copy {
            true => format!("`if {copy} < {limit} {{ … }}`"),
            false => format!("a condition by which {what} is below `{limit}`"),
        };
        Some(format!(
            "{what} reads `{name}`, a `let mut` variable, whose conditions are not followed: copy it inside of the condition, \
             `let {copy} = {name};`, read `{copy}` from there on, and put the access under {condition}"
        ))
    }

    /// A `let mut` variable that a number is computed from, and whether the number is just its value.
    fn variable_in(&self, number: &Num) -> Option<(&str, bool)> {
        let Num::Reg(register) = number else {
            return None;
        };
        let (mut sources, mut is_copy) = (vec![register.register], true);
        let mut lines = self.lines.iter().rev().filter_map(|line| match line {
            Line::Inst(inst) => Some(inst),
            _ => None,
        });
        loop {
            let of = |source: &Register| Some(self.variables.get(source)?.as_str());
            if let Some(name) = sources.iter().find_map(of) {
                return Some((name, is_copy));
            }
            let inst = lines.next()?;
            let mut writes = false;
            inst.for_each_written(&mut |register| writes |= sources.contains(&register));
            if writes {
                inst.for_each_written(&mut |register| sources.retain(|source| *source != register));
                is_copy &= inst.mnemonic.opcode() == Opcode::Mov;
                sources.extend(inst.operands.iter().skip(1).filter_map(Operand::register));
            }
        }
    }
}
