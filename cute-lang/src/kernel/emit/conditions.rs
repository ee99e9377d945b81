//! Comparisons that hold where the current line is emitted: those of the branches around it.
//!
//! They are about registers that do not change. In a loop, a register has one value for an iteration, and what is known of it is
//! forgotten at the end of the block.

use crate::kernel::emit::builder::Builder;
use crate::kernel::emit::facts::Quantity;
use crate::kernel::emit::operation::{Cmp, Op, mirror};
use crate::kernel::value::{Num, Scalar};
use std::collections::BTreeMap;

/// How many computations back two integers are compared.
const SAME_DEPTH: u32 = 6;

/// What is known of predicates, and which of them hold.
#[derive(Default)]
pub struct Conditions {
    meanings: BTreeMap<String, Meaning>,
    /// Comparisons of unsigned integers.
    holding: Vec<(Num, Cmp, Num)>,
    /// How registers were computed from others that do not change.
    computed: BTreeMap<String, (Op, Num, Num)>,
    /// The numbers of the launch, by their registers.
    pub(super) quantities: BTreeMap<String, Quantity>,
}

/// When a predicate is true.
#[derive(Clone, Debug)]
pub enum Meaning {
    /// A comparison of unsigned integers.
    Compare(Num, Cmp, Num),
    /// Both are true.
    And(Scalar, Scalar),
    /// At least one is true.
    Or(Scalar, Scalar),
    /// The other is false.
    Not(Scalar),
}

/// How many comparisons held at some place.
pub struct Mark(usize);

impl Builder {
    /// Records when a predicate is true. It must not change afterwards.
    pub fn means(&mut self, predicate: &Scalar, meaning: Meaning) {
        let keeps = match &meaning {
            Meaning::Compare(a, _, b) => is_fixed(a) && is_fixed(b),
            Meaning::And(a, b) | Meaning::Or(a, b) => !a.variable && !b.variable,
            Meaning::Not(a) => !a.variable,
        };
        if keeps {
            self.conditions
                .meanings
                .insert(predicate.name.clone(), meaning);
        }
    }

    /// Records how a register was computed. It must not change afterwards.
    pub(super) fn computes(&mut self, result: &Scalar, op: Op, a: &Num, b: &Num) {
        // Of these, the bits of the result do not depend on whether the integers are signed.
        let plain = matches!(
            op,
            Op::Add | Op::Sub | Op::Mul | Op::Shl | Op::And | Op::Or | Op::Xor
        );
        if plain && result.ty.bits() >= 32 && is_fixed(a) && is_fixed(b) {
            let computed = &mut self.conditions.computed;
            computed.insert(result.name.clone(), (op, a.clone(), b.clone()));
        }
    }

    /// From here on, the predicate is true, or it is false, until [`forget`](Self::forget).
    pub fn assume(&mut self, predicate: &Scalar, truth: bool) {
        if predicate.variable {
            return;
        }
        match self.conditions.meanings.get(&predicate.name).cloned() {
            Some(Meaning::Compare(a, cmp, b)) => {
                let cmp = if truth { cmp } else { negated(cmp) };
                self.conditions.holding.push((a, cmp, b));
            }
            Some(Meaning::Not(other)) => self.assume(&other, !truth),
            Some(Meaning::And(a, b)) if truth => {
                self.assume(&a, true);
                self.assume(&b, true);
            }
            Some(Meaning::Or(a, b)) if !truth => {
                self.assume(&a, false);
                self.assume(&b, false);
            }
            _ => {}
        }
    }

    /// From here on, an unsigned integer is below another, until [`forget`](Self::forget).
    pub fn assume_below(&mut self, a: &Num, b: &Num) {
        if is_fixed(a) && is_fixed(b) {
            let holding = &mut self.conditions.holding;
            holding.push((a.clone(), Cmp::Lt, b.clone()));
        }
    }

    /// What holds here.
    pub fn mark(&self) -> Mark {
        Mark(self.conditions.holding.len())
    }

    /// Forgets what has been assumed since.
    pub fn forget(&mut self, since: Mark) {
        self.conditions.holding.truncate(since.0);
    }

    /// The two numbers that a register is known to be the sum of.
    pub fn summands(&self, num: &Num) -> Option<(&Num, &Num)> {
        let Num::Reg(register) = num else {
            return None;
        };
        match self.conditions.computed.get(&register.name) {
            Some((Op::Add, a, b)) if !register.variable => Some((a, b)),
            _ => None,
        }
    }

    /// Whether it is known that an unsigned integer is below an extent.
    pub fn is_below(&self, num: &Num, extent: Quantity) -> bool {
        let (least, _) = self.facts.bounds(extent);
        if self.greatest(num) < least {
            return true;
        }
        let comparisons = self.conditions.holding.iter();
        let read_both_ways =
            comparisons.flat_map(|(a, cmp, b)| [(a, *cmp, b), (b, mirror(*cmp), a)]);
        let mut of_num = read_both_ways.filter(|(a, ..)| self.conditions.same(a, num, SAME_DEPTH));
        of_num.any(|(_, cmp, bound)| match (cmp, bound) {
            (Cmp::Lt, Num::Const(bound)) => *bound <= least,
            (Cmp::Le, Num::Const(bound)) => *bound < least,
            (Cmp::Lt, Num::Reg(bound)) => {
                let quantity = self.conditions.quantities.get(&bound.name);
                quantity.is_some_and(|quantity| self.facts.at_most(*quantity, extent))
            }
            _ => false,
        })
    }
}

impl Conditions {
    /// Whether both are one integer of two types of a width: in one register, or computed in the same way.
    fn same(&self, a: &Num, b: &Num, depth: u32) -> bool {
        let (a, b) = match (a, b) {
            (Num::Reg(a), Num::Reg(b)) => (a, b),
            (a, b) => return a == b,
        };
        if a.variable || b.variable {
            return false;
        }
        let computed = |register: &Scalar| self.computed.get(&register.name);
        a.name == b.name
            || depth > 0
                && match (computed(a), computed(b)) {
                    (Some((op, x, y)), Some((other, z, w))) => {
                        op == other && self.same(x, z, depth - 1) && self.same(y, w, depth - 1)
                    }
                    _ => false,
                }
    }
}

fn is_fixed(num: &Num) -> bool {
    !matches!(num, Num::Reg(scalar) if scalar.variable)
}

/// The comparison that holds if this one does not.
fn negated(cmp: Cmp) -> Cmp {
    match cmp {
        Cmp::Eq => Cmp::Ne,
        Cmp::Ne => Cmp::Eq,
        Cmp::Lt => Cmp::Ge,
        Cmp::Ge => Cmp::Lt,
        Cmp::Le => Cmp::Gt,
        Cmp::Gt => Cmp::Le,
    }
}
