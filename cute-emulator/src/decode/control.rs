//! Branches, calls, the end of a thread, and instructions that only let time pass.

use super::bindings::Bindings;
use super::operands::Result;
use crate::op::Op;
use cute_ptx::table::{Modifier, Opcode};

/// The instructions that need their routine are decoded with it: `call`, `brx.idx`, and `ret` of a function.
pub(super) fn operation(m: &Bindings) -> Result<Op> {
    match m.opcode() {
        Opcode::Bra => {
            m.has(Modifier::Uni);
            Ok(Op::Branch { target: 0 })
        }
        Opcode::Ret | Opcode::Exit => {
            m.has(Modifier::Uni);
            Ok(Op::Exit)
        }
        Opcode::Trap => Ok(Op::Trap),
        Opcode::Brkpt => Err("breakpoints are not modelled: there is no debugger".to_owned()),
        Opcode::Nanosleep => Ok(Op::Nop),
        _ => m.unknown(),
    }
}
