//! Terms, `numerator/denominator * product of atoms`, and sums of them.

use crate::integer::{Integer, Source};
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::hash::{Hash, Hasher};

/// A run-time integer: its index in the [`Scope`](super::Scope), and its name for messages. Atoms are compared by index,
/// so only atoms of one scope can be compared.
#[derive(Clone, Debug)]
pub struct Atom {
    index: usize,
    name: Arc<str>,
}

impl Atom {
    pub(super) fn new(index: usize, name: &str) -> Self {
        Self {
            index,
            name: name.into(),
        }
    }

    /// The index among the atoms of the scope, counted from 0.
    pub fn index(&self) -> usize {
        self.index
    }

    /// The variable or the expression for its value, as printed.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl PartialEq for Atom {
    fn eq(&self, other: &Self) -> bool {
        self.index == other.index
    }
}

impl Eq for Atom {}

impl PartialOrd for Atom {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Atom {
    fn cmp(&self, other: &Self) -> Ordering {
        self.index.cmp(&other.index)
    }
}

impl Hash for Atom {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.index.hash(state);
    }
}

/// Atoms with their exponents, ascending by atom. No exponent is 0.
pub(super) type Powers = Vec<(Atom, i32)>;

/// A constant times a product of atoms. A quotient such as `m/64` is a term as well. A layout contains such a quotient
/// only if the division is exact, by a fact or by a check.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Term {
    numerator: i64,
    denominator: i64,
    powers: Powers,
}

impl Term {
    /// The constant 1.
    pub const ONE: Self = Self {
        numerator: 1,
        denominator: 1,
        powers: Vec::new(),
    };

    /// The constant 0.
    pub const ZERO: Self = Self {
        numerator: 0,
        denominator: 1,
        powers: Vec::new(),
    };

    /// The term that is one atom.
    pub fn atom(atom: Atom) -> Self {
        Self {
            powers: vec![(atom, 1)],
            ..Self::ONE
        }
    }

    /// The numerator of the constant, with the sign.
    pub fn numerator(&self) -> i64 {
        self.numerator
    }

    /// The denominator of the constant in lowest terms, at least 1.
    pub fn denominator(&self) -> i64 {
        self.denominator
    }

    /// The atoms with their exponents, ascending by atom. Exponents are negative below the fraction bar, and never 0.
    pub fn powers(&self) -> &[(Atom, i32)] {
        &self.powers
    }

    /// The number, if there are no atoms and no denominator.
    pub fn as_constant(&self) -> Option<i64> {
        (self.powers.is_empty() && self.denominator == 1).then_some(self.numerator)
    }

    /// Whether this is the number 1.
    pub fn is_one(&self) -> bool {
        *self == Self::ONE
    }

    /// Whether this is the number 0.
    pub fn is_zero(&self) -> bool {
        self.numerator == 0
    }

    /// The product; `None` where a number does not fit 64 bits.
    pub fn checked_mul(&self, other: &Self) -> Option<Self> {
        Self::reduced(
            i128::from(self.numerator) * i128::from(other.numerator),
            i128::from(self.denominator) * i128::from(other.denominator),
            multiply_powers(&self.powers, &other.powers, 1)?,
        )
    }

    /// The quotient as a term. It need not be an integer. `None` for a division by 0, and where a number does not fit 64
    /// bits.
    pub fn checked_div(&self, other: &Self) -> Option<Self> {
        let sign = i128::from(other.numerator.signum());
        Self::reduced(
            sign * i128::from(self.numerator) * i128::from(other.denominator),
            i128::from(self.denominator) * i128::from(other.numerator).abs(),
            multiply_powers(&self.powers, &other.powers, -1)?,
        )
    }

    fn reduced(numerator: i128, denominator: i128, powers: Powers) -> Option<Self> {
        let (numerator, denominator) = reduce(numerator, denominator)?;
        Some(Self {
            numerator: i64::try_from(numerator).ok()?,
            denominator: i64::try_from(denominator).ok()?,
            powers: if numerator == 0 { Vec::new() } else { powers },
        })
    }

    /// The value for these values of the atoms by index; `None` where it is not an integer or does not fit 128 bits.
    pub fn evaluate(&self, atoms: &[i64]) -> Option<i128> {
        let powers = self.powers.iter().map(|(atom, power)| (atom.index, *power));
        let powers: Vec<_> = powers.collect();
        evaluate(self.numerator, self.denominator, &powers, atoms)
    }
}

/// The value of `numerator/denominator * product of powers`, where a power is an index into `atoms` and an exponent;
/// `None` where it is not an integer or does not fit 128 bits.
pub const fn evaluate(
    numerator: i64,
    denominator: i64,
    powers: &[(usize, i32)],
    atoms: &[i64],
) -> Option<i128> {
    let (mut above, mut below) = (numerator as i128, denominator as i128);
    let mut i = 0;
    while i < powers.len() {
        let (atom, power) = powers[i];
        if atom >= atoms.len() {
            return None;
        }
        let Some(factor) = (atoms[atom] as i128).checked_pow(power.unsigned_abs()) else {
            return None;
        };
        let side = if power > 0 { &mut above } else { &mut below };
        let Some(product) = side.checked_mul(factor) else {
            return None;
        };
        *side = product;
        i += 1;
    }
    match above.checked_rem(below) {
        Some(0) => Some(above / below),
        _ => None,
    }
}

impl Integer for Term {
    type Sum = Sum;
    type Sources = Vec<Source<Term>>;

    const ZERO: Self = Term::ZERO;
    const ONE: Self = Term::ONE;

    fn as_constant(&self) -> Option<i64> {
        self.as_constant()
    }

    fn times(&self, factor: &Self) -> Option<Self> {
        self.checked_mul(factor)
    }

    fn over(&self, divisor: &Self) -> Option<Self> {
        self.checked_div(divisor)
    }

    fn plus(sum: &Sum, other: &Sum) -> Option<Sum> {
        sum.clone().plus(other)
    }

    fn multiply(sum: &Sum, other: &Sum) -> Option<Sum> {
        sum.times(other)
    }

    fn number(sum: &Sum) -> Option<i64> {
        sum.as_constant()
    }

    /// 0: the sign of a stride and the size of its reach are not known before the atoms have values.
    fn reach(&self, _: &Self) -> Option<Sum> {
        Some(Sum::default())
    }
}

impl From<i64> for Term {
    fn from(value: i64) -> Self {
        Self {
            numerator: value,
            ..Self::ONE
        }
    }
}

/// A sum of terms with different products of atoms.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Sum {
    /// Products of atoms in ascending order, with coefficients (numerator, denominator) that are not 0.
    terms: Vec<(Powers, (i128, i128))>,
}

/// The cost of a term, in addition to a cost of 1 for each atom.
const FACTORS: usize = 4;

/// The largest number of terms in a product or a shifted sum. It bounds the work.
const MAX_TERMS: usize = 256;

impl Sum {
    /// The sum plus `factor * term`; `None` where a number does not fit 64 bits.
    pub fn add(mut self, term: &Term, factor: i64) -> Option<Self> {
        let numerator = i128::from(term.numerator).checked_mul(i128::from(factor))?;
        self.add_ratio(
            term.powers.clone(),
            (numerator, i128::from(term.denominator)),
        )?;
        self.narrow()
    }

    /// The sum of both; `None` where a number does not fit 64 bits.
    pub fn plus(mut self, other: &Self) -> Option<Self> {
        for (powers, ratio) in &other.terms {
            self.add_ratio(powers.clone(), *ratio)?;
        }
        self.narrow()
    }

    /// The product; `None` where a number does not fit 64 bits, or where it has more than 256 terms.
    pub fn times(&self, other: &Self) -> Option<Self> {
        let mut product = Self::default();
        for (powers, (above, below)) in &self.terms {
            for (others, (numerator, denominator)) in &other.terms {
                let ratio = (
                    above.checked_mul(*numerator)?,
                    below.checked_mul(*denominator)?,
                );
                product.add_ratio(multiply_powers(powers, others, 1)?, ratio)?;
            }
            if product.terms.len() > MAX_TERMS {
                return None;
            }
        }
        product.narrow()
    }

    /// The same value as a term, if the sum has at most one.
    pub fn as_term(&self) -> Option<Term> {
        match self.terms.len() {
            0 => Some(Term::ZERO),
            1 => self.terms().next(),
            _ => None,
        }
    }

    /// The sum itself, if all coefficients fit 64 bits.
    fn narrow(self) -> Option<Self> {
        let fits = |(_, (above, below)): &(Powers, (i128, i128))| {
            i64::try_from(*above).is_ok() && i64::try_from(*below).is_ok()
        };
        self.terms.iter().all(fits).then_some(self)
    }

    /// The difference; `None` where a number does not fit 128 bits.
    pub fn minus(mut self, other: &Self) -> Option<Self> {
        for (powers, (numerator, denominator)) in &other.terms {
            self.add_ratio(powers.clone(), (numerator.checked_neg()?, *denominator))?;
        }
        Some(self)
    }

    /// The number, if there are no atoms and it is an integer.
    pub fn as_constant(&self) -> Option<i64> {
        let (numerator, denominator) = self.constant_part();
        let only = self.terms.iter().all(|(powers, _)| powers.is_empty());
        (only && denominator == 1).then(|| i64::try_from(numerator).ok())?
    }

    /// The terms in a fixed order, the constant first.
    pub fn terms(&self) -> impl Iterator<Item = Term> {
        self.terms
            .iter()
            .filter_map(|(powers, (numerator, denominator))| {
                Term::reduced(*numerator, *denominator, powers.clone())
            })
    }

    /// The value for these values of the atoms by index; `None` where a term is not an integer or a number does not fit
    /// 128 bits.
    pub fn evaluate(&self, atoms: &[i64]) -> Option<i128> {
        self.terms()
            .try_fold(0i128, |sum, term| sum.checked_add(term.evaluate(atoms)?))
    }

    /// The constant summand, as numerator and denominator.
    pub(super) fn constant_part(&self) -> (i128, i128) {
        match self.terms.first() {
            Some((powers, ratio)) if powers.is_empty() => *ratio,
            _ => (0, 1),
        }
    }

    /// The products of atoms, each with its coefficient as numerator and denominator.
    pub(super) fn parts(&self) -> impl Iterator<Item = (&Powers, (i128, i128))> {
        self.terms.iter().map(|(powers, ratio)| (powers, *ratio))
    }

    /// The product with powers of atoms; `None` where an exponent does not fit 32 bits.
    pub(super) fn times_powers(&self, factor: &[(Atom, i32)]) -> Option<Self> {
        let mut product = Self::default();
        for (powers, ratio) in &self.terms {
            product.add_ratio(multiply_powers(powers, factor, 1)?, *ratio)?;
        }
        Some(product)
    }

    /// The sum with some atoms replaced by `values`, an entry for each atom index; `None` where a number does not fit
    /// 128 bits.
    pub(super) fn substituted(&self, values: &[Option<i64>]) -> Option<Self> {
        let mut substituted = Self::default();
        for &(ref powers, (mut above, below)) in &self.terms {
            let mut rest = Powers::new();
            for (atom, power) in powers {
                match values[atom.index()] {
                    Some(value) => {
                        let factor = i128::from(value).checked_pow(u32::try_from(*power).ok()?)?;
                        above = above.checked_mul(factor)?;
                    }
                    None => rest.push((atom.clone(), *power)),
                }
            }
            substituted.add_ratio(rest, (above, below))?;
        }
        Some(substituted)
    }

    /// The cost in steps of looking at all terms.
    pub(super) fn weight(&self) -> usize {
        self.parts().map(|(powers, _)| FACTORS + powers.len()).sum()
    }

    /// The cost in steps of [`Self::shifted`]: it replaces each power of the atom by a sum of all lower powers.
    pub(super) fn weight_of_powers(&self, atom: &Atom) -> usize {
        let weight = |powers: &Powers| {
            let power = powers.iter().find(|(known, _)| known == atom);
            let lower = power.map_or(0, |(_, power)| power.unsigned_abs() as usize);
            (FACTORS + powers.len()) * (1 + lower)
        };
        self.parts().map(|(powers, _)| weight(powers)).sum()
    }

    /// The same sum written in t = `atom - lower`, with the atom standing for t; `None` where the atom has a negative
    /// exponent, or where the result has more than 256 terms.
    pub(super) fn shifted(&self, atom: &Atom, lower: i64) -> Option<Self> {
        let mut shifted = Self::default();
        for (powers, ratio) in &self.terms {
            let power = powers
                .iter()
                .find(|(known, _)| known == atom)
                .map_or(0, |(_, power)| *power);
            let power = u32::try_from(power).ok()?;
            let mut rest = powers.clone();
            rest.retain(|(known, _)| known != atom);
            // The atom is t + lower: (t + lower)^power by the binomial theorem.
            let mut binomial = 1i128;
            for k in 0..=power {
                let factor = i128::from(lower).checked_pow(power - k)?;
                let numerator = ratio.0.checked_mul(binomial)?.checked_mul(factor)?;
                let taken = [(atom.clone(), i32::try_from(k).ok()?)];
                let powers = multiply_powers(&rest, &taken, 1)?;
                shifted.add_ratio(powers, (numerator, ratio.1))?;
                binomial =
                    binomial.checked_mul(i128::from(power - k))? / i128::from(k.checked_add(1)?);
            }
            if shifted.terms.len() > MAX_TERMS {
                return None;
            }
        }
        Some(shifted)
    }

    fn add_ratio(&mut self, powers: Powers, (numerator, denominator): (i128, i128)) -> Option<()> {
        match self.terms.binary_search_by(|(known, _)| known.cmp(&powers)) {
            Ok(i) => {
                let (old, under) = self.terms[i].1;
                let sum = old
                    .checked_mul(denominator)?
                    .checked_add(numerator.checked_mul(under)?)?;
                match reduce(sum, under.checked_mul(denominator)?)? {
                    (0, _) => drop(self.terms.remove(i)),
                    ratio => self.terms[i].1 = ratio,
                }
            }
            Err(i) => match reduce(numerator, denominator)? {
                (0, _) => {}
                ratio => self.terms.insert(i, (powers, ratio)),
            },
        }
        Some(())
    }
}

impl From<&Term> for Sum {
    fn from(term: &Term) -> Self {
        let mut terms = Vec::new();
        if !term.is_zero() {
            let ratio = (i128::from(term.numerator), i128::from(term.denominator));
            terms.push((term.powers.clone(), ratio));
        }
        Self { terms }
    }
}

impl From<Term> for Sum {
    fn from(term: Term) -> Self {
        (&term).into()
    }
}

impl From<i64> for Sum {
    fn from(value: i64) -> Self {
        Term::from(value).into()
    }
}

fn multiply_powers(a: &[(Atom, i32)], b: &[(Atom, i32)], sign: i32) -> Option<Powers> {
    let mut product = Powers::with_capacity(a.len() + b.len());
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    loop {
        let order = match (a.peek(), b.peek()) {
            (Some((left, _)), Some((right, _))) => left.cmp(right),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => return Some(product),
        };
        let left = if order.is_le() { a.next() } else { None };
        let right = if order.is_ge() { b.next() } else { None };
        let power = |side: Option<&(Atom, i32)>| side.map_or(0, |(_, power)| *power);
        let sum = power(left).checked_add(power(right).checked_mul(sign)?)?;
        if let (Some((atom, _)), true) = (left.or(right), sum != 0) {
            product.push((atom.clone(), sum));
        }
    }
}

/// The fraction in lowest terms with a positive denominator; `None` if the denominator is 0.
fn reduce(numerator: i128, denominator: i128) -> Option<(i128, i128)> {
    let common = gcd(numerator.unsigned_abs(), denominator.unsigned_abs());
    let common = i128::try_from(common).ok().filter(|&common| common != 0)?;
    match denominator {
        0 => None,
        1.. => Some((numerator / common, denominator / common)),
        _ => Some((
            (numerator / common).checked_neg()?,
            (denominator / common).checked_neg()?,
        )),
    }
}

pub(super) fn gcd(a: u128, b: u128) -> u128 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
