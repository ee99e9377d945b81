//! Finds reads of registers that some path through an entry reaches without a write. Only these registers are followed while a kernel
//! runs, so the others cost nothing.

use super::flow::Flow;
use crate::op::{Followed, Instruction, Op, Reg, Uses, Values};
use std::collections::HashSet;

/// The most words of register sets that the search may visit. Beyond that, all registers are followed.
const MOST_WORDS: usize = 1 << 22;

/// Gives each instruction the registers to follow. `uses` has one element for each instruction, `rows` is the number of rows, and
/// functions begin at the instructions `starts`. A function's registers are its own, and are unwritten when it begins.
pub(super) fn follow(
    instructions: &mut [Instruction],
    uses: &[Uses],
    flow: &Flow,
    rows: usize,
    starts: &[usize],
) {
    let written = written_before(instructions, uses, flow, rows.div_ceil(64), starts);
    let mut uncertain: Vec<Followed> = Vec::with_capacity(instructions.len());
    for (block, mut written) in flow.blocks.iter().zip(written) {
        for at in block.clone() {
            let instruction = &instructions[at];
            let unwritten = |rows: &[Reg]| -> Box<[Reg]> {
                let rows = rows.iter().copied();
                rows.filter(|row| !contains(&written, *row)).collect()
            };
            let guard = instruction.guard.map(|(row, _)| row);
            let sum = match &instruction.op {
                Op::Wgmma(wgmma) => Some((wgmma.scale_d, unwritten(&wgmma.d))),
                _ => None,
            };
            let selected = match (uses[at].values, &instruction.op) {
                (Values::Selected, Op::Compute(compute)) => {
                    let [first, second, condition, _] = compute.src;
                    let operands = [first, second].map(|row| {
                        let is_register = uses[at].reads.contains(&row);
                        (is_register && !contains(&written, row)).then_some(row)
                    });
                    Some((condition, operands))
                }
                _ => None,
            };
            let reads = match (uses[at].values, &instruction.op) {
                (Values::Moved, _) => Box::default(),
                // The condition. A negated condition has its own row.
                (Values::Selected, Op::Compute(compute)) => {
                    let reads = uses[at].reads.iter().copied();
                    let condition = reads.filter(|row| !compute.src[..2].contains(row));
                    unwritten(&condition.collect::<Vec<Reg>>())
                }
                _ => unwritten(&uses[at].reads),
            };
            uncertain.push(Followed {
                guard: guard.filter(|row| !contains(&written, *row)),
                reads,
                selected: selected.filter(|(_, operands)| *operands != [None, None]),
                sum: sum.filter(|(_, rows)| !rows.is_empty()),
                writes: Box::default(),
            });
            write(instruction, &uses[at], &mut written);
        }
    }
    let mut followed: HashSet<Reg> = HashSet::new();
    for Followed {
        guard,
        reads,
        selected,
        sum,
        ..
    } in &uncertain
    {
        followed.extend(guard);
        followed.extend(reads);
        followed.extend(selected.iter().flat_map(|(_, operands)| operands).flatten());
        followed.extend(sum.iter().flat_map(|(_, rows)| rows));
    }
    for ((instruction, uses), mut found) in instructions.iter_mut().zip(uses).zip(uncertain) {
        let writes = uses.writes.iter().copied();
        found.writes = writes.filter(|row| followed.contains(row)).collect();
        instruction.followed = (found != Followed::default()).then(|| Box::new(found));
    }
}

/// For each block, the registers written on every path to it, as bit sets. Empty sets if the search would take too long.
fn written_before(
    instructions: &[Instruction],
    uses: &[Uses],
    flow: &Flow,
    words: usize,
    starts: &[usize],
) -> Vec<Vec<u64>> {
    let blocks = &flow.blocks;
    let nothing = || vec![vec![0; words]; blocks.len()];
    if blocks.len() * words > MOST_WORDS {
        return vec![Vec::new(); blocks.len()];
    }
    let mut before = vec![vec![u64::MAX; words]; blocks.len()];
    let mut visited = 0;
    let mut todo = vec![0];
    todo.extend(starts.iter().map(|start| flow.block_of(*start)));
    let mut reached = vec![false; blocks.len()];
    for first in &todo {
        before[*first] = vec![0; words];
        reached[*first] = true;
    }
    while let Some(number) = todo.pop() {
        visited += words;
        if visited > MOST_WORDS {
            return nothing();
        }
        let mut written = before[number].clone();
        for at in blocks[number].clone() {
            write(&instructions[at], &uses[at], &mut written);
        }
        for successor in flow.successors[number].iter().copied() {
            let mut changed = !std::mem::replace(&mut reached[successor], true);
            for (before, written) in before[successor].iter_mut().zip(&written) {
                changed |= *before & !written != 0;
                *before &= written;
            }
            if changed {
                todo.push(successor);
            }
        }
    }
    before
}

/// Adds the registers that an instruction writes in each lane that reaches it.
fn write(instruction: &Instruction, uses: &Uses, written: &mut [u64]) {
    if instruction.guard.is_some() {
        return;
    }
    for row in &uses.writes {
        if let Some(word) = written.get_mut(*row as usize / 64) {
            *word |= 1 << (row % 64);
        }
    }
}

fn contains(set: &[u64], row: Reg) -> bool {
    set.get(row as usize / 64)
        .is_some_and(|word| word >> (row % 64) & 1 == 1)
}
