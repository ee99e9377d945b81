//! Instructions with unread results.

use crate::kernel::ir::claims::Statement;
use crate::kernel::ir::{Inst, Line, Operand, Register};
use cute_ptx::ast::Type;
use cute_ptx::table::{Effect, Mnemonic, Modifier, Opcode};
use std::collections::HashMap;

/// Whether a line only computes a result, so that it may run although the result is not needed.
pub fn is_pure(line: &Line) -> bool {
    match line {
        Line::Comment(_) | Line::Blank | Line::Statement(Statement::Where(_)) => true,
        Line::Inst(inst) => inst.effect() == Effect::None && !may_fail(inst),
        _ => false,
    }
}

/// Whether it is an integer quotient or remainder that may have no result: the divisor may be 0 or -1.
fn may_fail(inst: &Inst) -> bool {
    let mnemonic = &inst.mnemonic;
    let of_floats = |it: &Modifier| matches!(it.ty(), Some(Type::F32 | Type::F64));
    matches!(mnemonic.opcode(), Opcode::Div | Opcode::Rem)
        && !mnemonic.modifiers().iter().any(of_floats)
        && !matches!(inst.operands.last(), Some(Operand::Int(by)) if *by > 0)
}

/// Removes the instructions that only compute unread results, and the instructions whose results only these instructions read.
pub fn remove_unread(lines: &mut Vec<Line>) {
    let mut reads: HashMap<Register, usize> = HashMap::new();
    for line in lines.iter() {
        let Line::Inst(inst) = line else { continue };
        inst.for_each_read(&mut |register| *reads.entry(register).or_default() += 1);
    }
    // Backwards, so that one pass removes a chain of unread results.
    let mut kept = Vec::with_capacity(lines.len());
    for line in lines.drain(..).rev() {
        match line {
            Line::Inst(inst) if is_unread(&inst, &reads) => inst.for_each_read(&mut |register| {
                if let Some(count) = reads.get_mut(&register) {
                    *count -= 1;
                }
            }),
            Line::Inst(inst) => kept.push(Line::Inst(reduced(inst, &reads))),
            line => kept.push(line),
        }
    }
    kept.reverse();
    *lines = kept;
}

/// The instruction. An atomic operation with an unread old value becomes the reduction without a result, if there is one.
fn reduced(mut inst: Inst, reads: &HashMap<Register, usize>) -> Inst {
    if inst.mnemonic.opcode() == Opcode::Atom
        && !is_read(&inst, reads)
        && let Ok(reduction) = Mnemonic::new(Opcode::Red, inst.mnemonic.modifiers())
    {
        inst.mnemonic = reduction;
        inst.operands.remove(0);
    }
    inst
}

fn is_read(inst: &Inst, reads: &HashMap<Register, usize>) -> bool {
    let mut read = false;
    inst.for_each_written(&mut |it| read |= reads.get(&it).is_some_and(|&count| count > 0));
    read
}

fn is_unread(inst: &Inst, reads: &HashMap<Register, usize>) -> bool {
    !is_read(inst, reads) && matches!(inst.effect(), Effect::None | Effect::Exchanges)
}
