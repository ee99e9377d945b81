//! The ways that a thread can take through the lines of a kernel.

use std::collections::HashMap;

use cute_ptx::ast::{Inst, Line, Operand};
use cute_ptx::table::Opcode;

/// The lines of a kernel, and which can follow which.
pub(crate) struct Flow<'a> {
    lines: &'a [Line],
    next: Vec<Vec<usize>>,
    previous: Vec<Vec<usize>>,
}

impl<'a> Flow<'a> {
    pub(crate) fn new(lines: &'a [Line]) -> Self {
        let labels: HashMap<&str, usize> = (lines.iter().enumerate())
            .filter_map(|(at, line)| match line {
                Line::Label(name) => Some((&name[..], at)),
                _ => None,
            })
            .collect();
        let mut flow = Flow {
            lines,
            next: vec![Vec::new(); lines.len()],
            previous: vec![Vec::new(); lines.len()],
        };
        for (at, line) in lines.iter().enumerate() {
            let mut to = vec![at + 1];
            if let Line::Inst(inst) = line {
                let opcode = inst.mnemonic.opcode();
                let leaves = matches!(opcode, Opcode::Bra | Opcode::Ret | Opcode::Exit);
                if leaves && inst.guard.is_none() {
                    to.clear();
                }
                if let (Opcode::Bra, [Operand::Name(label)]) = (opcode, &inst.operands[..]) {
                    to.extend(labels.get(&label[..]));
                }
            }
            for to in to.into_iter().filter(|to| *to < lines.len()) {
                flow.next[at].push(to);
                flow.previous[to].push(at);
            }
        }
        flow
    }

    /// Calls `f` with the instructions that can follow a line, on each way up to the first that is an `end`.
    pub(crate) fn after(&self, at: usize, end: fn(&Inst) -> bool, f: impl FnMut(&'a Inst)) {
        self.walk(at, &self.next, end, f);
    }

    /// Calls `f` with the instructions that can precede a line, on each way back to the first that is an `end`. Returns whether a
    /// way leads back to the first line.
    pub(crate) fn before(
        &self,
        at: usize,
        end: fn(&Inst) -> bool,
        f: impl FnMut(&'a Inst),
    ) -> bool {
        self.walk(at, &self.previous, end, f)[0]
    }

    /// Which lines have been seen.
    fn walk(
        &self,
        at: usize,
        to: &[Vec<usize>],
        end: fn(&Inst) -> bool,
        mut f: impl FnMut(&'a Inst),
    ) -> Vec<bool> {
        let mut seen = vec![false; self.lines.len()];
        let mut waiting = to[at].clone();
        while let Some(at) = waiting.pop() {
            if std::mem::replace(&mut seen[at], true) {
                continue;
            }
            if let Line::Inst(inst) = &self.lines[at] {
                if end(inst) {
                    continue;
                }
                f(inst);
            }
            waiting.extend(&to[at]);
        }
        seen
    }
}
