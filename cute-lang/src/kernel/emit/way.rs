//! Claims about the threads that execute an instruction with a guard, or that go on after a branch. The emulator checks the threads against
//! the claims.
//!
//! `cute-ptx` has their types, and what they look like.
//!
//! Claims come from the comparisons of the source, not from predicates or the instructions for them. There is no claim about a condition
//! with a part that is not a comparison of unsigned integers.
//!
//! Comments also name the condition of a branch or a guard. They are made from the comparison in the source, and not from the
//! instructions that compute the predicate. They are added after all other passes, so they disturb none, and a comparison of variables is
//! claimed only up to the next change of a variable.

use crate::kernel::emit::known::{Comparison, Known, Meaning, is_fixed, negated};
use crate::kernel::ir::Register;
use crate::kernel::ir::claims::{Claims, Condition, Statement, Sum, Way};
use crate::kernel::ir::{Inst, Line, Operand};
use crate::kernel::value::{Num, Scalar};
use cute_ptx::claims;
use cute_ptx::table::Opcode;
use std::collections::{HashMap, HashSet};

/// The most comparisons of a condition.
const MAX_COMPARISONS: usize = 8;
/// The operand of a wgmma that says whether it adds to D.
const SCALE_D: usize = 3;
/// Of how many predicates a condition may be made, one of another.
const MAX_DEPTH: usize = 16;

/// Adds the claims about instructions with guards.
pub(super) fn claim_ways(code: &mut Vec<Line>, known: &Known) {
    let mut writes: HashMap<Register, usize> = HashMap::new();
    for line in code.iter() {
        if let Line::Inst(inst) = line {
            inst.for_each_written(&mut |register| *writes.entry(register).or_default() += 1);
        }
    }
    let ways = code.iter().enumerate().filter_map(|(at, line)| match line {
        Line::Inst(inst) => way(&code[..at], inst, known, &writes),
        _ => None,
    });
    let ways: Vec<Claimed> = ways.collect();
    let mut ways = ways.into_iter().peekable();
    for (at, mut line) in std::mem::take(code).into_iter().enumerate() {
        let Some(Claimed { way, next, .. }) = ways.next_if(|way| way.at == at) else {
            code.push(line);
            continue;
        };
        if let Line::Inst(inst) = &mut line {
            let places = inst.claims.take().map(|claims| claims.places);
            inst.claims = Some(Claims {
                places: places.unwrap_or_default(),
                way: Some(way),
            });
        }
        code.push(line);
        code.extend(next.map(|next| Line::Statement(Statement::Where(next))));
    }
}

/// The claim about an instruction.
struct Claimed {
    /// The index of its line.
    at: usize,
    /// At the end of its line.
    way: Way,
    /// For a branch: the claim about the next line.
    next: Option<Condition>,
}

/// The claim about an instruction after these lines.
fn way(
    before: &[Line],
    inst: &Inst,
    known: &Known,
    writes: &HashMap<Register, usize>,
) -> Option<Claimed> {
    let claim = |predicate: Register, truth| {
        let claim = known.claim(predicate, truth, MAX_DEPTH)?;
        claim.holds_after(before, writes).then(|| claim.condition())
    };
    let guard = inst.guard.as_ref();
    let executed = |truth: bool| {
        let guard = guard?;
        claim(guard.predicate, truth != guard.negated)
    };
    let adds = || match (inst.mnemonic.opcode(), inst.operands.get(SCALE_D)) {
        (Opcode::WgmmaMmaAsync, Some(Operand::Register(predicate))) => claim(*predicate, true),
        _ => None,
    };
    let way = match executed(true) {
        Some(condition) => Way::Executed(condition),
        None => Way::Adds(adds()?),
    };
    let branches = [Opcode::Bra, Opcode::Ret, Opcode::Exit].contains(&inst.mnemonic.opcode());
    Some(Claimed {
        at: before.len(),
        way,
        next: if branches { executed(false) } else { None },
    })
}

/// Comparisons that all hold, or at least one of them.
struct Claim {
    any: bool,
    comparisons: Vec<Comparison>,
    /// The predicates that compare variables, which later statements may change.
    passing: Vec<Register>,
}

impl Known {
    /// A claim for a true, or false, predicate; `None` if the predicate is computed from many others.
    fn claim(&self, predicate: Register, truth: bool, depth: usize) -> Option<Claim> {
        let depth = depth.checked_sub(1)?;
        let part = |part: &Scalar| self.claim(part.register, truth, depth);
        match self.meanings.get(&predicate)? {
            Meaning::Not(other) => self.claim(other.register, !truth, depth),
            Meaning::And(a, b) => part(a)?.join(!truth, part(b)?),
            Meaning::Or(a, b) => part(a)?.join(truth, part(b)?),
            Meaning::CompareAnd(comparison, other) => {
                Claim::new(predicate, comparison, truth)?.join(!truth, part(other)?)
            }
            Meaning::Compare(comparison) => Claim::new(predicate, comparison, truth),
        }
    }
}

impl Claim {
    /// A comparison, or its negation. A known number below 0 would become another number as an unsigned integer.
    fn new(predicate: Register, (a, cmp, b): &Comparison, truth: bool) -> Option<Self> {
        let cmp = if truth { *cmp } else { negated(*cmp) };
        let is_unsigned = |num: &Num| num.constant().is_none_or(|known| known >= 0);
        let is_passing = !is_fixed(a) || !is_fixed(b);
        (is_unsigned(a) && is_unsigned(b)).then(|| Claim {
            any: false,
            comparisons: vec![(a.clone(), cmp, b.clone())],
            passing: is_passing.then_some(predicate).into_iter().collect(),
        })
    }

    /// Both, or at least one.
    fn join(mut self, any: bool, other: Self) -> Option<Self> {
        let joins = |claim: &Self| claim.comparisons.len() == 1 || claim.any == any;
        let joins = joins(&self) && joins(&other);
        self.any = any;
        self.comparisons.extend(other.comparisons);
        self.passing.extend(other.passing);
        (joins && self.comparisons.len() <= MAX_COMPARISONS).then_some(self)
    }

    fn registers(&self) -> impl Iterator<Item = &Scalar> {
        let numbers = self.comparisons.iter().flat_map(|(a, _, b)| [a, b]);
        numbers.filter_map(|number| match number {
            Num::Reg(register) => Some(register),
            Num::Const(_) => None,
        })
    }

    /// Whether the registers have the compared values after these lines: all have been written, and the lines since then have no label and
    /// change no variable. A variable that is written once in the kernel keeps its value.
    fn holds_after(&self, before: &[Line], writes: &HashMap<Register, usize>) -> bool {
        let writes = |it: &Scalar| writes.get(&it.register).copied().unwrap_or(0);
        if self.registers().any(|register| writes(register) == 0) {
            return false;
        }
        let changes = |register: &&Scalar| register.variable && writes(register) > 1;
        let variables = self.registers().filter(changes);
        let variables: HashSet<Register> = variables.map(|it| it.register).collect();
        let mut compared: HashSet<Register> = match variables.is_empty() {
            true => return true,
            false => self.passing.iter().copied().collect(),
        };
        let mut since = before.iter().rev();
        while !compared.is_empty() {
            let inst = match since.next() {
                Some(Line::Inst(inst)) => inst,
                Some(Line::Label(_)) | None => return false,
                Some(_) => continue,
            };
            let mut changes = false;
            inst.for_each_written(&mut |register| {
                changes |= variables.contains(&register);
                compared.remove(&register);
            });
            if changes {
                return false;
            }
        }
        true
    }

    /// The claim as the comment says it.
    fn condition(&self) -> Condition {
        let side = |number: &Num| match number {
            Num::Const(known) => Sum::known(*known),
            Num::Reg(scalar) => Sum::new(scalar.register, 0),
        };
        let comparisons = self.comparisons.iter();
        let comparisons = comparisons.map(|(a, cmp, b)| claims::Comparison {
            left: side(a),
            order: cmp.order(),
            right: side(b),
        });
        Condition {
            any: self.any,
            comparisons: comparisons.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::emit::operation::Cmp;
    use crate::kernel::ir::Guard;
    use cute_ptx::ast::Type;

    /// The lines with claims of: `p = i < n`, these lines, and `@p exit`.
    fn claimed(is_variable: bool, between: &[Inst]) -> Vec<Line> {
        let scalar = |index| Scalar::new(Register::at(index), Type::U32);
        let (i, n) = (scalar(0), scalar(1));
        let i = Scalar {
            variable: is_variable,
            ..i
        };
        let p = Scalar::new(Register::at(2), Type::Pred);
        let mut known = Known::default();
        let comparison = (i.clone().into(), Cmp::Lt, n.clone().into());
        known.means(&p, Meaning::Compare(comparison));
        let set = |to: &Scalar| Inst::of("mov.u32", [to.operand(), Operand::Int(1)]);
        let compare = Inst::of("setp.lt.u32", [p.operand(), i.operand(), n.operand()]);
        let exit = Inst {
            guard: Some(Guard {
                negated: false,
                predicate: p.register,
            }),
            ..Inst::of("exit", [])
        };
        let code = [set(&i), set(&n), compare].into_iter();
        let code = code.chain(between.iter().cloned()).chain([exit]);
        let mut code: Vec<Line> = code.map(Line::Inst).collect();
        claim_ways(&mut code, &known);
        code
    }

    #[test]
    fn a_branch_has_a_claim_for_each_of_its_sides() {
        let code = claimed(false, &[]);
        let [.., Line::Inst(exit), Line::Statement(next)] = &code[..] else {
            panic!("{code:?}");
        };
        let claims = exit.claims.as_ref().expect("a claim");
        let named = |register: &Register| format!("%{}", register.index());
        assert_eq!(claims.map(&mut |it| named(it)).to_string(), "if %0 < %1");
        assert_eq!(next.map(&mut |it| named(it)).to_string(), "where %0 >= %1");
    }

    #[test]
    fn a_variable_that_has_changed_since_the_comparison_is_not_claimed() {
        let change = Inst::of(
            "mov.u32",
            [Operand::Register(Register::at(0)), Operand::Int(7)],
        );
        let has_claim = |code: Vec<Line>| {
            let claims = code.iter().filter_map(|line| match line {
                Line::Inst(inst) => inst.claims.as_ref(),
                _ => None,
            });
            claims.count() == 1
        };
        assert!(has_claim(claimed(true, &[])));
        assert!(!has_claim(claimed(true, &[change])));
    }
}
