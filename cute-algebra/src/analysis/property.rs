//! Whether a layout of run-time integers is injective, bijective or dense.
//!
//! A layout of numbers can be enumerated, which [gives a counterexample](super::injective). For run-time integers,
//! conditions are decided by the facts or by a check at run time.

use crate::ascending::ascending;
use crate::coordinate::cosize_in;
use crate::domain::{Answer, Domain, Question, overflow, product};
use crate::error::{ErrorKind, LayoutError, Place};
use crate::layout::Layout;
use crate::symbolic::{Check, Scope, Sum, Term};
use alloc::collections::BTreeMap;
use alloc::string::ToString;
use alloc::vec::Vec;

type Result<T> = core::result::Result<T, LayoutError>;

/// A property of the values of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Property {
    /// No two coordinates have the same value.
    Injective,
    /// The values are 0, 1, …, size − 1, each once.
    Bijective,
    /// The values fill an interval.
    Dense,
}

/// One of several conditions that together imply the property. If `is_necessary`, a condition that never holds
/// refutes it.
struct Condition {
    check: Check,
    is_necessary: bool,
}

impl Property {
    /// The adjective that names it in error texts.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Injective => "injective",
            Self::Bijective => "bijective",
            Self::Dense => "dense",
        }
    }

    /// Whether the layout has the property; an error where the facts do not decide.
    pub(crate) fn is_of(self, scope: &mut Scope, a: &Layout<Term>) -> Result<bool> {
        let conditions = self
            .conditions(scope, a)
            .map_err(|error| match error.kind() {
                ErrorKind::Undecided { condition, .. } => {
                    let condition = condition.clone();
                    ErrorKind::Open { condition }.at(error.place().clone())
                }
                _ => error,
            })?;
        if self != Self::Dense && is_crowded(scope, a)? {
            return Ok(false);
        }
        let answer = |condition: &Condition| scope.holds(&condition.check);
        let refutes =
            |condition: &Condition| condition.is_necessary && answer(condition) == Answer::Never;
        if conditions.iter().any(refutes) {
            return Ok(false);
        }
        let open = conditions
            .iter()
            .find(|condition| answer(condition) != Answer::Always);
        match open {
            None => Ok(true),
            Some(Condition { check, .. }) => {
                let condition = check.to_string();
                Err(ErrorKind::Open { condition }.at(Place::operand(0)))
            }
        }
    }

    /// Adds the checks under which the layout has the property.
    pub(crate) fn require(self, scope: &mut Scope, a: &Layout<Term>) -> Result<()> {
        for Condition { check, .. } in self.conditions(scope, a)? {
            scope.require_check(check, &Place::operand(0), &|| None)?;
        }
        Ok(())
    }

    /// The conditions that together imply the property.
    fn conditions(self, scope: &mut Scope, a: &Layout<Term>) -> Result<Vec<Condition>> {
        let mut axes: BTreeMap<&[usize], Vec<_>> = BTreeMap::new();
        let mut conditions = Vec::new();
        for (extent, stride) in a.leaves().filter(|(extent, _)| !extent.is_one()) {
            if !stride.is_zero() {
                let mode = (extent.clone(), stride.value().into());
                axes.entry(stride.path()).or_default().push(mode);
            } else if self != Self::Dense {
                conditions.push(Condition {
                    check: Check::at_most(extent, &Term::ONE),
                    is_necessary: true,
                });
            }
        }
        // Values along different coordinates are independent, so each coordinate has its own conditions.
        for (_, modes) in axes {
            let (mut block, mut reach) = (Term::ONE, Sum::default());
            for step in ascending(scope, &Layout::from_flat(modes))? {
                let (extent, stride) = (&step.extent, &step.stride);
                let after_reach = reach.clone().add(&Term::ONE, 1).ok_or_else(overflow)?;
                let is_moving = scope.is_known(Question::AtMost(&2.into(), extent));
                let condition = |left: Sum, right: Sum, is_necessary: bool| Condition {
                    check: Check::AtMost { left, right },
                    is_necessary,
                };
                match self {
                    Self::Injective => {
                        conditions.push(condition(after_reach, stride.into(), false))
                    }
                    Self::Dense => {
                        conditions.push(condition(stride.into(), after_reach, is_moving))
                    }
                    Self::Bijective => conditions.extend([
                        condition((&block).into(), stride.into(), is_moving),
                        condition(stride.into(), (&block).into(), is_moving),
                    ]),
                }
                let end = product(extent, stride)?;
                block = product(&block, extent)?;
                reach = reach
                    .add(&end, 1)
                    .and_then(|reach| reach.add(stride, -1))
                    .ok_or_else(overflow)?;
            }
        }
        Ok(conditions)
    }
}

/// Whether there are more coordinates than possible values.
fn is_crowded(scope: &mut Scope, a: &Layout<Term>) -> Result<bool> {
    let right = Sum::from(a.shape().product().ok_or_else(overflow)?);
    let Ok(left) = cosize_in(scope, a) else {
        return Ok(false);
    };
    let left = left.add(&Term::ONE, 1).ok_or_else(overflow)?;
    Ok(scope.holds(&Check::AtMost { left, right }) == Answer::Always)
}
