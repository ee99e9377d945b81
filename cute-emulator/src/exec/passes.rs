//! Accesses of different passes of a loop.

use crate::error::{FaultKind, Later, Other, Site};
use crate::op::{Code, Op};
use std::ops::Range;

/// The most barriers between the two accesses that are examined.
const MOST_BARRIERS: usize = 16;

/// For a race of the instruction `this`: the access that is of a later pass of a loop than the other. In each pass, a barrier stands
/// after it and before the other. `None` if that is not known.
pub(crate) fn later(
    code: &Code,
    kind: &FaultKind,
    this: usize,
    site: &Site,
    rank: usize,
) -> Option<Later> {
    let (other, is_barrier): (&Other, fn(&Code, &Op) -> bool) = match kind {
        FaultKind::LaneRace { other, .. } => (other, waits_for_lanes),
        FaultKind::Race {
            other, rank: of, ..
        } if *of as usize == rank => (other, waits_for_cta),
        FaultKind::GlobalRace { earlier, .. } => match &earlier.by {
            by if by.cta != site.cta => return None,
            by if by.warp == site.warp => (&earlier.instruction, waits_for_lanes),
            _ => (&earlier.instruction, waits_for_cta),
        },
        _ => return None,
    };
    let other = other.index as usize;
    let (first, last) = (this.min(other), this.max(other));
    let pass = Pass::new(code, first, last)?;
    let mut between = (first + 1..last)
        .filter(|at| {
            let instruction = &code.instructions[*at];
            instruction.guard.is_none() && is_barrier(code, &instruction.op)
        })
        .take(MOST_BARRIERS);
    // Every way to the last line leads through the barrier, and none leads from the barrier to the first line.
    let stands_between = |barrier: usize| {
        !pass.reaches(pass.head, last, Some(barrier)) && !pass.reaches(barrier, first, None)
    };
    between.any(stands_between).then_some(match this < other {
        true => Later::This,
        false => Later::Other,
    })
}

/// Whether all threads of a CTA wait at an instruction.
fn waits_for_cta(_: &Code, op: &Op) -> bool {
    matches!(
        op,
        Op::Barrier {
            threads: None,
            wait: true,
            ..
        } | Op::BarrierReduce { threads: None, .. }
    )
}

/// Whether all lanes of a warp wait at an instruction.
fn waits_for_lanes(code: &Code, op: &Op) -> bool {
    let are_all = |(row, value): &(_, u64), members| *row == members && *value as u32 == u32::MAX;
    match op {
        Op::WarpSync { members } => code.constants.iter().any(|it| are_all(it, *members)),
        _ => waits_for_cta(code, op),
    }
}

/// One pass of the innermost loop around a part of the code.
struct Pass<'a> {
    code: &'a Code,
    inside: Range<usize>,
    /// The first instruction of the loop.
    head: usize,
}

impl Pass<'_> {
    /// `None` if no loop contains the instructions from `first` to `last`.
    fn new(code: &Code, first: usize, last: usize) -> Option<Pass<'_>> {
        let backward = (last + 1..code.instructions.len()).flat_map(|at| successors(code, at));
        Some(Pass {
            code,
            inside: first..last,
            head: backward.filter(|target| *target <= first).max()?,
        })
    }

    /// Whether a path within the pass leads from an instruction to another one, and not through the instruction `without`.
    fn reaches(&self, from: usize, to: usize, without: Option<usize>) -> bool {
        let mut seen = vec![false; self.code.instructions.len()];
        let mut todo = vec![from];
        while let Some(at) = todo.pop() {
            if at == to {
                return true;
            }
            if Some(at) == without || std::mem::replace(&mut seen[at], true) {
                continue;
            }
            let is_next_pass = |target: usize| at > self.inside.end && target <= self.inside.start;
            todo.extend(successors(self.code, at).filter(|target| !is_next_pass(*target)));
        }
        false
    }
}

/// The instructions that may come next.
fn successors(code: &Code, at: usize) -> impl Iterator<Item = usize> {
    let instruction = &code.instructions[at];
    let (targets, goes_on) = match &instruction.op {
        Op::Branch { target } => (std::slice::from_ref(target), false),
        Op::BranchIndexed { targets, .. } => (&targets[..], false),
        Op::Exit | Op::Trap | Op::Return => (&[][..], false),
        _ => (&[][..], true),
    };
    let next = (goes_on || instruction.guard.is_some()).then_some(at + 1);
    let next = next.filter(|next| *next < code.instructions.len());
    targets.iter().copied().chain(next)
}
