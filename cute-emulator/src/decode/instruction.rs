//! From opcode, modifiers and operands to an [`Op`]: a file for each class of instructions, with an arm for each opcode.

use super::bindings::Bindings;
use super::operands::{Arg, Result};
use super::registers::Registers;
use super::{arithmetic, control, copy, lanes, matrix, memory, synchronisation};
use crate::op::Op;
use cute_ptx::ast::Inst;
use cute_ptx::table::{Class, Opcode};

/// Instructions that affect only speed. No instruction reads the cache policy that `createpolicy` returns.
const HINTS: [Opcode; 7] = [
    Opcode::Prefetch,
    Opcode::Prefetchu,
    Opcode::Applypriority,
    Opcode::Discard,
    Opcode::Createpolicy,
    Opcode::CpAsyncBulkPrefetch,
    Opcode::CpAsyncBulkPrefetchTensor,
];

/// The operation of an instruction, or the reason why it is not modelled.
pub(super) fn operation(
    registers: &mut Registers,
    inst: &Inst,
    m: &Bindings,
    args: Vec<Arg>,
) -> Result<Op> {
    if HINTS.contains(&m.opcode()) {
        m.ignore_all();
        return Ok(Op::Nop);
    }
    match inst.mnemonic.class() {
        Class::Arithmetic => arithmetic::operation(registers, inst, m, args),
        Class::Control => control::operation(m),
        Class::Lanes => lanes::operation(m, args),
        Class::Memory => memory::operation(registers, inst, m, args),
        Class::Synchronisation => synchronisation::operation(registers, m, args),
        Class::Copy => copy::operation(m, args),
        Class::Matrix => matrix::operation(m, args),
    }
}
