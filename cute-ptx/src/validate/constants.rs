//! Which registers hold compile-time constants.

use crate::ast::{Entry, Inst, Line};
use crate::table::{Effect, Opcode};
use std::collections::{HashMap, HashSet};

/// Constants flow through chains in the order of the text; one that flows against it takes a pass more for each step.
const MAX_PASSES: usize = 8;

/// Registers that one instruction alone writes, from constants alone. Addresses of variables do not count: they are
/// fixed only when the module is loaded.
pub(super) fn registers(entry: &Entry) -> HashSet<&str> {
    let mut constant = HashSet::new();
    let instructions = || {
        entry.body.iter().filter_map(|line| match line {
            Line::Inst(inst) => Some(inst),
            _ => None,
        })
    };
    if !instructions().any(|inst| inst.mnemonic.opcode() == Opcode::WgmmaMmaAsync) {
        return constant;
    }
    let mut writers: HashMap<&str, usize> = HashMap::new();
    for inst in instructions() {
        inst.for_each_written(&mut |name| *writers.entry(name).or_default() += 1);
    }
    let pure = |inst: &&Inst| inst.effect() == Effect::None;
    for _ in 0..MAX_PASSES {
        let before = constant.len();
        for inst in instructions().filter(pure) {
            let mut known = true;
            inst.for_each_source(&mut |name| known &= constant.contains(name));
            if known {
                inst.for_each_written(&mut |name| {
                    if writers[name] == 1 {
                        constant.insert(name);
                    }
                });
            }
        }
        if constant.len() == before {
            break;
        }
    }
    constant
}
