//! What nobody reads need not be computed.

use cute_ptx::ast::Line;
use std::collections::HashMap;

/// Opcodes that compute registers from registers and do nothing else.
const PURE: &[&str] = &[
    "mov", "add", "sub", "mul", "mad", "div", "rem", "min", "max", "and", "or", "xor", "not",
    "shl", "shr", "setp", "selp", "cvt", "neg", "abs", "fma", "shfl", "prmt", "lop3", "ld.param",
];

/// Whether a line only computes registers from registers; comments do less than that.
pub(super) fn is_pure(line: &Line) -> bool {
    match line {
        Line::Comment(_) | Line::Blank => true,
        Line::Inst(inst) => {
            let mnemonic = inst.mnemonic.as_str();
            PURE.iter().any(|pure| {
                mnemonic
                    .strip_prefix(pure)
                    .is_some_and(|rest| rest.starts_with('.'))
            })
        }
        _ => false,
    }
}

/// Removes pure instructions whose result is not read, and those that only they need.
pub(super) fn remove_unread(lines: &mut Vec<Line>) {
    let mut reads: HashMap<String, usize> = HashMap::new();
    for line in lines.iter() {
        for_each_read(line, &mut |name| {
            *reads.entry(name.to_string()).or_default() += 1
        });
    }
    // Backwards, so that a chain of unread results goes in one sweep.
    let mut kept = Vec::with_capacity(lines.len());
    for line in lines.drain(..).rev() {
        match destination(&line) {
            Some(name) if reads.get(name).is_none_or(|&count| count == 0) => {
                for_each_read(&line, &mut |name| {
                    if let Some(count) = reads.get_mut(name) {
                        *count -= 1;
                    }
                });
            }
            _ => kept.push(line),
        }
    }
    kept.reverse();
    *lines = kept;
}

/// The one register that a pure instruction writes.
fn destination(line: &Line) -> Option<&str> {
    let Line::Inst(inst) = line else { return None };
    match inst.operands.first() {
        Some(cute_ptx::ast::Operand::Name(name)) if is_pure(line) => Some(name),
        _ => None,
    }
}

fn for_each_read(line: &Line, f: &mut impl FnMut(&str)) {
    let Line::Inst(inst) = line else { return };
    if let Some(guard) = &inst.guard {
        f(&guard.predicate);
    }
    let skip = usize::from(destination(line).is_some());
    inst.operands[skip..]
        .iter()
        .for_each(|operand| operand.for_each_name(f));
}
