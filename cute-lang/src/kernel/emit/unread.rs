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

/// Whether it may have no result: an integer quotient or remainder, whose divisor may be 0 or -1, or an address in another CTA, which may not
/// exist.
fn may_fail(inst: &Inst) -> bool {
    let mnemonic = &inst.mnemonic;
    let last = inst.operands.last();
    let of_floats = |it: &Modifier| matches!(it.ty(), Some(Type::F32 | Type::F64));
    match mnemonic.opcode() {
        Opcode::Div | Opcode::Rem if mnemonic.modifiers().iter().any(of_floats) => false,
        Opcode::Div | Opcode::Rem => !matches!(last, Some(Operand::Int(by)) if *by > 0),
        Opcode::Mapa => !matches!(last, Some(Operand::Int(_))),
        _ => false,
    }
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
        && let Ok(reduction) = Mnemonic::from_modifiers(Opcode::Red, inst.mnemonic.modifiers())
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

#[cfg(test)]
mod tests {
    use super::*;

    fn register(index: usize) -> Operand {
        Operand::Register(Register::at(index))
    }

    fn address(index: usize) -> Operand {
        Operand::Address {
            base: Box::new(register(index)),
            offset: 0,
        }
    }

    fn left(code: &[Inst]) -> Vec<String> {
        let mut lines: Vec<Line> = code.iter().cloned().map(Line::Inst).collect();
        remove_unread(&mut lines);
        let lines = lines.iter().map(|line| match line {
            Line::Inst(inst) => inst.mnemonic.to_string(),
            other => panic!("{other:?}"),
        });
        lines.collect()
    }

    #[test]
    fn a_chain_of_unread_results_is_removed() {
        let add = |to, from| Inst::of("add.u32", [register(to), register(from), Operand::Int(1)]);
        let store = Inst::of("st.global.u32", [address(9), register(1)]);
        let code = [add(1, 0), add(2, 1), add(3, 2), store];
        assert_eq!(left(&code), ["add.u32", "st.global.u32"]);
    }

    #[test]
    fn effects_stay_and_an_atomic_without_a_reader_becomes_a_reduction() {
        let load = Inst::of("ld.global.u32", [register(0), address(9)]);
        let vote = Inst::of(
            "vote.sync.any.pred",
            [register(1), register(2), Operand::Int(u32::MAX.into())],
        );
        let atom = Inst::of(
            "atom.global.add.u32",
            [register(3), address(9), Operand::Int(1)],
        );
        let fence = Inst::of("membar.gl", []);
        let code = [load, vote, atom, fence];
        assert_eq!(
            left(&code),
            ["ld.global.u32", "red.global.add.u32", "membar.gl"]
        );
    }

    /// A quotient by 0 has no result, and no CTA has the rank that lies behind the last.
    #[test]
    fn what_may_fail_is_not_pure() {
        let operands = |last| [register(0), register(1), last];
        for (mnemonic, last, expected) in [
            ("add.u32", register(2), true),
            ("div.u32", register(2), false),
            ("div.u32", Operand::Int(0), false),
            ("div.u32", Operand::Int(3), true),
            ("div.rn.f32", register(2), true),
            ("mapa.shared::cluster.u32", register(2), false),
            ("mapa.shared::cluster.u32", Operand::Int(1), true),
        ] {
            let inst = Inst::of(mnemonic, operands(last));
            assert_eq!(is_pure(&Line::Inst(inst)), expected, "{mnemonic}");
        }
    }

    #[test]
    fn a_guard_reads_its_predicate() {
        let compare = Inst::of("setp.lt.u32", [register(0), register(1), Operand::Int(8)]);
        let mut exit = Inst::of("exit", []);
        exit.guard = Some(crate::kernel::ir::Guard {
            negated: false,
            predicate: Register::at(0),
        });
        assert_eq!(left(&[compare, exit]), ["setp.lt.u32", "exit"]);
    }
}
