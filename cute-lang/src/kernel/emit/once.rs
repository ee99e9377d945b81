//! Registers that one instruction writes.
//!
//! The builder moves results into variables, keeps values without a copy and knows bits of them, because nothing writes such a register
//! again. So a second write is a defect of the language.

use crate::kernel::ir::{Line, Register, Registers};
use std::collections::HashSet;

/// A register that several lines write although it says that one does.
pub(super) fn written_again(code: &[Line], registers: &Registers) -> Option<Register> {
    let mut written = HashSet::new();
    let mut again = None;
    for line in code {
        if let Line::Inst(inst) = line {
            inst.for_each_written(&mut |register| {
                if registers.is_written_once(register) && !written.insert(register) {
                    again.get_or_insert(register);
                }
            });
        }
    }
    again
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::ir::{Inst, Operand};
    use cute_ptx::ast::Type;

    #[test]
    fn a_second_write_is_found() {
        let mut registers = Registers::default();
        let (value, cell) = (registers.value(Type::U32), registers.cell(Type::U32));
        let write = |register| {
            let operands = [Operand::Register(register), Operand::Int(1)];
            Line::Inst(Inst::of("mov.u32", operands))
        };
        let code = [write(value), write(cell), write(cell), write(value)];
        assert_eq!(written_again(&code[..3], &registers), None);
        assert_eq!(written_again(&code, &registers), Some(value));
    }
}
