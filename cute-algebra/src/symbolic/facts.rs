//! The facts about run-time integers, and the conditions that follow from them.

use super::check::Check;
use super::term::{Atom, Sum, Term, gcd};
use crate::domain::{Answer, overflow};
use crate::error::LayoutError;
use alloc::vec;
use alloc::vec::Vec;
use core::cell::Cell;

/// Most steps to decide conditions about one layout. A step looks at one factor of one term. This many steps take less
/// than a second, even in a build without optimisation.
pub const MAX_STEPS: usize = 1 << 20;

/// Steps counted for each operation, in addition to the steps for conditions about its operands.
const OPERATION: usize = 256;

/// The facts about the atoms of a scope.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    /// The possible values of each atom by itself, indexed by [`Atom::index`].
    ranges: Vec<Range>,
    /// Quotients known to be integers; each has several atoms.
    integers: Vec<Term>,
    /// Sums of several atoms known to be at least 0, each with the set of its atoms as bits.
    not_negative: Vec<(u64, Sum)>,
    /// The number of steps taken so far.
    steps: Cell<usize>,
}

/// The values that an atom may have.
#[derive(Clone, Copy, Debug)]
struct Range {
    /// Every value is a multiple of this.
    multiple: i64,
    lower: Option<i64>,
    upper: Option<i64>,
}

impl Facts {
    /// Adds an atom with the least value `lower`, if known.
    pub(super) fn add_atom(&mut self, lower: Option<i64>) {
        self.ranges.push(Range {
            multiple: 1,
            lower,
            upper: None,
        });
    }

    /// Adds a condition to the facts.
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

    /// Adds the fact that a sum is not negative.
    pub(super) fn learn_not_negative(&mut self, sum: Sum) {
        match self.range_above_zero(&sum) {
            Some((atom, range)) => self.ranges[atom] = range,
            None => self.not_negative.push((atoms_of(&sum), sum)),
        }
    }

    /// Whether the facts prove a condition, or its opposite.
    pub(super) fn holds(&self, check: &Check) -> Answer {
        match check {
            Check::Divides { divisor, dividend } => self.divides(divisor, dividend),
            Check::AtMost { left, right } => match right.clone().minus(left) {
                Some(difference) => self.not_negative(&difference),
                None => Answer::Maybe,
            },
        }
    }

    /// Whether the facts prove that both sums are equal, or that they differ.
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

    /// Whether [`MAX_STEPS`] is exceeded. Every further question is then left open.
    pub(super) fn is_exhausted(&self) -> bool {
        self.steps.get() > MAX_STEPS
    }

    /// Counts the steps of one operation; `None` where the limit is exceeded.
    pub(super) fn count_operation(&self) -> Option<()> {
        self.spend(OPERATION)
    }

    /// The same atoms and the same count of steps, without any facts.
    pub(super) fn forgotten(&self) -> Self {
        let mut forgotten = Self {
            steps: self.steps.clone(),
            ..Self::default()
        };
        self.ranges.iter().for_each(|_| forgotten.add_atom(None));
        forgotten
    }

    /// The number of steps taken so far.
    pub(super) fn steps(&self) -> usize {
        self.steps.get()
    }

    /// Takes over the step count of a copy.
    pub(super) fn count_steps_of(&self, copy: &Self) {
        self.steps.set(copy.steps.get());
    }

    /// Counts steps; `None` where the limit is exceeded.
    fn spend(&self, steps: usize) -> Option<()> {
        self.steps.set(self.steps.get().saturating_add(steps));
        (!self.is_exhausted()).then_some(())
    }
}

/// Divisibility.
impl Facts {
    /// Whether the divisor divides the dividend.
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

    /// Whether a quotient is proved to be an integer: from known divisors of its atoms, or as one or two known
    /// integers times such a quotient.
    fn is_integer(&self, quotient: &Term) -> bool {
        if self.is_multiple(quotient) {
            return true;
        }
        // A known integer can help only if its denominator has the first atom of the quotient's denominator.
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
        // The part of the denominator not yet cancelled by known divisors of atoms in the numerator.
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

    /// If a quotient is a constant times one atom: the values of the atom for which it is an integer.
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
    /// Whether a term is proved to be at least 1.
    pub(super) fn is_positive(&self, term: &Term) -> bool {
        let above = Sum::from(term).add(&Term::ONE, -1);
        above.is_some_and(|above| self.is_natural(&above))
    }

    /// Whether a sum is proved to be at least 0.
    pub(super) fn is_natural(&self, sum: &Sum) -> bool {
        self.is_at_least_zero(sum) || self.is_above_a_fact(sum)
    }

    fn not_negative(&self, sum: &Sum) -> Answer {
        // The sum is negative exactly if -sum - 1 is at least 0. The cheaper tests come first.
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

    /// Whether a sum is proved to be at least a sum in `not_negative`.
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

    /// Whether the ranges of its atoms prove that a sum is at least 0.
    fn is_at_least_zero(&self, sum: &Sum) -> bool {
        self.least(sum).is_some_and(|least| least >= 0)
    }

    /// A lower bound of the sum times some positive number; the sign stays the same. `None` where no bound is known, or
    /// where the sum is negative for some values.
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
        // `atom - lower` is at least 0. In this form, a term with a positive coefficient is at least 0.
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

    /// A lower bound of a positive integer by the ranges of its atoms; `None` where the bound does not fit 128 bits.
    pub(super) fn least_positive(&self, term: &Term) -> Option<i128> {
        let factors = term.powers().iter().map(|(atom, power)| {
            let lower = self.ranges[atom.index()].lower.filter(|&lower| lower > 0)?;
            Some((i128::from(lower), u32::try_from(*power).ok()?))
        });
        // For a fraction, or an atom without a positive lower bound, the integer is only known to be positive.
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

    /// A sum with the same sign, without negative exponents and without an atom common to all terms; `None` where an atom
    /// in a denominator may be 0 or negative.
    fn without_common_factor(&self, sum: &Sum) -> Option<Sum> {
        self.spend(sum.weight())?;
        // For each atom, by its index: its least exponent, the number of terms it is in, and the atom.
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

    /// For each atom, by its index: the value at which the sum is least, if that value does not depend on the other
    /// atoms. `Some(None)` where there is no such atom, `None` where the sum has no least value.
    fn least_at(&self, sum: &Sum) -> Option<Option<Vec<Option<i64>>>> {
        self.spend(sum.weight())?;
        let may_be_negative = |atom: &Atom| {
            let lower = self.ranges[atom.index()].lower;
            lower.is_none_or(|lower| lower < 0)
        };
        // Sets of atoms: in added terms, in subtracted terms, in terms with another factor that may be negative.
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

    /// If a sum is a constant plus a constant times one atom: the values of the atom for which it is not negative.
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
    /// The same values, with the bounds moved inwards to multiples of `multiple`.
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

/// The atoms of a sum in ascending order, each once.
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

/// The indices of the atoms in a set of bits, ascending.
fn numbers_in(atoms: u64) -> impl Iterator<Item = usize> {
    let without_first = |atoms: &u64| Some(atoms & (atoms - 1)).filter(|&rest| rest != 0);
    let sets = core::iter::successors(Some(atoms).filter(|&atoms| atoms != 0), without_first);
    sets.map(|atoms| atoms.trailing_zeros() as usize)
}

fn mask(powers: &[(Atom, i32)]) -> u64 {
    powers.iter().fold(0, |atoms, (atom, _)| atoms | bit(atom))
}

/// The set of one atom. An index is below 64, since a scope has at most `MAX_ATOMS` atoms.
fn bit(atom: &Atom) -> u64 {
    1 << atom.index()
}

fn lcm(a: i64, b: i64) -> Option<i64> {
    let common = gcd(a.unsigned_abs().into(), b.unsigned_abs().into());
    a.checked_div(i64::try_from(common).ok()?)?.checked_mul(b)
}
