//! Which registers hold compile-time constants.

use super::Known;
use crate::ast::{Entry, Line, Operand};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Constants flow through chains in the order of the text; one that flows against it takes a pass more for each step.
const MAX_PASSES: usize = 8;

/// Instructions whose result is constant where their operands are.
const PURE: &[&str] = &[
    "mov", "add", "sub", "mul", "mad", "shl", "shr", "and", "or", "xor", "not", "cvt", "bfi",
    "bfe", "lop3", "prmt", "selp", "min", "max",
];

/// Registers that one instruction alone writes, from constants alone. Addresses of variables do not count: they are
/// fixed only when the module is loaded.
pub(super) fn registers<'m>(entry: &'m Entry, known: &[Option<Rc<Known>>]) -> HashSet<&'m str> {
    let mut constant = HashSet::new();
    let uses_wgmma = entry.body.iter().any(
        |line| matches!(line, Line::Inst(inst) if inst.mnemonic.starts_with("wgmma.mma_async.")),
    );
    if !uses_wgmma {
        return constant;
    }
    let mut writers: HashMap<&str, usize> = HashMap::new();
    let mut pure = Vec::new();
    for (line, known) in entry.body.iter().zip(known) {
        let (Line::Inst(inst), Some(known)) = (line, known) else {
            continue;
        };
        // All forms of a row write in the same places.
        let form = known.forms.first().map_or(&[][..], Vec::as_slice);
        let written: Vec<&str> = form
            .iter()
            .zip(&inst.operands)
            .filter(|(slot, _)| slot.kind.writes())
            .flat_map(|(_, it)| names(it))
            .collect();
        written
            .iter()
            .for_each(|name| *writers.entry(name).or_default() += 1);
        let opcode = inst.mnemonic.split('.').next().unwrap_or_default();
        if PURE.contains(&opcode)
            && let [_, sources @ ..] = inst.operands.as_slice()
        {
            pure.push((written, sources));
        }
    }
    for _ in 0..MAX_PASSES {
        let before = constant.len();
        for (written, sources) in &pure {
            if sources
                .iter()
                .flat_map(|source| names(source))
                .all(|name| constant.contains(name))
            {
                constant.extend(written.iter().copied().filter(|name| writers[name] == 1));
            }
        }
        if constant.len() == before {
            break;
        }
    }
    constant
}

fn names(operand: &Operand) -> Vec<&str> {
    let mut names = Vec::new();
    operand.for_each_name(&mut |name| names.push(name));
    names
}
