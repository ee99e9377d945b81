//! What there is to know about a layout: whether its values are distinct or dense, and what divides them.

use super::chain::{equal, max_common_layout, precedes, right_inverse, size, sorted};
use super::coordinate::{answered, cosize};
use super::layout::{SymbolicLayout, overflow, product, quotient};
use super::scope::{Answer, Check, Scope};
use super::term::{Sum, Term};
use super::{SymbolicError, SymbolicErrorKind};
use crate::error::Place;
use std::collections::BTreeMap;

type Result<T> = std::result::Result<T, SymbolicError>;

/// What the values of a layout may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Property {
    /// Distinct.
    Injective,
    /// 0, 1, …, size − 1, each once.
    Bijective,
    /// All of an interval.
    Dense,
}

/// A condition that the values have the property, and whether one that never holds refutes it.
struct Condition {
    check: Check,
    is_necessary: bool,
}

impl Property {
    /// Whether a layout has it; an error where the facts do not say.
    pub(super) fn is_of(self, scope: &mut Scope, a: &SymbolicLayout) -> Result<bool> {
        let conditions = self
            .conditions(scope, a)
            .map_err(|error| match error.kind {
                SymbolicErrorKind::Undecided { condition, .. } => {
                    SymbolicErrorKind::Open(condition).at(error.place)
                }
                kind => kind.at(error.place),
            })?;
        if self != Self::Dense && is_crowded(scope, a)? {
            return Ok(false);
        }
        let answer = |condition: &Condition| scope.answer(&condition.check);
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
                Err(SymbolicErrorKind::Open(scope.show_check(check)).at(Place::operand(0)))
            }
        }
    }

    /// Sees to it that a layout has it.
    pub(super) fn require(self, scope: &mut Scope, a: &SymbolicLayout) -> Result<()> {
        for Condition { check, .. } in self.conditions(scope, a)? {
            let at_layout = |kind: SymbolicErrorKind| kind.at(Place::operand(0));
            scope.require(check).map_err(at_layout)?;
        }
        Ok(())
    }

    /// Together they are enough.
    fn conditions(self, scope: &mut Scope, a: &SymbolicLayout) -> Result<Vec<Condition>> {
        let mut axes: BTreeMap<&[usize], Vec<_>> = BTreeMap::new();
        let mut conditions = Vec::new();
        for mode in a.leaves().filter(|mode| !mode.is_single()) {
            if !mode.stride.is_zero() {
                axes.entry(&mode.path).or_default().push(mode.clone());
            } else if self != Self::Dense {
                conditions.push(Condition {
                    check: Check::at_most(&mode.extent, &Term::ONE),
                    is_necessary: true,
                });
            }
        }
        for (_, mut modes) in axes {
            // Values along different coordinates never meet.
            modes.iter_mut().for_each(|mode| mode.path.clear());
            let (mut block, mut reach) = (Term::ONE, Sum::default());
            for step in sorted(scope, &SymbolicLayout::from_flat(modes))? {
                let (extent, stride) = (&step.mode.extent, &step.mode.stride);
                let after_reach = reach.clone().add(&Term::ONE, 1).ok_or_else(overflow)?;
                let is_moving = scope.at_most(&2.into(), extent) == Answer::Always;
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

/// Whether there are more coordinates than values.
fn is_crowded(scope: &mut Scope, a: &SymbolicLayout) -> Result<bool> {
    let right = Sum::from(size(a)?);
    let Ok(left) = cosize(scope, a) else {
        return Ok(false);
    };
    let left = left.add(&Term::ONE, 1).ok_or_else(overflow)?;
    Ok(scope.answer(&Check::AtMost { left, right }) == Answer::Always)
}

/// Elements that are contiguous and aligned along the 1-D coordinate.
pub(crate) fn vector_width(scope: &mut Scope, a: &SymbolicLayout) -> Result<Term> {
    let coalesced = a.coalesce();
    let mut modes = coalesced.leaves();
    let Some(first) = modes.next().filter(|_| coalesced.is_integral()) else {
        return Ok(Term::ONE);
    };
    let place = Place::operand(0);
    let one = Check::at_most(&first.stride, &Term::ONE);
    match equal(scope, &first.stride, &Term::ONE) {
        Answer::Never => Ok(Term::ONE),
        Answer::Maybe => answered(scope, &one, place).map(|_| Term::ONE),
        Answer::Always => modes.try_fold(first.extent.clone(), |vector, mode| {
            gcd(scope, &vector, &mode.stride)
        }),
    }
}

/// What divides all values.
pub(crate) fn alignment(scope: &Scope, a: &SymbolicLayout) -> Result<Term> {
    let moving = a.leaves().filter(|mode| !mode.is_single());
    moving.into_iter().try_fold(Term::ZERO, |divisor, mode| {
        gcd(scope, &divisor, &mode.stride)
    })
}

/// Contiguous and aligned elements.
pub(crate) fn max_alignment(scope: &mut Scope, a: &SymbolicLayout) -> Result<Term> {
    let filtered = a.filter_zeros(scope)?.coalesce();
    let block = size(&right_inverse(scope, &filtered)?)?;
    let (mut contiguous, mut rest) = (Term::ONE, Term::ZERO);
    for step in sorted(scope, &filtered)? {
        match equal(scope, &step.mode.stride, &contiguous) {
            Answer::Always => contiguous = product(&contiguous, &step.mode.extent)?,
            _ => rest = gcd(scope, &rest, &step.mode.stride)?,
        }
    }
    gcd(scope, &block, &rest)
}

/// The size of what two layouts count up along.
pub(crate) fn max_common_vector(
    scope: &mut Scope,
    a: &SymbolicLayout,
    b: &SymbolicLayout,
) -> Result<Term> {
    size(&max_common_layout(scope, a, b)?)
}

/// A number spread over a shape.
pub(crate) fn domain_distribute(
    scope: &mut Scope,
    shape: &SymbolicLayout,
    count: &Term,
) -> Result<SymbolicLayout> {
    let at_count = |kind: SymbolicErrorKind| kind.at(Place::operand(1));
    scope.require_extent(count).map_err(at_count)?;
    let (mut left, mut weight, mut modes) = (count.clone(), Term::ONE, Vec::new());
    for mode in shape.leaves() {
        let share = gcd(scope, &mode.extent, &left)?;
        left = quotient(&left, &share)?;
        modes.push(super::layout::Mode::new(share, weight.clone()));
        weight = product(&weight, &mode.extent)?;
    }
    Ok(SymbolicLayout::from_flat(modes).coalesce())
}

/// The greatest common divisor, where one term divides the other.
pub(crate) fn gcd(scope: &Scope, a: &Term, b: &Term) -> Result<Term> {
    if let (Some(a), Some(b)) = (a.as_constant(), b.as_constant()) {
        return Ok(crate::common::gcd(a, b).into());
    }
    let magnitude = |term: &Term| -> Result<Term> {
        match precedes(scope, &Term::ZERO, term, &Place::operand(0))? {
            true => Ok(term.clone()),
            false => product(term, &(-1).into()),
        }
    };
    let (a, b) = (magnitude(a)?, magnitude(b)?);
    if a.is_zero() || scope.divides(&b, &a) == Answer::Always {
        return Ok(b);
    }
    if b.is_zero() || a.is_one() || scope.divides(&a, &b) == Answer::Always {
        return Ok(a);
    }
    let open = Check::divides(&a, &b);
    Err(SymbolicErrorKind::Open(scope.show_check(&open)).at(Place::operand(0)))
}
