//! What is known about run-time integers, and what follows from it.

use super::check::Check;
use super::term::{Atom, Sum, Term, gcd};
use crate::domain::{Answer, overflow};
use crate::error::LayoutError;
use std::cell::Cell;

/// Most steps that are taken to decide what the facts say about one layout. A step looks at one factor of one term: so many
/// take less than a second, even where nothing is optimised.
pub const MAX_STEPS: usize = 1 << 20;

/// An operation counts as so many steps, besides those that decide about its operands.
const OPERATION: usize = 256;

/// What is known about the atoms of a scope.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    /// What is known of each atom by itself.
    ranges: Vec<Range>,
    /// Quotients that are integers, of several atoms each.
    integers: Vec<Term>,
    /// Sums that are not negative, of several atoms each, which stand beside them as a set of bits.
    not_negative: Vec<(u64, Sum)>,
    /// The steps taken so far.
    steps: Cell<usize>,
}

/// The values that an atom may have.
#[derive(Clone, Copy, Debug)]
struct Range {
    /// Divides each of them.
    multiple: i64,
    lower: Option<i64>,
    upper: Option<i64>,
}

impl Facts {
    /// Another atom, and its least value if that is known.
    pub(super) fn add_atom(&mut self, lower: Option<i64>) {
        self.ranges.push(Range {
            multiple: 1,
            lower,
            upper: None,
        });
    }

    /// Takes a condition as given.
    pub(super) fn learn(&mut self, check: &Check) -> Result<(), LayoutError> {
        match check {
            Check::Divides { divisor, dividend } => {
                let quotient = dividend.checked_div(divisor).ok_or_else(overflow)?;
                match self.range_of_multiples(&quotient) {
                    Some((atom, range)) => self.ranges[atom] = range,
                    None => self.integers.push(quotient),
                }
            }
            Check::AtMost { left, right } => {
                self.learn_not_negative(right.clone().minus(left).ok_or_else(overflow)?);
            }
        }
        Ok(())
    }

    /// Takes as given that a sum is not negative.
    pub(super) fn learn_not_negative(&mut self, sum: Sum) {
        match self.range_above_zero(&sum) {
            Some((atom, range)) => self.ranges[atom] = range,
            None => self.not_negative.push((atoms_of(&sum), sum)),
        }
    }

    /// Whether a condition holds.
    pub(super) fn holds(&self, check: &Check) -> Answer {
        match check {
            Check::Divides { divisor, dividend } => self.divides(divisor, dividend),
            Check::AtMost { left, right } => match right.clone().minus(left) {
                Some(difference) => self.not_negative(&difference),
                None => Answer::Maybe,
            },
        }
    }

    /// Whether both are the same number.
    pub(super) fn equal(&self, left: &Sum, right: &Sum) -> Answer {
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

    /// Whether so many steps have been taken that questions are left open.
    pub(super) fn is_exhausted(&self) -> bool {
        self.steps.get() > MAX_STEPS
    }

    /// Counts an operation.
    pub(super) fn count_operation(&self) -> Option<()> {
        self.spend(OPERATION)
    }

    /// The same atoms, of which nothing is known.
    pub(super) fn forgotten(&self) -> Self {
        let mut forgotten = Self {
            steps: self.steps.clone(),
            ..Self::default()
        };
        self.ranges.iter().for_each(|_| forgotten.add_atom(None));
        forgotten
    }

    /// The steps taken so far.
    pub(super) fn steps(&self) -> usize {
        self.steps.get()
    }

    /// Counts the steps that a copy has taken.
    pub(super) fn count_steps_of(&self, copy: &Self) {
        self.steps.set(copy.steps.get());
    }

    /// Counts steps; `None` where they are too many.
    fn spend(&self, steps: usize) -> Option<()> {
        self.steps.set(self.steps.get().saturating_add(steps));
        (!self.is_exhausted()).then_some(())
    }
}

/// Multiples.
impl Facts {
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
        let range = self.range_of_multiples(&quotient);
        let is_out_of_range = range.is_some_and(|(_, range)| range.is_empty());
        let is_less = || {
            let less = Sum::from(divisor)
                .add(&Term::ONE, -1)
                .and_then(|divisor| divisor.minus(&dividend.into()));
            self.is_positive(dividend)
                && less.is_some_and(|difference| self.is_natural(&difference))
        };
        match quotient.powers().is_empty() || is_out_of_range || is_less() {
            true => Answer::Never,
            false => Answer::Maybe,
        }
    }

    /// A quotient is an integer by itself, by the multiples that its atoms are, or because one or two quotients are that
    /// divide it.
    fn is_integer(&self, quotient: &Term) -> bool {
        if self.is_multiple(quotient) {
            return true;
        }
        // One of them has the first atom below the line that the quotient has there.
        let below = quotient.powers().iter().find(|&&(_, power)| power < 0);
        let is_below = |known: &&Term| {
            let mut powers = known.powers().iter();
            below.is_none_or(|(atom, _)| powers.any(|(other, power)| other == atom && *power < 0))
        };
        self.integers.iter().filter(is_below).any(|known| {
            let Some(rest) = self.over(quotient, known) else {
                return false;
            };
            let mut others = self.integers.iter();
            self.is_multiple(&rest)
                || others.any(|known| {
                    let rest = self.over(&rest, known);
                    rest.is_some_and(|rest| self.is_multiple(&rest))
                })
        })
    }

    fn over(&self, dividend: &Term, divisor: &Term) -> Option<Term> {
        self.spend(1 + dividend.powers().len() + divisor.powers().len())?;
        dividend.checked_div(divisor)
    }

    fn is_multiple(&self, quotient: &Term) -> bool {
        if quotient.powers().iter().any(|&(_, power)| power < 0) {
            return false;
        }
        // What of the denominator no factor above is known to be a multiple of.
        let denominator = quotient.denominator().unsigned_abs().into();
        let mut missing: u128 = denominator;
        for (atom, power) in quotient.powers() {
            let multiple = self.ranges[atom.index()].multiple.unsigned_abs().into();
            for _ in 0..power.unsigned_abs().min(u64::BITS) {
                missing /= gcd(missing, multiple);
            }
        }
        missing == 1
    }

    /// The values of an atom for which a quotient is an integer, if it is a fraction of one atom.
    fn range_of_multiples(&self, quotient: &Term) -> Option<(usize, Range)> {
        let [(atom, 1)] = quotient.powers() else {
            return None;
        };
        let range = self.ranges[atom.index()];
        let multiple = lcm(range.multiple, quotient.denominator())?;
        Some((atom.index(), Range { multiple, ..range }.rounded()))
    }
}

/// Comparisons.
impl Facts {
    /// Whether a term is at least 1.
    pub(super) fn is_positive(&self, term: &Term) -> bool {
        let above = Sum::from(term).add(&Term::ONE, -1);
        above.is_some_and(|above| self.is_natural(&above))
    }

    /// Whether a sum is at least 0.
    pub(super) fn is_natural(&self, sum: &Sum) -> bool {
        self.is_at_least_zero(sum) || self.is_above_a_fact(sum)
    }

    fn not_negative(&self, sum: &Sum) -> Answer {
        // The sum is negative where -sum - 1 is not.
        let opposite = Sum::from(-1).minus(sum);
        let opposite =
            |is_natural: &dyn Fn(&Sum) -> bool| opposite.as_ref().is_some_and(is_natural);
        if self.is_at_least_zero(sum) {
            Answer::Always
        } else if opposite(&|sum| self.is_at_least_zero(sum)) {
            Answer::Never
        } else if self.is_above_a_fact(sum) {
            Answer::Always
        } else if opposite(&|sum| self.is_above_a_fact(sum)) {
            Answer::Never
        } else {
            Answer::Maybe
        }
    }

    /// Whether a sum is at least another that is not negative.
    fn is_above_a_fact(&self, sum: &Sum) -> bool {
        let atoms = atoms_of(sum);
        let mut facts = self.not_negative.iter();
        facts.any(|(others, known)| {
            atoms & others != 0
                && sum
                    .clone()
                    .minus(known)
                    .is_some_and(|rest| self.is_at_least_zero(&rest))
        })
    }

    /// Whether a sum is at least 0 by the ranges of its atoms.
    fn is_at_least_zero(&self, sum: &Sum) -> bool {
        self.least(sum).is_some_and(|least| least >= 0)
    }

    /// What a sum times some positive number is at least; `None` where nothing is known, or where it may be negative.
    fn least(&self, sum: &Sum) -> Option<i128> {
        let mut sum = self.without_common_factor(sum)?;
        while let Some(values) = self.least_at(&sum)? {
            sum = sum.substituted(&values)?;
        }
        let lower: Vec<_> = self.ranges.iter().map(|range| range.lower).collect();
        let first = sum.substituted(&lower);
        if first.is_some_and(|first| first.constant_part().0 < 0) {
            return None;
        }
        // In `atom - lower`, terms with a positive coefficient only add.
        for atom in atoms_in(&sum) {
            match lower[atom.index()]? {
                0 => {}
                lower => {
                    self.spend(sum.weight_of_powers(&atom))?;
                    sum = sum.shifted(&atom, lower)?;
                }
            }
        }
        let common = sum.parts().try_fold(1i128, |common, (_, (_, below))| {
            let divisor = i128::try_from(gcd(common.unsigned_abs(), below.unsigned_abs())).ok()?;
            (common / divisor).checked_mul(below)
        })?;
        sum.parts()
            .try_fold(0i128, |least, (powers, (above, below))| {
                let coefficient = above.checked_mul(common / below)?;
                let least_of_term = match (powers.is_empty(), coefficient > 0) {
                    (true, _) => coefficient,
                    (_, true) => 0,
                    (_, false) => powers.iter().try_fold(coefficient, |most, (atom, power)| {
                        let Range { lower, upper, .. } = self.ranges[atom.index()];
                        let width = i128::from(upper?) - i128::from(lower?);
                        most.checked_mul(width.checked_pow(power.unsigned_abs())?)
                    })?,
                };
                least.checked_add(least_of_term)
            })
    }

    /// What a positive integer is at least, by the ranges of its atoms; `None` where that does not fit.
    pub(super) fn least_positive(&self, term: &Term) -> Option<i128> {
        let factors = term.powers().iter().map(|(atom, power)| {
            let lower = self.ranges[atom.index()].lower.filter(|&lower| lower > 0)?;
            Some((i128::from(lower), u32::try_from(*power).ok()?))
        });
        // Of a fraction, or where an atom may be anything, no more than that it is positive.
        match factors.collect::<Option<Vec<_>>>() {
            Some(factors) if term.denominator() == 1 => {
                let start = i128::from(term.numerator()).max(1);
                let mut factors = factors.into_iter();
                factors.try_fold(start, |least, (lower, power)| {
                    least.checked_mul(lower.checked_pow(power)?)
                })
            }
            _ => Some(1),
        }
    }

    /// A sum with the same sign, without negative exponents and without an atom in every term; `None` where atoms below
    /// the line may be 0 or negative.
    fn without_common_factor(&self, sum: &Sum) -> Option<Sum> {
        self.spend(sum.weight())?;
        // Of each atom by its number: the least exponent, in how many terms, and the atom.
        let mut used: Vec<Option<(i32, usize, &Atom)>> = vec![None; self.ranges.len()];
        for (atom, power) in sum.parts().flat_map(|(powers, _)| powers) {
            let (least, count, _) = used[atom.index()].get_or_insert((*power, 0, atom));
            (*least, *count) = ((*least).min(*power), *count + 1);
        }
        let terms = sum.parts().count();
        let mut factor = Vec::new();
        for (least, count, atom) in used.into_iter().flatten() {
            let least = if count < terms { least.min(0) } else { least };
            let lower = self.ranges[atom.index()].lower;
            match lower.is_some_and(|lower| lower >= 1) {
                true if least != 0 => factor.push((atom.clone(), least.checked_neg()?)),
                false if least < 0 => return None,
                _ => {}
            }
        }
        match factor.is_empty() {
            true => Some(sum.clone()),
            false => sum.times_powers(&factor),
        }
    }

    /// For each atom by its number the value at which a sum is least, where that is the same whatever the others are; no
    /// list where there is no such atom, `None` where the sum has no least value.
    fn least_at(&self, sum: &Sum) -> Option<Option<Vec<Option<i64>>>> {
        self.spend(sum.weight())?;
        let may_be_negative = |atom: &Atom| {
            let lower = self.ranges[atom.index()].lower;
            lower.is_none_or(|lower| lower < 0)
        };
        // Atoms in terms that are added, in terms that are subtracted, and beside factors that may be negative.
        let (mut added, mut subtracted, mut unclear) = (0u64, 0u64, 0u64);
        for (powers, (above, _)) in sum.parts() {
            let atoms = mask(powers);
            let negative = powers.iter().filter(|(atom, _)| may_be_negative(atom));
            match &negative.collect::<Vec<_>>()[..] {
                [] => {}
                [(atom, 1)] => unclear |= atoms & !bit(atom),
                _ => unclear |= atoms,
            }
            match above > 0 {
                true => added |= atoms,
                false => subtracted |= atoms,
            }
        }
        let mut values = vec![None; self.ranges.len()];
        for i in numbers_in(added | subtracted) {
            let occurs = |atoms: u64| atoms >> i & 1 == 1;
            let Range { lower, upper, .. } = self.ranges[i];
            values[i] = match (occurs(added), occurs(subtracted)) {
                _ if lower.is_some() && lower == upper => lower,
                _ if occurs(unclear) => None,
                (true, true) => None,
                (true, false) => Some(lower?),
                (false, _) => Some(upper?),
            };
        }
        Some(values.iter().any(Option::is_some).then_some(values))
    }

    /// The values of an atom for which a sum is not negative, if it is a multiple of one atom and a constant.
    fn range_above_zero(&self, sum: &Sum) -> Option<(usize, Range)> {
        let mut parts = sum.parts().filter(|(powers, _)| !powers.is_empty());
        let ([(atom, 1)], (above, below)) =
            parts.next().map(|(powers, ratio)| (&powers[..], ratio))?
        else {
            return None;
        };
        if parts.next().is_some() {
            return None;
        }
        // above/below * atom + constant/under >= 0
        let (constant, under) = sum.constant_part();
        let (numerator, denominator) = (constant.checked_mul(below)?, above.checked_mul(under)?);
        let range = self.ranges[atom.index()];
        let range = match denominator > 0 {
            true => {
                let above = numerator.checked_div_euclid(denominator)?.checked_neg()?;
                let lower = i64::try_from(above).ok()?;
                let lower = Some(range.lower.map_or(lower, |old| old.max(lower)));
                Range { lower, ..range }
            }
            false => {
                let below = numerator.checked_div_euclid(denominator.checked_neg()?)?;
                let upper = i64::try_from(below).ok()?;
                let upper = Some(range.upper.map_or(upper, |old| old.min(upper)));
                Range { upper, ..range }
            }
        };
        Some((atom.index(), range.rounded()))
    }
}

impl Range {
    /// The same values, with bounds that are among them.
    fn rounded(self) -> Self {
        let Self { multiple, .. } = self;
        let up = |lower: i64| match lower.rem_euclid(multiple) {
            0 => lower,
            rest => lower.checked_add(multiple - rest).unwrap_or(lower),
        };
        let down = |upper: i64| {
            let rest = upper.rem_euclid(multiple);
            upper.checked_sub(rest).unwrap_or(upper)
        };
        let (lower, upper) = (self.lower.map(up), self.upper.map(down));
        let only = lower.filter(|&only| only > 0 && upper == Some(only));
        Self {
            multiple: only.unwrap_or(multiple),
            lower,
            upper,
        }
    }

    fn is_empty(self) -> bool {
        let bounds = self.lower.zip(self.upper);
        bounds.is_some_and(|(lower, upper)| upper < lower)
    }
}

/// The atoms of a sum, each once, in order.
fn atoms_in(sum: &Sum) -> Vec<Atom> {
    let atoms = sum.parts().flat_map(|(powers, _)| powers);
    let mut atoms: Vec<_> = atoms.map(|(atom, _)| atom.clone()).collect();
    atoms.sort();
    atoms.dedup();
    atoms
}

/// The atoms of a sum as a set of bits.
fn atoms_of(sum: &Sum) -> u64 {
    sum.parts()
        .fold(0, |atoms, (powers, _)| atoms | mask(powers))
}

/// The numbers of the atoms in a set of bits.
fn numbers_in(atoms: u64) -> impl Iterator<Item = usize> {
    let without_first = |atoms: &u64| Some(atoms & (atoms - 1)).filter(|&rest| rest != 0);
    let sets = std::iter::successors(Some(atoms).filter(|&atoms| atoms != 0), without_first);
    sets.map(|atoms| atoms.trailing_zeros() as usize)
}

fn mask(powers: &[(Atom, i32)]) -> u64 {
    powers.iter().fold(0, |atoms, (atom, _)| atoms | bit(atom))
}

/// There are at most 64 atoms.
fn bit(atom: &Atom) -> u64 {
    1 << atom.index()
}

fn lcm(a: i64, b: i64) -> Option<i64> {
    let common = gcd(a.unsigned_abs().into(), b.unsigned_abs().into());
    a.checked_div(i64::try_from(common).ok()?)?.checked_mul(b)
}
