//! Finds the registers that hold compile-time constants.

use crate::ast::{Inst, Line};
use crate::table::{Effect, Opcode};
use std::collections::{HashMap, HashSet};

/// The most passes over the instructions. One pass finds chains of constants in the order of the text. Each step in the other
/// direction needs one more pass.
const MAX_PASSES: usize = 8;

/// The registers written by a single instruction with only constant sources. Addresses of variables do not count as constants here,
/// since they are fixed only when the module is loaded. Empty if the body has no wgmma, since only wgmma descriptors are checked
/// against the result.
pub(super) fn registers(body: &[Line]) -> HashSet<&str> {
    let mut constant = HashSet::new();
    let instructions = || {
        body.iter().filter_map(|line| match line {
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
