//! What nobody reads need not be computed.

use cute_ptx::ast::{Inst, Line};
use cute_ptx::table::Effect;
use std::collections::HashMap;

/// Whether a line may run where nobody asks for its result; comments do less than that.
pub fn is_pure(line: &Line) -> bool {
    match line {
        Line::Comment(_) | Line::Blank => true,
        Line::Inst(inst) => inst.effect() == Effect::None,
        _ => false,
    }
}

/// Removes instructions that do nothing but compute a result that is not read, and those that only they need.
pub fn remove_unread(lines: &mut Vec<Line>) {
    let mut reads: HashMap<String, usize> = HashMap::new();
    for line in lines.iter() {
        let Line::Inst(inst) = line else { continue };
        inst.for_each_read(&mut |name| *reads.entry(name.to_string()).or_default() += 1);
    }
    // Backwards, so that a chain of unread results goes in one sweep.
    let mut kept = Vec::with_capacity(lines.len());
    for line in lines.drain(..).rev() {
        match &line {
            Line::Inst(inst) if is_unread(inst, &reads) => inst.for_each_read(&mut |name| {
                if let Some(count) = reads.get_mut(name) {
                    *count -= 1;
                }
            }),
            _ => kept.push(line),
        }
    }
    kept.reverse();
    *lines = kept;
}

fn is_unread(inst: &Inst, reads: &HashMap<String, usize>) -> bool {
    let mut read = false;
    inst.for_each_written(&mut |name| read |= reads.get(name).is_some_and(|&count| count > 0));
    !read && matches!(inst.effect(), Effect::None | Effect::Exchanges)
}
