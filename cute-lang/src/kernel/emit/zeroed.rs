//! The zeros with which registers of several elements begin.
//!
//! To write one element is to read its register and to put the other elements back. If nothing wrote the register before, the assembler
//! takes it that the register keeps its value from one turn of a loop around to the next, and reserves a hardware register for the whole
//! loop. So each such register begins as 0, unless the next line that names it writes all of it.

use crate::kernel::emit::builder::Builder;
use crate::kernel::ir::{Line, Operand, Register};
use crate::kernel::value::Scalar;
use cute_ptx::ast::Type;
use cute_ptx::table::op;
use std::collections::{HashMap, HashSet};

impl Builder {
    /// Gives 0 to a new register of several elements. [`finish`](Self::finish) removes the line if it is not needed.
    pub fn zero(&mut self, register: &Scalar) {
        self.emit(op::Mov, Type::B32, [register.operand(), Operand::Int(0)]);
        self.zeroed.insert(register.register);
    }
}

/// Removes the first line of each of these registers, a zero, if the second one writes the register without a guard and without reading it.
pub(super) fn remove_zeros(code: &mut Vec<Line>, zeroed: &HashSet<Register>) {
    if zeroed.is_empty() {
        return;
    }
    let mut zeros: HashMap<Register, usize> = HashMap::new();
    let mut decided = HashSet::new();
    let mut removed = HashSet::new();
    for (index, line) in code.iter().enumerate() {
        let Line::Inst(inst) = line else { continue };
        let (mut read, mut written) = (HashSet::new(), HashSet::new());
        inst.for_each_read(&mut |register| _ = read.insert(register));
        inst.for_each_written(&mut |register| _ = written.insert(register));
        for register in read.union(&written).filter(|it| zeroed.contains(it)) {
            let Some(zero) = zeros.get(register) else {
                zeros.insert(*register, index);
                continue;
            };
            let is_second = decided.insert(*register);
            if is_second && inst.guard.is_none() && !read.contains(register) {
                removed.insert(*zero);
            }
        }
    }
    let mut index = 0..;
    code.retain(|_| index.next().is_none_or(|index| !removed.contains(&index)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::ir::{Guard, Inst};

    /// How many lines are left of a zero in a register and these lines.
    fn left(lines: &[Inst]) -> usize {
        let zero = Inst::of(
            "mov.b32",
            [Operand::Register(Register::at(0)), Operand::Int(0)],
        );
        let code = [zero].into_iter().chain(lines.iter().cloned());
        let mut code: Vec<Line> = code.map(Line::Inst).collect();
        remove_zeros(&mut code, &HashSet::from([Register::at(0)]));
        code.len()
    }

    #[test]
    fn a_zero_stays_unless_the_next_line_writes_all_of_the_register() {
        let register = |index| Operand::Register(Register::at(index));
        let whole = Inst::of("mov.b32", [register(0), register(1)]);
        let part = Inst::of(
            "prmt.b32",
            [register(0), register(0), register(1), Operand::Int(0x3214)],
        );
        let guarded = Inst {
            guard: Some(Guard {
                negated: false,
                predicate: Register::at(2),
            }),
            ..whole.clone()
        };
        assert_eq!(left(std::slice::from_ref(&whole)), 1);
        assert_eq!(left(std::slice::from_ref(&part)), 2);
        assert_eq!(left(&[guarded]), 2);
        assert_eq!(left(&[part, whole]), 3);
    }
}
