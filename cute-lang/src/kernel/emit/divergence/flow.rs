//! The basic blocks of a kernel, and where threads that diverge at the end of a block converge.

use crate::kernel::ir::{Line, Operand};
use cute_ptx::table::Opcode;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// A basic block: threads that execute its first line execute all lines.
pub(super) struct Block {
    pub(super) lines: Range<usize>,
    /// The next blocks. The number of blocks stands for the end of the kernel, which also follows endless loops.
    pub(super) next: Vec<usize>,
}

/// The blocks, in the order of their lines.
pub(super) struct Flow {
    pub(super) blocks: Vec<Block>,
    /// For each block, the first block that all threads reach that leave it and end. `None` for a block from which threads end only by a
    /// trap, which ends the launch.
    meet: Vec<Option<usize>>,
}

impl Flow {
    pub(super) fn new(code: &[Line]) -> Self {
        let mut blocks = blocks(code);
        end_loops(&mut blocks);
        let meet = meet(&blocks);
        Self { blocks, meet }
    }

    /// For each block and the end, the previous blocks.
    pub(super) fn before(&self) -> Vec<Vec<usize>> {
        before(&self.blocks)
    }

    /// The block where threads that diverge at the end of a block converge; the number of blocks is the end.
    pub(super) fn meet(&self, block: usize) -> Option<usize> {
        self.meet[block]
    }

    /// The blocks that some threads may execute between diverging at the end of a block and converging. Blocks in `known` are omitted; the
    /// others are added to it.
    pub(super) fn apart(&self, block: usize, known: &mut HashSet<usize>) -> Vec<usize> {
        let end = self.meet[block];
        let mut found = Vec::new();
        let mut open = self.blocks[block].next.clone();
        while let Some(block) = open.pop() {
            if Some(block) != end && block < self.blocks.len() && known.insert(block) {
                found.push(block);
                open.extend(&self.blocks[block].next);
            }
        }
        found
    }
}

fn blocks(code: &[Line]) -> Vec<Block> {
    let ends_block = |line: &Line| match line {
        Line::Inst(inst) => jumps(inst.mnemonic.opcode()),
        _ => false,
    };
    let mut starts = vec![0];
    for (at, line) in code.iter().enumerate().skip(1) {
        if matches!(line, Line::Label(_)) || ends_block(&code[at - 1]) {
            starts.push(at);
        }
    }
    let mut labels = HashMap::new();
    for (block, start) in starts.iter().enumerate() {
        if let Some(Line::Label(label)) = code.get(*start) {
            labels.insert(label.as_str(), block);
        }
    }
    let end = starts.len();
    let ends = starts.iter().skip(1).copied().chain([code.len()]);
    let ranges = starts.iter().zip(ends).map(|(start, end)| *start..end);
    let blocks = ranges.enumerate().map(|(block, lines)| {
        let mut next = Vec::new();
        let mut goes_on = true;
        if let Some(Line::Inst(inst)) = code[lines.clone()].last() {
            let opcode = inst.mnemonic.opcode();
            goes_on = inst.guard.is_some() || !jumps(opcode);
            next.extend(match (opcode, inst.operands.first()) {
                (Opcode::Bra, Some(Operand::Symbol(label))) => labels.get(label.as_str()).copied(),
                (Opcode::Ret | Opcode::Exit, _) => Some(end),
                _ => None,
            });
        }
        if goes_on && !next.contains(&(block + 1)) {
            next.push(block + 1);
        }
        Block { lines, next }
    });
    blocks.collect()
}

/// Whether an instruction may end a thread's way through a block.
fn jumps(opcode: Opcode) -> bool {
    matches!(
        opcode,
        Opcode::Bra | Opcode::Ret | Opcode::Exit | Opcode::Trap
    )
}

/// Lets endless loops end at their back edge: threads in them get nowhere else.
fn end_loops(blocks: &mut [Block]) {
    let end = blocks.len();
    let before = before(blocks);
    let mut ends = vec![false; end + 1];
    let mut open = vec![end];
    for last in (0..=end).rev() {
        let turns_back =
            last < end && !ends[last] && blocks[last].next.iter().any(|it| *it <= last);
        if turns_back {
            blocks[last].next.push(end);
            open.push(last);
        }
        while let Some(block) = open.pop() {
            if !std::mem::replace(&mut ends[block], true) {
                open.extend(&before[block]);
            }
        }
    }
}

/// For each block and the end, the previous blocks.
fn before(blocks: &[Block]) -> Vec<Vec<usize>> {
    let mut before = vec![Vec::new(); blocks.len() + 1];
    for (block, Block { next, .. }) in blocks.iter().enumerate() {
        next.iter().for_each(|next| before[*next].push(block));
    }
    before
}

/// The immediate post-dominator of each block, by the algorithm of Cooper, Harvey and Kennedy. Paths that end in a trap do not count.
fn meet(blocks: &[Block]) -> Vec<Option<usize>> {
    let end = blocks.len();
    let before = before(blocks);
    // The postorder of a depth-first search from the end backwards.
    let mut order = Vec::new();
    let mut number = vec![None; end + 1];
    let mut seen = vec![false; end + 1];
    seen[end] = true;
    let mut path = vec![(end, 0)];
    while let Some((block, at)) = path.last_mut() {
        let block = *block;
        match before[block].get(*at) {
            Some(&other) => {
                *at += 1;
                if !std::mem::replace(&mut seen[other], true) {
                    path.push((other, 0));
                }
            }
            None => {
                number[block] = Some(order.len());
                order.push(block);
                path.pop();
            }
        }
    }
    let mut meet = vec![None; end + 1];
    meet[end] = Some(end);
    let mut changed = true;
    while changed {
        changed = false;
        for &block in order.iter().rev().skip(1) {
            let next = blocks[block].next.iter().filter(|it| meet[**it].is_some());
            let found = next.copied().reduce(|a, b| common(a, b, &meet, &number));
            if meet[block] != found {
                meet[block] = found;
                changed = true;
            }
        }
    }
    meet.truncate(end);
    meet
}

/// The first block that is on all paths from both.
fn common(mut a: usize, mut b: usize, meet: &[Option<usize>], number: &[Option<usize>]) -> usize {
    while a != b {
        let behind = if number[a] < number[b] {
            &mut a
        } else {
            &mut b
        };
        match meet[*behind] {
            Some(next) => *behind = next,
            None => break,
        }
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::ir::{Guard, Inst, Register};

    /// A line with an instruction, of all threads or of some.
    fn inst(is_guarded: bool, mnemonic: &str, target: Option<u64>) -> Line {
        let target = target.map(|block| Operand::Symbol(format!("L{block}")));
        let guard = Guard {
            negated: false,
            predicate: Register::at(0),
        };
        Line::Inst(Inst {
            guard: is_guarded.then_some(guard),
            ..Inst::of(mnemonic, target)
        })
    }

    /// The blocks that can be reached from one without going through another.
    fn reached(flow: &Flow, from: usize, without: usize) -> HashSet<usize> {
        let (mut found, mut open) = (HashSet::new(), vec![from]);
        while let Some(block) = open.pop() {
            if block != without && found.insert(block) && block < flow.blocks.len() {
                open.extend(&flow.blocks[block].next);
            }
        }
        found
    }

    #[test]
    fn threads_meet_where_all_of_them_get_to() {
        let mut state = 1_u64;
        let mut random = |limit: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) % limit
        };
        let mut met = 0;
        for _ in 0..400 {
            let count = 2 + random(9);
            let blocks = (0..count).flat_map(|block| {
                let target = random(count);
                let end = match random(8) {
                    0 => inst(false, "ret", None),
                    1 => inst(true, "exit", None),
                    2 => inst(false, "trap", None),
                    3 => inst(false, "bra", Some(target)),
                    4 => inst(false, "membar.gl", None),
                    _ => inst(true, "bra", Some(target)),
                };
                [Line::Label(format!("L{block}")), end]
            });
            let lines: Vec<Line> = blocks.chain([inst(false, "ret", None)]).collect();
            let flow = Flow::new(&lines);
            let end = flow.blocks.len();
            for block in 0..end {
                let ends =
                    |from: usize, without: usize| reached(&flow, from, without).contains(&end);
                let meet = flow.meet(block);
                assert_eq!(
                    meet.is_some(),
                    ends(block, block + end + 1),
                    "{lines:?}: {block}"
                );
                let Some(meet) = meet else { continue };
                // Every path to the end goes through it, and no earlier block is on all of these paths.
                assert!(
                    meet == end || !ends(block, meet),
                    "{lines:?}: {block}, {meet}"
                );
                for other in (0..end).filter(|other| *other != block && *other != meet) {
                    let is_before =
                        !ends(block, other) && reached(&flow, other, end + 1).contains(&meet);
                    let is_behind = meet != end && !reached(&flow, block, meet).contains(&other);
                    assert!(
                        !is_before || is_behind,
                        "{lines:?}: {block} meets in {meet}, not in {other}"
                    );
                }
                let mut known = HashSet::new();
                let apart = flow.apart(block, &mut known);
                let next = flow.blocks[block].next.iter();
                let expected = next.flat_map(|next| reached(&flow, *next, meet));
                let expected: HashSet<usize> = expected.filter(|it| *it != end).collect();
                assert_eq!(apart.into_iter().collect::<HashSet<_>>(), expected);
                met += usize::from(meet < end);
            }
        }
        assert!(met > 200, "{met}");
    }
}
