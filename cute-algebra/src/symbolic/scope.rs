//! What is known about run-time integers, what has to be checked, and three-valued answers from both.

use super::term::{Atom, Sum, Term, gcd};
use crate::composed::Swizzling;
use crate::domain::{Answer, Domain, Question, overflow};
use crate::error::{ErrorKind, LayoutError, Place};
use crate::integer::Integer;
use crate::swizzle::Swizzle;
use crate::tuple::Tuple;

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

/// What has to hold when a layout is built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Check {
    /// `dividend % divisor == 0`.
    Divides {
        /// Divides …
        divisor: Term,
        /// … this.
        dividend: Term,
    },
    /// `left <= right`.
    AtMost {
        /// The smaller side.
        left: Sum,
        /// The larger side.
        right: Sum,
    },
}

impl Check {
    /// `dividend % divisor == 0`.
    pub(crate) fn divides(divisor: &Term, dividend: &Term) -> Self {
        Self::Divides {
            divisor: divisor.clone(),
            dividend: dividend.clone(),
        }
    }

    /// `left <= right`.
    pub(crate) fn at_most(left: &Term, right: &Term) -> Self {
        Self::AtMost {
            left: left.into(),
            right: right.into(),
        }
    }
}

/// What is known about an atom by itself.
#[derive(Clone, Debug)]
struct Known {
    atom: Atom,
    origin: Origin,
    /// Divides it.
    multiple: i64,
    lower: Option<i64>,
    upper: Option<i64>,
}

/// The atoms of a layout, the facts about them, and the checks that its construction makes.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    atoms: Vec<Known>,
    /// Quotients that are integers.
    integers: Vec<Term>,
    /// Sums that are not negative.
    not_negative: Vec<Sum>,
    checks: Vec<Check>,
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
        let is_natural = self.is_natural(dividend) && self.is_positive(divisor);
        // What the divisor divides is split off, if what is left stays on the same side of zero.
        let (mut whole, mut rest) = (Sum::default(), dividend.clone());
        for term in dividend.terms() {
            if self.divides(divisor, &term) != Answer::Always {
                continue;
            }
            let without = rest.clone().add(&term, -1).ok_or_else(overflow)?;
            if without == Sum::default() || is_natural && self.is_natural(&without) {
                let steps = term.checked_div(divisor).ok_or_else(overflow)?;
                whole = whole.add(&steps, 1).ok_or_else(overflow)?;
                rest = without;
            }
        }
        let below = Sum::from(divisor)
            .add(&Term::ONE, -1)
            .and_then(|most| most.minus(&rest))
            .is_some_and(|slack| is_natural && self.is_natural(&slack));
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
            self.not_negative.extend([left, slack]);
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
            multiple: 1,
            lower,
            upper: None,
        });
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

    /// Takes a fact as given; it is checked when the layout is built.
    pub fn assume(&mut self, fact: Check) -> Result<()> {
        if self.holds(&fact) == Answer::Never {
            let condition = fact.to_string();
            return Err(ErrorKind::Never { condition }.at(Place::default()));
        }
        self.add_check(fact)
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
                let never = || ErrorKind::Never {
                    condition: check.to_string(),
                };
                Err(refusal().unwrap_or_else(never).at(place.clone()))
            }
        }
    }

    fn add_check(&mut self, check: Check) -> Result<()> {
        if self.checks.len() >= MAX_CHECKS {
            let (what, limit) = ("checks", MAX_CHECKS);
            return Err(ErrorKind::TooMany { what, limit }.at(Place::default()));
        }
        self.learn(&check)?;
        self.checks.push(check);
        Ok(())
    }

    fn learn(&mut self, check: &Check) -> Result<()> {
        match check {
            Check::Divides { divisor, dividend } => {
                let atom = as_atom(dividend).zip(divisor.as_constant());
                if let Some((atom, divisor)) = atom.filter(|(_, divisor)| *divisor > 0) {
                    let known = &mut self.atoms[atom.index()];
                    known.multiple = lcm(known.multiple, divisor).unwrap_or(known.multiple);
                }
                let quotient = dividend.checked_div(divisor);
                self.integers.push(quotient.ok_or_else(overflow)?);
            }
            Check::AtMost { left, right } => {
                let (lower, upper) = (left.as_constant(), right.as_constant());
                if let Some((atom, lower)) = sum_as_atom(right).zip(lower) {
                    let known = &mut self.atoms[atom.index()];
                    known.lower = Some(known.lower.map_or(lower, |old| old.max(lower)));
                }
                if let Some((atom, upper)) = sum_as_atom(left).zip(upper) {
                    let known = &mut self.atoms[atom.index()];
                    known.upper = Some(known.upper.map_or(upper, |old| old.min(upper)));
                }
                let difference = right.clone().minus(left);
                self.not_negative.push(difference.ok_or_else(overflow)?);
            }
        }
        Ok(())
    }

    /// Whether a check holds.
    pub fn holds(&self, check: &Check) -> Answer {
        match check {
            Check::Divides { divisor, dividend } => self.divides(divisor, dividend),
            Check::AtMost { left, right } => match right.clone().minus(left) {
                Some(difference) => self.not_negative(&difference),
                None => Answer::Maybe,
            },
        }
    }

    /// Whether both are the same number.
    pub(crate) fn equal(&self, left: &Sum, right: &Sum) -> Answer {
        if left == right {
            return Answer::Always;
        }
        let [below, above] = [(left, right), (right, left)].map(|(left, right)| {
            let difference = right.clone().minus(left);
            difference.map_or(Answer::Maybe, |difference| self.not_negative(&difference))
        });
        match (below, above) {
            (Answer::Always, Answer::Always) => Answer::Always,
            (Answer::Never, _) | (_, Answer::Never) => Answer::Never,
            _ => Answer::Maybe,
        }
    }

    /// Whether a sum is at least 0.
    fn is_natural(&self, sum: &Sum) -> bool {
        self.not_negative(sum) == Answer::Always
    }

    /// Whether the quotient is an integer.
    fn divides(&self, divisor: &Term, dividend: &Term) -> Answer {
        if dividend.is_zero() && self.is_positive(divisor) {
            return Answer::Always;
        }
        if divisor.is_zero() {
            return Answer::Never;
        }
        let Some(quotient) = dividend.checked_div(divisor) else {
            return Answer::Maybe;
        };
        if self.is_integer(&quotient) {
            return Answer::Always;
        }
        let less = Sum::from(divisor)
            .add(&Term::ONE, -1)
            .and_then(|divisor| divisor.minus(&dividend.into()))
            .is_some_and(|difference| self.not_negative(&difference) == Answer::Always);
        if quotient.powers().is_empty() || self.is_positive(dividend) && less {
            return Answer::Never;
        }
        Answer::Maybe
    }

    /// Whether a term is at least 1.
    pub(crate) fn is_positive(&self, term: &Term) -> bool {
        self.is_known(Question::AtMost(&Term::ONE, term))
    }

    /// A quotient is an integer by itself, by the multiples that its atoms are, or because one or two quotients are that
    /// divide it.
    fn is_integer(&self, quotient: &Term) -> bool {
        if self.is_multiple(quotient) {
            return true;
        }
        self.integers.iter().enumerate().any(|(i, known)| {
            let Some(rest) = quotient.checked_div(known) else {
                return false;
            };
            self.is_multiple(&rest)
                || self.integers[i..].iter().any(|known| {
                    rest.checked_div(known)
                        .is_some_and(|rest| self.is_multiple(&rest))
                })
        })
    }

    fn is_multiple(&self, quotient: &Term) -> bool {
        if quotient.powers().iter().any(|&(_, power)| power < 0) {
            return false;
        }
        // What of the denominator no factor above is known to be a multiple of.
        let denominator = quotient.denominator().unsigned_abs().into();
        let mut missing: u128 = denominator;
        for (atom, power) in quotient.powers() {
            let multiple = self.atoms[atom.index()].multiple.unsigned_abs().into();
            for _ in 0..power.unsigned_abs().min(u64::BITS) {
                missing /= gcd(missing, multiple);
            }
        }
        missing == 1
    }

    fn not_negative(&self, sum: &Sum) -> Answer {
        match self.bounded(sum) {
            Answer::Maybe => {}
            decided => return decided,
        }
        let known = self.not_negative.iter().any(|known| {
            let rest = sum.clone().minus(known);
            rest.is_some_and(|rest| self.bounded(&rest) == Answer::Always)
        });
        if known {
            return Answer::Always;
        }
        // -sum - 1 >= known >= 0 contradicts sum >= 0.
        let contradicted = self.not_negative.iter().any(|known| {
            let rest = Sum::default()
                .add(&Term::ONE, -1)
                .and_then(|rest| rest.minus(sum))
                .and_then(|rest| rest.minus(known));
            rest.is_some_and(|rest| self.bounded(&rest) == Answer::Always)
        });
        if contradicted {
            Answer::Never
        } else {
            Answer::Maybe
        }
    }

    /// The sign of a sum by the bounds of its atoms: in `atom - lower`, terms with a positive coefficient only add.
    fn bounded(&self, sum: &Sum) -> Answer {
        self.bounds_of(sum).map_or(Answer::Maybe, |(least, most)| {
            if least.is_some_and(|least| least >= 0) {
                Answer::Always
            } else if most.is_some_and(|most| most < 0) {
                Answer::Never
            } else {
                Answer::Maybe
            }
        })
    }

    /// The least and the largest value of a sum times some positive number, where there are such; as the sign of a
    /// fraction is that of its numerator, numerators over a common denominator.
    fn bounds_of(&self, sum: &Sum) -> Option<(Option<i128>, Option<i128>)> {
        let mut sum = sum.clone();
        for known in &self.atoms {
            let atom = &known.atom;
            let least = sum
                .parts()
                .flat_map(|(powers, _)| powers)
                .filter(|(used, _)| used == atom)
                .map(|(_, power)| *power)
                .min();
            let Some(least) = least else { continue };
            let lower = self.lower(atom);
            if least < 0 {
                // Times a positive number, the sign is the same.
                lower.filter(|&lower| lower >= 1)?;
                sum = sum.times_power(atom, least.checked_neg()?)?;
            }
            if let Some(lower) = lower {
                if known.upper.is_some_and(|upper| upper < lower) {
                    return None;
                }
                sum = sum.shifted(atom, lower)?;
            }
        }
        let common = sum.parts().try_fold(1i128, |common, (_, (_, below))| {
            let divisor = i128::try_from(gcd(common.unsigned_abs(), below.unsigned_abs())).ok()?;
            (common / divisor).checked_mul(below)
        })?;
        let (mut least, mut most) = (Some(0i128), Some(0i128));
        for (powers, (above, below)) in sum.parts() {
            let coefficient = above.checked_mul(common / below)?;
            // The product of atoms lies between 0 and `reach`, unless an atom has no lower bound.
            let free = powers.iter().any(|(atom, _)| self.lower(atom).is_none());
            let reach = powers.iter().try_fold(1i128, |reach, (atom, power)| {
                let upper = self.atoms[atom.index()].upper;
                let width = i128::from(upper?) - i128::from(self.lower(atom)?);
                reach.checked_mul(width.checked_pow(power.unsigned_abs())?)
            });
            let end = reach.and_then(|reach| coefficient.checked_mul(reach));
            let (low, high) = match (powers.is_empty(), free, coefficient > 0) {
                (true, ..) => (Some(coefficient), Some(coefficient)),
                (_, true, _) => (None, None),
                (_, _, true) => (Some(0), end),
                (_, _, false) => (end, Some(0)),
            };
            let plus = |a: Option<i128>, b: Option<i128>| a?.checked_add(b?);
            (least, most) = (plus(least, low), plus(most, high));
        }
        Some((least, most))
    }

    /// The least value of an atom: its lower bound, rounded up to a multiple.
    fn lower(&self, atom: &Atom) -> Option<i64> {
        let known = &self.atoms[atom.index()];
        let lower = known.lower?;
        let rest = lower.rem_euclid(known.multiple);
        match rest {
            0 => Some(lower),
            _ => lower.checked_add(known.multiple - rest).or(Some(lower)),
        }
    }
}

impl Domain for Scope {
    type Int = Term;

    fn answer(&self, question: Question<'_, Term>) -> Answer {
        match question {
            Question::Divides(divisor, dividend) => self.divides(divisor, dividend),
            Question::AtMost(left, right) => self.holds(&Check::at_most(left, right)),
            Question::Equal(left, right) => self.equal(&left.into(), &right.into()),
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
            let question = Question::AtMost(&Term::ONE, &Term::atom(atom.clone()));
            self.require(question, place, &|| None)?;
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
            above.is_some_and(|above| self.is_natural(&above))
        };
        let lower = [1, 0].into_iter().find(|&lower| at_least(lower));
        let term = Term::atom(self.derived(Origin::Quotient(sum.clone(), Term::ONE), lower)?);
        let above = Sum::from(&term).minus(sum);
        let below = sum.clone().add(&term, -1);
        let both = above.zip(below).ok_or_else(overflow)?;
        self.not_negative.extend([both.0, both.1]);
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
        match operation(&mut trial) {
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
        let lower = self.is_natural(index).then_some(0);
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

fn as_atom(term: &Term) -> Option<Atom> {
    match term.powers() {
        [(atom, 1)] if term.numerator() == 1 && term.denominator() == 1 => Some(atom.clone()),
        _ => None,
    }
}

fn sum_as_atom(sum: &Sum) -> Option<Atom> {
    let mut terms = sum.terms();
    let only = terms.next()?;
    terms.next().is_none().then(|| as_atom(&only))?
}

fn lcm(a: i64, b: i64) -> Option<i64> {
    let common = gcd(a.unsigned_abs().into(), b.unsigned_abs().into());
    a.checked_div(i64::try_from(common).ok()?)?.checked_mul(b)
}
