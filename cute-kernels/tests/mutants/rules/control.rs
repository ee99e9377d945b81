//! Wrong branches, comparisons, bounds, selections and guards.

use cute_ptx::ast::{Inst, Line};
use cute_ptx::table::Opcode;

use super::{other_guards, with_int};
use crate::body::{Body, is_synchronisation, leaves};

/// A branch that is not taken, always taken, or taken in the other case.
pub(super) fn branch(body: &Body, _: usize, inst: &Inst) -> Vec<Vec<Line>> {
    let leaves = leaves(inst.mnemonic.opcode());
    let Some(guard) = inst.guard.as_ref().filter(|_| leaves) else {
        return vec![];
    };
    if body.waits.contains(guard.predicate.as_str()) {
        return vec![];
    }
    [vec![vec![]], other_guards(inst)].concat()
}

pub(super) fn comparison(_: &Body, _: usize, inst: &Inst) -> Vec<Vec<Line>> {
    if inst.mnemonic.opcode() != Opcode::Setp {
        return vec![];
    }
    let text = inst.mnemonic.as_str();
    [
        ("lt", "le"),
        ("gt", "ge"),
        ("eq", "ne"),
        ("lo", "ls"),
        ("hi", "hs"),
    ]
    .iter()
    .flat_map(|&(a, b)| [(a, b), (b, a)])
    .filter_map(|(from, to)| {
        let changed = text.replacen(&format!(".{from}."), &format!(".{to}."), 1);
        (changed != text).then(|| changed.parse().ok()).flatten()
    })
    .map(|mnemonic| {
        let inst = inst.clone();
        vec![Line::Inst(Inst { mnemonic, ..inst })]
    })
    .collect()
}

/// A bound that is one too large: a constant, or a sum with one. Which of the threads does what one has to do (a comparison for
/// equality) is no bound.
pub(super) fn bound(body: &Body, _: usize, inst: &Inst) -> Vec<Vec<Line>> {
    let text = inst.mnemonic.as_str();
    let equality = text.starts_with("setp.eq") || text.starts_with("setp.ne");
    let mut wanted = inst.mnemonic.opcode() == Opcode::Setp && !equality;
    inst.for_each_written(&mut |name| {
        wanted |= body.conditions.contains(name) && !body.addresses.contains(name);
    });
    if !wanted {
        return vec![];
    }
    match inst.mnemonic.opcode() {
        Opcode::Setp | Opcode::Add | Opcode::Sub => (1..inst.operands.len())
            .flat_map(|operand| with_int(inst, operand, |x| x + 1))
            .collect(),
        _ => vec![],
    }
}

pub(super) fn selection(_: &Body, _: usize, inst: &Inst) -> Vec<Vec<Line>> {
    if inst.mnemonic.opcode() != Opcode::Selp || inst.operands[1] == inst.operands[2] {
        return vec![];
    }
    let mut inst = inst.clone();
    inst.operands.swap(1, 2);
    vec![vec![Line::Inst(inst)]]
}

/// The guard of an instruction that neither branches nor synchronises.
pub(super) fn guard(_: &Body, _: usize, inst: &Inst) -> Vec<Vec<Line>> {
    match leaves(inst.mnemonic.opcode()) || is_synchronisation(inst) {
        true => vec![],
        false => other_guards(inst),
    }
}
