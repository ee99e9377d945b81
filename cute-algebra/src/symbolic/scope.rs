//! The run-time integers of a layout, the facts about them, the checks left for run time, and answers from both.

use super::check::Check;
use super::facts::{Facts, MAX_STEPS};
use super::term::{Atom, Sum, Term};
use crate::composed::Swizzling;
use crate::domain::{Answer, Domain, Question, overflow};
use crate::error::{ErrorKind, LayoutError, Place};
use crate::integer::Integer;
use crate::swizzle::Swizzle;
use crate::tuple::Tuple;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::ops::Range;

type Result<T> = core::result::Result<T, LayoutError>;

/// The largest number of run-time integers of one layout, those computed from others included.
pub const MAX_ATOMS: usize = 64;

/// The largest number of checks that one layout makes when it is built.
pub const MAX_CHECKS: usize = 256;

/// How the value of an atom is obtained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It is given: a variable or an expression of the user, as text.
    Captured(String),
    /// The first term divided by the second, rounded up: the number of tiles of a ragged division.
    Ceiling(Term, Term),
    /// The sum divided by the term, rounded towards zero: a coordinate without its first digit. With the divisor 1 it
    /// makes a single atom of a sum.
    Quotient(Sum, Term),
    /// The result of the swizzle for the value of the sum.
    Swizzled(Swizzle, Sum),
}

impl Origin {
    /// The value, computed from those of the atoms before it; `None` where it does not fit 64 bits. `captured` gives the
    /// values of the captured atoms in turn.
    fn value(&self, atoms: &[i64], captured: &mut dyn Iterator<Item = i64>) -> Option<i64> {
        match self {
            Self::Captured(_) => captured.next(),
            Self::Ceiling(dividend, divisor) => {
                div_ceil(dividend.evaluate(atoms)?, divisor.evaluate(atoms)?)
            }
            Self::Quotient(dividend, divisor) => {
                let quotient = dividend
                    .evaluate(atoms)?
                    .checked_div(divisor.evaluate(atoms)?)?;
                i64::try_from(quotient).ok()
            }
            Self::Swizzled(swizzle, index) => {
                Some(swizzle.apply(i64::try_from(index.evaluate(atoms)?).ok()?))
            }
        }
    }
}

/// An atom with its origin.
#[derive(Clone, Debug)]
struct Known {
    atom: Atom,
    origin: Origin,
}

/// The atoms of a layout, the facts about them, and the checks that its construction makes.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    atoms: Vec<Known>,
    facts: Facts,
    checks: Vec<Check>,
    /// The facts that were given: each is a range of `checks`.
    given: Vec<Range<usize>>,
    /// The last given fact that takes part in a proof that an extent is below 1.
    against_extents: Option<usize>,
    bounds: Vec<Sum>,
}

impl Scope {
    /// The atom of a variable. The same name gives the same atom.
    pub fn capture(&mut self, name: &str) -> Result<Atom> {
        let known = self
            .atoms
            .iter()
            .find(|known| matches!(&known.origin, Origin::Captured(text) if text == name));
        match known {
            Some(known) => Ok(known.atom.clone()),
            None => self.add_atom(Origin::Captured(name.to_owned()), None),
        }
    }

    /// A new atom for an expression. The same text may have another value each time, so it gives another atom.
    pub fn capture_anew(&mut self, text: &str) -> Result<Atom> {
        self.add_atom(Origin::Captured(text.to_owned()), None)
    }

    fn quotient(&mut self, dividend: &Sum, divisor: &Term) -> Result<Sum> {
        if let (Some(dividend), Some(divisor)) = (dividend.as_constant(), divisor.as_constant()) {
            let quotient = dividend.checked_div(divisor).ok_or_else(overflow)?;
            return Ok(quotient.into());
        }
        let is_exact = |term: Term| self.is_known(Question::Divides(divisor, &term));
        if !dividend.as_term().is_some_and(is_exact)
            && let Some(known) = self.quotient_atom(dividend, divisor)
        {
            return Ok(Term::atom(known).into());
        }
        let is_natural = self.facts.is_natural(dividend) && self.facts.is_positive(divisor);
        // Terms that the divisor divides are divided exactly. This keeps the rounding towards zero only if the rest has
        // the sign of the dividend.
        let (mut whole, mut rest) = (Sum::default(), dividend.clone());
        for term in dividend.terms() {
            if !self.is_known(Question::Divides(divisor, &term)) {
                continue;
            }
            let without = rest.clone().add(&term, -1).ok_or_else(overflow)?;
            if without == Sum::default() || is_natural && self.facts.is_natural(&without) {
                let steps = term.checked_div(divisor).ok_or_else(overflow)?;
                whole = whole.add(&steps, 1).ok_or_else(overflow)?;
                rest = without;
            }
        }
        let below = Sum::from(divisor)
            .add(&Term::ONE, -1)
            .and_then(|most| most.minus(&rest))
            .is_some_and(|slack| is_natural && self.facts.is_natural(&slack));
        if rest == Sum::default() || below {
            return Ok(whole);
        }
        let lower = is_natural.then_some(0);
        let atom = self.derived(Origin::Quotient(rest.clone(), divisor.clone()), lower)?;
        let quotient = Term::atom(atom);
        if is_natural {
            // 0 <= rest - divisor * quotient < divisor
            let product = quotient.checked_mul(divisor).ok_or_else(overflow)?;
            let left = rest.add(&product, -1).ok_or_else(overflow)?;
            let slack = Sum::from(divisor)
                .add(&Term::ONE, -1)
                .and_then(|most| most.minus(&left))
                .ok_or_else(overflow)?;
            self.facts.learn_not_negative(left);
            self.facts.learn_not_negative(slack);
        }
        whole.add(&quotient, 1).ok_or_else(overflow)
    }

    /// The atom of an origin; the same origin gives the same atom.
    fn derived(&mut self, origin: Origin, lower: Option<i64>) -> Result<Atom> {
        match self.known(&origin) {
            Some(atom) => Ok(atom),
            None => self.add_atom(origin, lower),
        }
    }

    /// The atom of a quotient, if it has one. The facts known at its creation decide.
    pub(crate) fn quotient_atom(&self, dividend: &Sum, divisor: &Term) -> Option<Atom> {
        self.known(&Origin::Quotient(dividend.clone(), divisor.clone()))
    }

    fn known(&self, origin: &Origin) -> Option<Atom> {
        let known = self.atoms.iter().find(|known| known.origin == *origin);
        known.map(|known| known.atom.clone())
    }

    fn add_atom(&mut self, origin: Origin, lower: Option<i64>) -> Result<Atom> {
        if self.atoms.len() >= MAX_ATOMS {
            let (what, limit) = ("run-time integers", MAX_ATOMS);
            return Err(ErrorKind::TooMany { what, limit }.at(Place::default()));
        }
        let atom = Atom::new(self.atoms.len(), &origin.to_string());
        self.atoms.push(Known {
            atom: atom.clone(),
            origin,
        });
        self.facts.add_atom(lower);
        Ok(atom)
    }

    /// The origins of the atoms by index. An origin refers only to atoms before it.
    pub fn origins(&self) -> impl Iterator<Item = &Origin> {
        self.atoms.iter().map(|atom| &atom.origin)
    }

    /// The checks in the order in which they must be made: a check makes sure that terms in later ones are integers.
    pub fn checks(&self) -> &[Check] {
        &self.checks
    }

    /// The sizes that the coordinates of ragged divisions are compared with; a [`Source`](crate::Source) gives the index.
    pub fn bounds(&self) -> &[Sum] {
        &self.bounds
    }

    /// The values of all atoms by index, computed from the values of the captured ones in the order of
    /// [`origins`](Self::origins).
    ///
    /// # Errors
    /// The first check that does not hold; `None` where all hold but a number does not fit 64 bits.
    pub fn instantiate(&self, captured: &[i64]) -> core::result::Result<Vec<i64>, Option<&Check>> {
        let mut captured = captured.iter().copied();
        let mut atoms = Vec::new();
        let mut fits = true;
        for origin in self.origins() {
            let value = origin.value(&atoms, &mut captured);
            fits &= value.is_some();
            atoms.push(value.unwrap_or(0));
        }
        let holds = |check: &&Check| match check {
            Check::Divides { divisor, dividend } => {
                let sides = dividend.evaluate(&atoms).zip(divisor.evaluate(&atoms));
                sides.is_some_and(|(dividend, divisor)| dividend.checked_rem(divisor) == Some(0))
            }
            Check::AtMost { left, right } => {
                let sides = left.evaluate(&atoms).zip(right.evaluate(&atoms));
                sides.is_some_and(|(left, right)| left <= right)
            }
        };
        match self.checks.iter().find(|check| !holds(check)) {
            Some(check) => Err(Some(check)),
            None if fits => Ok(atoms),
            None => Err(None),
        }
    }

    /// Takes a fact as given. Its conditions are checked when the layout is built.
    ///
    /// # Errors
    /// The fact contradicts earlier ones, which are named, or there are too many checks.
    pub fn assume(&mut self, fact: &[Check]) -> Result<()> {
        let first = self.checks.len();
        for check in fact {
            if self.holds(check) == Answer::Never {
                self.checks.truncate(first);
                return Err(self.never(fact).at(Place::default()));
            }
            self.add_check(check.clone())?;
        }
        self.given.push(first..self.checks.len());
        Ok(())
    }

    /// Makes sure that `check` holds: the facts prove it, or it is checked at run time. An error where it never holds.
    pub(crate) fn require_check(
        &mut self,
        check: Check,
        place: &Place,
        refusal: &dyn Fn() -> Option<ErrorKind>,
    ) -> Result<()> {
        match self.holds(&check) {
            Answer::Always => Ok(()),
            Answer::Maybe => self
                .add_check(check)
                .map_err(|error| error.relocate(|_| place.clone())),
            Answer::Never => {
                let kind = match self.never(&[check]) {
                    never @ ErrorKind::Never { .. } => refusal().unwrap_or(never),
                    contradiction => contradiction,
                };
                Err(kind.at(place.clone()))
            }
        }
    }

    fn add_check(&mut self, check: Check) -> Result<()> {
        if self.checks.len() >= MAX_CHECKS {
            let (what, limit) = ("checks", MAX_CHECKS);
            return Err(ErrorKind::TooMany { what, limit }.at(Place::default()));
        }
        self.facts.learn(&check)?;
        self.checks.push(check);
        Ok(())
    }

    /// Whether the facts prove a check, or its opposite.
    pub fn holds(&self, check: &Check) -> Answer {
        self.facts.holds(check)
    }

    /// Whether the facts prove that a term is at least 1.
    pub(crate) fn is_positive(&self, term: &Term) -> bool {
        self.facts.is_positive(term)
    }

    /// A lower bound of a positive integer; `None` where the bound does not fit 128 bits.
    pub(crate) fn least_positive(&self, term: &Term) -> Option<i128> {
        self.facts.least_positive(term)
    }

    /// The index of the last given fact that takes part in a proof that an extent is below 1.
    pub(crate) fn against_extents(&self) -> Option<usize> {
        self.against_extents
    }

    /// The steps taken so far to decide conditions. From [`MAX_STEPS`] on, conditions stay open.
    pub fn steps(&self) -> usize {
        self.facts.steps()
    }

    /// Counts an operation. An error where [`MAX_STEPS`] is exceeded: answers may then be missing.
    pub(crate) fn check_operation(&self) -> Result<()> {
        self.facts.count_operation();
        self.check_steps()
    }

    /// An error where [`MAX_STEPS`] is exceeded: answers may then be missing.
    pub(crate) fn check_steps(&self) -> Result<()> {
        match self.facts.is_exhausted() {
            false => Ok(()),
            true => {
                let (what, limit) = (
                    "steps are needed to decide what follows from the facts",
                    MAX_STEPS,
                );
                Err(ErrorKind::TooMany { what, limit }.at(Place::default()))
            }
        }
    }
}

/// Contradictions.
impl Scope {
    /// The error for a condition that never holds. It names the facts that the condition contradicts, if there are any.
    fn never(&self, condition: &[Check]) -> ErrorKind {
        let facts = self.contradicted(condition);
        let is_given = |fact: &Range<usize>| self.given.contains(fact);
        let condition = shown(condition);
        match facts.iter().any(is_given) {
            false => ErrorKind::Never { condition },
            true => ErrorKind::Contradiction {
                condition,
                facts: facts
                    .into_iter()
                    .map(|fact| shown(&self.checks[fact]))
                    .collect(),
            },
        }
    }

    /// A smallest set of given facts and later checks that contradicts a condition: without any one of them there is no
    /// contradiction. Empty where the condition contradicts itself or the ranges of derived atoms.
    fn contradicted(&self, condition: &[Check]) -> Vec<Range<usize>> {
        let last = self.given.last().map_or(0, |fact| fact.end);
        let others = (last..self.checks.len()).map(|check| check..check + 1);
        let mut facts: Vec<_> = self.given.iter().cloned().chain(others).collect();
        if !self.is_contradiction(&facts, condition) {
            return Vec::new();
        }
        for i in (0..facts.len()).rev() {
            let left_out = facts.remove(i);
            if !self.is_contradiction(&facts, condition) {
                facts.insert(i, left_out);
            }
        }
        facts
    }

    fn is_contradiction(&self, facts: &[Range<usize>], condition: &[Check]) -> bool {
        let mut known = self.facts.forgotten();
        let mut checks = facts.iter().flat_map(|fact| &self.checks[fact.clone()]);
        // All of them were learned without an error when they were added.
        let is_learned = checks.all(|check| known.learn(check).is_ok());
        let is_never =
            |check: &Check| known.holds(check) == Answer::Never || known.learn(check).is_err();
        let is_contradiction = is_learned && condition.iter().any(is_never);
        self.facts.count_steps_of(&known);
        is_contradiction
    }
}

/// The checks of a fact as text. `a <= b` and `b <= a` together are `a == b`.
fn shown(checks: &[Check]) -> String {
    match checks {
        [
            Check::AtMost { left, right },
            Check::AtMost {
                left: above,
                right: below,
            },
        ] if (left, right) == (below, above) => {
            format!("{left} == {right}")
        }
        checks => {
            let checks: Vec<_> = checks.iter().map(Check::to_string).collect();
            checks.join(" && ")
        }
    }
}

impl Domain for Scope {
    type Int = Term;

    fn answer(&self, question: Question<'_, Term>) -> Answer {
        match question {
            Question::Divides(divisor, dividend) => self.holds(&Check::divides(divisor, dividend)),
            Question::AtMost(left, right) => self.holds(&Check::at_most(left, right)),
            Question::Equal(left, right) => self.facts.equal(&left.into(), &right.into()),
        }
    }

    fn undecided(&self, question: Question<'_, Term>, place: &Place) -> LayoutError {
        let kind = match question {
            Question::Divides(divisor, dividend) => ErrorKind::Open {
                condition: Check::divides(divisor, dividend).to_string(),
            },
            Question::AtMost(left, right) => ErrorKind::Undecided {
                condition: Check::at_most(left, right).to_string(),
                opposite: format!("{left} > {right}"),
            },
            Question::Equal(left, right) => {
                let (left, right, sign) = match self.is_known(Question::AtMost(left, right)) {
                    true => (left, right, '<'),
                    false => (left, right, '>'),
                };
                ErrorKind::Undecided {
                    condition: format!("{left} == {right}"),
                    opposite: format!("{left} {sign} {right}"),
                }
            }
        };
        kind.at(place.clone())
    }

    fn require(
        &mut self,
        question: Question<'_, Term>,
        place: &Place,
        refusal: &dyn Fn() -> Option<ErrorKind>,
    ) -> Result<()> {
        match question {
            Question::Divides(divisor, dividend) => {
                self.require_check(Check::divides(divisor, dividend), place, refusal)
            }
            Question::AtMost(left, right) => {
                self.require_check(Check::at_most(left, right), place, refusal)
            }
            Question::Equal(left, right) => {
                self.require_check(Check::at_most(left, right), place, refusal)?;
                self.require_check(Check::at_most(right, left), place, refusal)
            }
        }
    }

    fn require_extent(&mut self, extent: &Term, place: &Place) -> Result<()> {
        if extent.numerator() < 1 {
            let extent = extent.to_string();
            return Err(ErrorKind::Extent { extent }.at(place.clone()));
        }
        // Every run-time integer in an extent must be at least 1.
        for (atom, _) in extent.powers() {
            let check = Check::at_most(&Term::ONE, &Term::atom(atom.clone()));
            if self.holds(&check) == Answer::Never {
                let facts = self.contradicted(core::slice::from_ref(&check));
                self.against_extents = self.given.iter().rposition(|fact| facts.contains(fact));
            }
            self.require_check(check, place, &|| None)?;
        }
        Ok(())
    }

    fn require_shape(&mut self, shape: &Tuple<Term>) -> Result<()> {
        shape.check_limits()?;
        for (extent, path) in shape.leaves().zip(shape.leaf_paths()) {
            self.require_extent(extent, &Place::default().mode(path).shape())?;
        }
        Ok(())
    }

    fn ceiling(&mut self, dividend: &Term, divisor: &Term, place: &Place) -> Result<Term> {
        if let (Some(dividend), Some(divisor)) = (dividend.as_constant(), divisor.as_constant()) {
            return Ok(((dividend - 1) / divisor + 1).into());
        }
        let origin = Origin::Ceiling(dividend.clone(), divisor.clone());
        let atom = self.derived(origin, Some(1));
        Ok(Term::atom(
            atom.map_err(|error| error.relocate(|_| place.clone()))?,
        ))
    }

    fn div_rem(&mut self, dividend: &Sum, divisor: &Term) -> Result<(Sum, Sum)> {
        let quotient = self.quotient(dividend, divisor)?;
        let whole = quotient.times(&divisor.into()).ok_or_else(overflow)?;
        let rest = dividend.clone().minus(&whole).ok_or_else(overflow)?;
        Ok((quotient, rest))
    }

    fn require_natural(&mut self, sum: &Sum, place: &Place) -> Result<()> {
        let check = Check::AtMost {
            left: Sum::default(),
            right: sum.clone(),
        };
        let refusal = || {
            let index = <Term as Integer>::number(sum)?;
            Some(ErrorKind::BelowZero { index })
        };
        self.require_check(check, place, &refusal)
    }

    fn require_index(
        &mut self,
        what: &'static str,
        index: &Sum,
        size: &Term,
        place: &Place,
    ) -> Result<()> {
        let refusal = || {
            let (index, size) = (<Term as Integer>::number(index)?, size.to_string());
            Some(ErrorKind::OutOfRange { what, index, size })
        };
        let next = index.clone().add(&Term::ONE, 1).ok_or_else(overflow)?;
        let checks = [(Sum::default(), index.clone()), (next, size.into())];
        checks.into_iter().try_for_each(|(left, right)| {
            self.require_check(Check::AtMost { left, right }, place, &refusal)
        })
    }

    fn integer(&mut self, sum: &Sum) -> Result<Term> {
        if let Some(term) = sum.as_term() {
            return Ok(term);
        }
        let at_least = |lower: i64| {
            let above = sum.clone().add(&lower.into(), -1);
            above.is_some_and(|above| self.facts.is_natural(&above))
        };
        let lower = [1, 0].into_iter().find(|&lower| at_least(lower));
        let term = Term::atom(self.derived(Origin::Quotient(sum.clone(), Term::ONE), lower)?);
        let above = Sum::from(&term).minus(sum);
        let below = sum.clone().add(&term, -1);
        let both = above.zip(below).ok_or_else(overflow)?;
        self.facts.learn_not_negative(both.0);
        self.facts.learn_not_negative(both.1);
        Ok(term)
    }

    fn bound(&mut self, size: &Term) -> Option<usize> {
        self.bounds.push(size.into());
        Some(self.bounds.len() - 1)
    }

    fn closer(&mut self, bound: usize, by: &Sum) -> Result<usize> {
        let closer = self.bounds[bound].clone().minus(by);
        self.bounds.push(closer.ok_or_else(overflow)?);
        Ok(self.bounds.len() - 1)
    }

    fn succeeds(&mut self, operation: impl FnOnce(&mut Self) -> Result<()>) -> Result<bool> {
        let mut trial = self.clone();
        let result = operation(&mut trial);
        self.facts.count_steps_of(&trial.facts);
        match result {
            Ok(()) => match trial.checks.get(self.checks.len()) {
                None => Ok(true),
                Some(check) => {
                    let condition = check.to_string();
                    Err(ErrorKind::Open { condition }.at(Place::default()))
                }
            },
            Err(error) => match error.kind() {
                ErrorKind::Undecided { condition, .. } => {
                    let condition = condition.clone();
                    Err(ErrorKind::Open { condition }.at(error.place().clone()))
                }
                _ => Ok(false),
            },
        }
    }
}

impl Swizzling for Scope {
    fn swizzled(&mut self, swizzle: Swizzle, index: &Sum) -> Result<Sum> {
        if swizzle.is_identity() {
            return Ok(index.clone());
        }
        if let Some(index) = index.as_constant() {
            return Ok(swizzle.apply(index).into());
        }
        let lower = self.facts.is_natural(index).then_some(0);
        let atom = self.derived(Origin::Swizzled(swizzle, index.clone()), lower)?;
        Ok(Term::atom(atom).into())
    }

    fn divided(
        &mut self,
        sum: &Sum,
        divisor: &Term,
        refusal: &dyn Fn() -> Option<ErrorKind>,
    ) -> Result<Sum> {
        let mut quotient = Sum::default();
        for term in sum.terms() {
            self.require(
                Question::Divides(divisor, &term),
                &Place::operand(0),
                refusal,
            )?;
            let part = term.checked_div(divisor).ok_or_else(overflow)?;
            quotient = quotient.add(&part, 1).ok_or_else(overflow)?;
        }
        Ok(quotient)
    }
}

/// The quotient of positive numbers, rounded up; `None` where it does not fit 64 bits.
pub const fn div_ceil(dividend: i128, divisor: i128) -> Option<i64> {
    let Some(before) = dividend.checked_sub(1) else {
        return None;
    };
    let Some(below) = before.checked_div(divisor) else {
        return None;
    };
    match below.checked_add(1) {
        Some(quotient) => narrow(quotient),
        None => None,
    }
}

/// The number in 64 bits; `None` if it does not fit.
pub const fn narrow(number: i128) -> Option<i64> {
    match i64::MIN as i128 <= number && number <= i64::MAX as i128 {
        true => Some(number as i64),
        false => None,
    }
}
