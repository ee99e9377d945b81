//! What is known about run-time integers, what has to be checked, and three-valued answers from both.

use super::check::Check;
use super::facts::{Facts, MAX_STEPS};
use super::term::{Atom, Sum, Term};
use crate::composed::Swizzling;
use crate::domain::{Answer, Domain, Question, overflow};
use crate::error::{ErrorKind, LayoutError, Place};
use crate::integer::Integer;
use crate::swizzle::Swizzle;
use crate::tuple::Tuple;
use std::ops::Range;

type Result<T> = std::result::Result<T, LayoutError>;

/// Most run-time integers of one layout.
pub const MAX_ATOMS: usize = 64;

/// Most checks that one layout makes when it is built.
pub const MAX_CHECKS: usize = 256;

/// Where an atom comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The user's variable or expression, by name.
    Captured(String),
    /// The quotient of two terms, rounded up: the tiles of a ragged division.
    Ceiling(Term, Term),
    /// The quotient of a sum by a term, rounded towards zero: what is left of a coordinate without its first digit. By 1,
    /// a sum where a term is wanted.
    Quotient(Sum, Term),
    /// What a swizzle makes of a value.
    Swizzled(Swizzle, Sum),
}

impl Origin {
    /// The value, with those of the atoms before it; `None` where it does not fit. `captured` gives the captured ones.
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

/// A run-time integer.
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
    /// Which of the checks are the facts that were given.
    given: Vec<Range<usize>>,
    /// The last of the given facts by which an extent would be less than 1.
    against_extents: Option<usize>,
    bounds: Vec<Sum>,
}

impl Scope {
    /// The atom of a captured value; the same for the same name.
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

    /// The atom of a captured expression, which is another value each time.
    pub fn capture_anew(&mut self, text: &str) -> Result<Atom> {
        self.add_atom(Origin::Captured(text.to_owned()), None)
    }

    fn quotient(&mut self, dividend: &Sum, divisor: &Term) -> Result<Sum> {
        if let (Some(dividend), Some(divisor)) = (dividend.as_constant(), divisor.as_constant()) {
            let quotient = dividend.checked_div(divisor).ok_or_else(overflow)?;
            return Ok(quotient.into());
        }
        let is_natural = self.facts.is_natural(dividend) && self.facts.is_positive(divisor);
        // What the divisor divides is split off, if what is left stays on the same side of zero.
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

    /// The atom of that origin.
    fn derived(&mut self, origin: Origin, lower: Option<i64>) -> Result<Atom> {
        match self.atoms.iter().find(|known| known.origin == origin) {
            Some(known) => Ok(known.atom.clone()),
            None => self.add_atom(origin, lower),
        }
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

    /// Where the atoms come from, in the order of their values; a quotient comes after what it is of.
    pub fn origins(&self) -> impl Iterator<Item = &Origin> {
        self.atoms.iter().map(|atom| &atom.origin)
    }

    /// The checks in order. What one of them divides by is an integer by the ones before it.
    pub fn checks(&self) -> &[Check] {
        &self.checks
    }

    /// The sizes that coordinates of ragged divisions are compared with.
    pub fn bounds(&self) -> &[Sum] {
        &self.bounds
    }

    /// The values of all atoms for these of the captured ones, in order.
    ///
    /// # Errors
    /// With the first check that does not hold; with none where a number does not fit.
    pub fn instantiate(&self, captured: &[i64]) -> std::result::Result<Vec<i64>, Option<&Check>> {
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

    /// Takes a fact as given, which is so many checks when the layout is built.
    ///
    /// # Errors
    /// With the facts before that it contradicts.
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

    /// Sees to it that `check` holds: by the facts, or by a check at run time; an error where it cannot.
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

    /// Whether a check holds.
    pub fn holds(&self, check: &Check) -> Answer {
        self.facts.holds(check)
    }

    /// Whether a term is at least 1.
    pub(crate) fn is_positive(&self, term: &Term) -> bool {
        self.facts.is_positive(term)
    }

    /// What a positive integer is at least; `None` where that does not fit.
    pub(crate) fn least_positive(&self, term: &Term) -> Option<i128> {
        self.facts.least_positive(term)
    }

    /// The number of the given fact, the last of some, by which an extent would be less than 1.
    pub(crate) fn against_extents(&self) -> Option<usize> {
        self.against_extents
    }

    /// The steps taken so far to decide what the facts say, of at most [`MAX_STEPS`].
    pub fn steps(&self) -> usize {
        self.facts.steps()
    }

    /// Counts an operation, and refuses it where answers are missing because there is too much to decide.
    pub(crate) fn check_operation(&self) -> Result<()> {
        self.facts.count_operation();
        self.check_steps()
    }

    /// Refuses where answers are missing because there was too much to decide.
    pub(crate) fn check_steps(&self) -> Result<()> {
        match self.facts.is_exhausted() {
            false => Ok(()),
            true => {
                let (what, limit) = ("steps to decide what the facts say", MAX_STEPS);
                Err(ErrorKind::TooMany { what, limit }.at(Place::default()))
            }
        }
    }
}

/// Contradictions.
impl Scope {
    /// What is wrong with a condition that never holds: the facts that it contradicts, if some of them do.
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

    /// As few of the facts and the other checks as contradict a condition; none where it contradicts itself, or what is
    /// known otherwise.
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
        // All of them could be learned before.
        let is_learned = checks.all(|check| known.learn(check).is_ok());
        let is_never =
            |check: &Check| known.holds(check) == Answer::Never || known.learn(check).is_err();
        let is_contradiction = is_learned && condition.iter().any(is_never);
        self.facts.count_steps_of(&known);
        is_contradiction
    }
}

/// The checks of a fact as the condition that they are.
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
        // An extent is at least 1, and so is every atom of it.
        for (atom, _) in extent.powers() {
            let check = Check::at_most(&Term::ONE, &Term::atom(atom.clone()));
            if self.holds(&check) == Answer::Never {
                let facts = self.contradicted(std::slice::from_ref(&check));
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

/// The quotient of positive numbers, rounded up.
pub fn div_ceil(dividend: i128, divisor: i128) -> Option<i64> {
    let below = dividend.checked_sub(1)?.checked_div(divisor)?;
    i64::try_from(below.checked_add(1)?).ok()
}
