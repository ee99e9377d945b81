//! The control flow of routines: basic blocks, and the places where divergent paths of lanes meet again.

use crate::op::{Instruction, Op};
use std::ops::Range;

/// The most steps of the search for meeting points. Beyond that, no meeting point is known.
const MOST_STEPS: usize = 1 << 24;

/// Basic blocks: only the last instruction of a block branches, and only the first is branched to.
pub(super) struct Flow {
    pub(super) blocks: Vec<Range<usize>>,
    /// The possible next blocks of each block. Empty if all lanes have ended or return at the end of the block.
    pub(super) successors: Vec<Vec<usize>>,
}

impl Flow {
    /// Functions begin at the instructions `functions`.
    pub(super) fn new(instructions: &[Instruction], functions: &[usize]) -> Flow {
        let blocks = blocks(instructions, functions);
        let successors = (0..blocks.len())
            .map(|number| successors(instructions, &blocks, number))
            .collect();
        Flow { blocks, successors }
    }

    /// The block of an instruction.
    pub(super) fn block_of(&self, instruction: usize) -> usize {
        block_of(&self.blocks, instruction)
    }

    /// The immediate postdominator of each block: the next block on every path from its end. `None` if there is none before the
    /// routine ends.
    ///
    /// Cooper, Harvey, Kennedy: "A Simple, Fast Dominance Algorithm", on the reversed graph.
    pub(super) fn meets(&self) -> Vec<Option<usize>> {
        let count = self.blocks.len();
        // A node for the routine's end: the root of the reversed graph.
        let end = count;
        let mut before = vec![Vec::new(); count + 1];
        for (number, next) in self.successors.iter().enumerate() {
            next.iter().for_each(|next| before[*next].push(number));
            if next.is_empty() {
                before[end].push(number);
            }
        }
        let order = postorder(&before, end);
        let mut rank = vec![usize::MAX; count + 1];
        for (at, number) in order.iter().enumerate() {
            rank[*number] = at;
        }
        let mut found = vec![None; count + 1];
        found[end] = Some(end);
        let (mut changed, mut steps) = (true, 0);
        while changed {
            changed = false;
            for number in order.iter().rev().copied().filter(|number| *number != end) {
                let next = &self.successors[number];
                let next = if next.is_empty() { &[end] } else { &next[..] };
                let known = next.iter().copied().filter(|it| found[*it].is_some());
                let common = known.reduce(|a, b| intersection(&found, &rank, (a, b), &mut steps));
                if steps > MOST_STEPS {
                    return vec![None; count];
                }
                if common.is_some() && common != found[number] {
                    (found[number], changed) = (common, true);
                }
            }
        }
        found.truncate(count);
        let within = |meets: Option<usize>| meets.filter(|meets| *meets != end);
        found.into_iter().map(within).collect()
    }
}

/// The nearest common postdominator of two blocks. Counts the steps of the search.
fn intersection(
    found: &[Option<usize>],
    rank: &[usize],
    (mut a, mut b): (usize, usize),
    steps: &mut usize,
) -> usize {
    *steps += 1;
    while a != b {
        *steps += 1;
        let (lower, higher) = match rank[a] < rank[b] {
            true => (&mut a, b),
            false => (&mut b, a),
        };
        // The rank grows along a path to the end, which has the highest rank.
        *lower = found[*lower].unwrap_or(higher);
    }
    a
}

/// The nodes that a graph reaches from a node, in postorder.
fn postorder(edges: &[Vec<usize>], from: usize) -> Vec<usize> {
    let mut order = Vec::new();
    let mut reached = vec![false; edges.len()];
    let mut path = vec![(from, 0)];
    reached[from] = true;
    while let Some((node, next)) = path.last_mut() {
        match edges[*node].get(*next) {
            Some(to) => {
                *next += 1;
                if !std::mem::replace(&mut reached[*to], true) {
                    path.push((*to, 0));
                }
            }
            None => {
                order.push(*node);
                path.pop();
            }
        }
    }
    order
}

fn blocks(instructions: &[Instruction], functions: &[usize]) -> Vec<Range<usize>> {
    let mut starts = vec![false; instructions.len() + 1];
    functions.iter().for_each(|start| starts[*start] = true);
    for (at, instruction) in instructions.iter().enumerate() {
        match &instruction.op {
            Op::Branch { target } => (starts[*target], starts[at + 1]) = (true, true),
            Op::BranchIndexed { targets, .. } => {
                targets.iter().for_each(|target| starts[*target] = true);
                starts[at + 1] = true;
            }
            Op::Exit | Op::Trap | Op::Return => starts[at + 1] = true,
            _ => {}
        }
    }
    let mut blocks = Vec::new();
    let mut start = 0;
    starts[instructions.len()] = true;
    for (end, _) in starts.iter().enumerate().skip(1).filter(|(_, it)| **it) {
        blocks.push(start..end);
        start = end;
    }
    blocks
}

fn block_of(blocks: &[Range<usize>], instruction: usize) -> usize {
    blocks.partition_point(|block| block.end <= instruction)
}

fn successors(instructions: &[Instruction], blocks: &[Range<usize>], number: usize) -> Vec<usize> {
    let last = &instructions[blocks[number].end - 1];
    let (mut next, goes_on) = match &last.op {
        Op::Branch { target } => (vec![block_of(blocks, *target)], false),
        Op::BranchIndexed { targets, .. } => {
            let targets = targets.iter();
            (targets.map(|it| block_of(blocks, *it)).collect(), false)
        }
        Op::Exit | Op::Trap | Op::Return => (Vec::new(), false),
        _ => (Vec::new(), true),
    };
    if (goes_on || last.guard.is_some()) && number + 1 < blocks.len() {
        next.push(number + 1);
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On random graphs, the immediate postdominator is the nearest block without which no path leads to the end.
    #[test]
    fn ways_meet_where_no_way_leads_around() {
        let mut state = 1_u64;
        let mut below = |bound: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) as usize % bound
        };
        for _ in 0..2000 {
            let count = 1 + below(9);
            let successors: Vec<Vec<usize>> = (0..count)
                .map(|_| (0..below(3)).map(|_| below(count)).collect())
                .collect();
            let flow = Flow {
                blocks: (0..count).map(|at| at..at + 1).collect(),
                successors,
            };
            let ends = |from: usize, without: Option<usize>| {
                let mut todo = vec![from];
                let mut seen = vec![false; count];
                while let Some(at) = todo.pop() {
                    if Some(at) == without || std::mem::replace(&mut seen[at], true) {
                        continue;
                    }
                    if flow.successors[at].is_empty() {
                        return true;
                    }
                    todo.extend(&flow.successors[at]);
                }
                false
            };
            for (number, meets) in flow.meets().into_iter().enumerate() {
                if !ends(number, None) {
                    assert_eq!(meets, None);
                    continue;
                }
                let others = (0..count).filter(|it| *it != number);
                let all: Vec<usize> = others.filter(|it| !ends(number, Some(*it))).collect();
                // From the nearest block, no path to the end avoids any of the others.
                let nearest = all.iter().copied().find(|near| {
                    let mut others = all.iter().filter(|it| *it != near);
                    others.all(|it| !ends(*near, Some(*it)))
                });
                assert_eq!(meets, nearest, "{:?} from {number}", flow.successors);
            }
        }
    }
}
