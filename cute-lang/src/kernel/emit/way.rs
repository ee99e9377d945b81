//! What comments claim of the ways that threads take: in which of them an instruction with a guard is executed, and which go on
//! behind a branch. The emulator holds the threads against it.
//!
//! | comment | claim |
//! |---|---|
//! | `if %i < %n`, at the end of the line of an instruction with a guard | of the threads that get there, it is executed by those in which this holds, and by no others |
//! | `where %i >= %n`, on the line after a branch with a guard | this holds in all threads that get there |
//!
//! They are made from the comparisons of the source, and not from predicates or the instructions that compute these. Nothing is
//! claimed of a condition that is made of something else than comparisons of unsigned integers.

use crate::kernel::emit::conditions::{Comparison, Conditions, Meaning, is_fixed, negated};
use crate::kernel::value::{Num, Scalar};
use cute_ptx::ast::{Inst, Line};
use cute_ptx::table::Opcode;
use std::collections::{HashMap, HashSet};
use std::fmt::{self, Display, Formatter};

/// The most comparisons of a condition.
const MAX_COMPARISONS: usize = 8;

/// Adds what is claimed of instructions with guards.
pub(super) fn claim_ways(code: &mut Vec<Line>, conditions: &Conditions) {
    let mut writes: HashMap<&str, usize> = HashMap::new();
    for line in code.iter() {
        if let Line::Inst(inst) = line {
            inst.for_each_written(&mut |name| *writes.entry(name).or_default() += 1);
        }
    }
    let ways = code.iter().enumerate().filter_map(|(at, line)| match line {
        Line::Inst(inst) => way(&code[..at], inst, conditions, &writes),
        _ => None,
    });
    let ways: Vec<Way> = ways.collect();
    let mut ways = ways.into_iter().peekable();
    for (at, mut line) in std::mem::take(code).into_iter().enumerate() {
        let way = ways.next_if(|way| way.at == at);
        if let (Line::Inst(inst), Some(way)) = (&mut line, &way) {
            let addresses = inst.comment.take().map(|claims| claims + "; ");
            inst.comment = Some(addresses.unwrap_or_default() + "if " + &way.executed);
        }
        code.push(line);
        code.extend(way.and_then(|way| Some(Line::Comment(format!("where {}", way.next?)))));
    }
}

/// What is claimed of an instruction.
struct Way {
    /// The index of its line.
    at: usize,
    executed: String,
    /// For a branch: what is claimed of the next line.
    next: Option<String>,
}

/// What is claimed of an instruction after these lines.
fn way(
    before: &[Line],
    inst: &Inst,
    conditions: &Conditions,
    writes: &HashMap<&str, usize>,
) -> Option<Way> {
    let guard = inst.guard.as_ref()?;
    let claim = |truth: bool| conditions.claim(&guard.predicate, truth != guard.negated);
    let executed = claim(true)?;
    let mut registers = executed.registers();
    let is_known = registers.all(|register| writes.contains_key(&register.name[..]));
    if !is_known || !executed.holds_after(before, writes) {
        return None;
    }
    let branches = [Opcode::Bra, Opcode::Ret, Opcode::Exit].contains(&inst.mnemonic.opcode());
    let next = if branches { claim(false) } else { None };
    Some(Way {
        at: before.len(),
        executed: executed.to_string(),
        next: next.map(|next| next.to_string()),
    })
}

/// Comparisons of which all hold, or at least one.
struct Claim<'c> {
    any: bool,
    comparisons: Vec<Comparison>,
    /// The predicates that compare variables, which later statements may change.
    passing: Vec<&'c str>,
}

impl Conditions {
    /// When a predicate is true, or false.
    fn claim<'c>(&'c self, predicate: &'c str, truth: bool) -> Option<Claim<'c>> {
        let (all, a, b) = match self.meanings.get(predicate)? {
            Meaning::Not(other) => return self.claim(&other.name, !truth),
            Meaning::And(a, b) => (truth, a, b),
            Meaning::Or(a, b) => (!truth, a, b),
            Meaning::Compare((a, cmp, b)) => {
                let cmp = if truth { *cmp } else { negated(*cmp) };
                let is_unsigned = |num: &Num| num.constant().is_none_or(|known| known >= 0);
                let is_passing = !is_fixed(a) || !is_fixed(b);
                return (is_unsigned(a) && is_unsigned(b)).then(|| Claim {
                    any: false,
                    comparisons: vec![(a.clone(), cmp, b.clone())],
                    passing: is_passing.then_some(predicate).into_iter().collect(),
                });
            }
        };
        let (mut a, b) = (self.claim(&a.name, truth)?, self.claim(&b.name, truth)?);
        let joins = |claim: &Claim<'_>| claim.comparisons.len() == 1 || claim.any != all;
        let joined =
            joins(&a) && joins(&b) && a.comparisons.len() + b.comparisons.len() <= MAX_COMPARISONS;
        a.any = !all;
        a.comparisons.extend(b.comparisons);
        a.passing.extend(b.passing);
        joined.then_some(a)
    }
}

impl Claim<'_> {
    fn registers(&self) -> impl Iterator<Item = &Scalar> {
        let numbers = self.comparisons.iter().flat_map(|(a, _, b)| [a, b]);
        numbers.filter_map(|number| match number {
            Num::Reg(register) => Some(register),
            Num::Const(_) => None,
        })
    }

    /// Whether the variables that were compared still have their values after these lines: the lines since have no label and
    /// change none of them. A variable that is written once in the kernel keeps its value.
    fn holds_after(&self, before: &[Line], writes: &HashMap<&str, usize>) -> bool {
        let variables = self
            .registers()
            .filter(|it| it.variable && writes[&it.name[..]] > 1);
        let variables: HashSet<&str> = variables.map(|register| &register.name[..]).collect();
        let mut compared: HashSet<&str> = match variables.is_empty() {
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
            inst.for_each_written(&mut |name| {
                changes |= variables.contains(name);
                compared.remove(name);
            });
            if changes {
                return false;
            }
        }
        true
    }
}

/// `%i < %n && %j < 8`.
impl Display for Claim<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for (a, cmp, b) in &self.comparisons {
            write!(
                f,
                "{separator}{} {} {}",
                a.operand(),
                cmp.symbol(),
                b.operand()
            )?;
            separator = if self.any { " || " } else { " && " };
        }
        Ok(())
    }
}
