//! Terms, sums, checks and origins as text of the notation, which is also Rust. All of it can be read back.
//!
//! Factors and terms are in the order of their names, so that a product has the same text wherever it is computed. A computed
//! integer other than a term is in braces: `{m + n}` is one integer.

use super::check::Check;
use super::name::{has_layout_name, is_path};
use super::scope::Origin;
use super::term::{Atom, Sum, Term};
use crate::integer::Leaf;
use alloc::format;
use alloc::string::String;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::fmt;

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let powers = by_name(self);
        let side = |positive: bool, constant: u64| {
            let mut factors = Vec::new();
            if constant != 1 {
                factors.push(constant.to_string());
            }
            for (atom, power) in &powers {
                let repeats = match (*power > 0) == positive {
                    true => power.unsigned_abs(),
                    false => 0,
                };
                factors.extend((0..repeats).map(|_| atom.name().to_string()));
            }
            factors
        };
        let above = side(true, self.numerator().unsigned_abs());
        let below = side(false, self.denominator().unsigned_abs());
        if self.numerator() < 0 {
            f.write_str("-")?;
        }
        match above.is_empty() {
            true => f.write_str("1")?,
            false => f.write_str(&above.join("*"))?,
        }
        match &below[..] {
            [] => Ok(()),
            [only] => write!(f, "/{only}"),
            _ => write!(f, "/({})", below.join("*")),
        }
    }
}

/// First the terms that are added, then those that are subtracted, each with the constant last.
impl fmt::Display for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut terms: Vec<_> = self.terms().collect();
        terms.sort_by(|a, b| {
            let kind = |term: &Term| (term.numerator() < 0, term.powers().is_empty());
            kind(a).cmp(&kind(b)).then_with(|| compare_names(a, b))
        });
        for (i, term) in terms.iter().enumerate() {
            let shown = term.to_string();
            match shown.strip_prefix('-') {
                _ if i == 0 => f.write_str(&shown)?,
                Some(magnitude) => write!(f, " - {magnitude}")?,
                None => write!(f, " + {shown}")?,
            }
        }
        match terms.is_empty() {
            true => f.write_str("0"),
            false => Ok(()),
        }
    }
}

impl Leaf for Term {
    fn fmt_leaf(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }

    fn fmt_beside_colon(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&beside_colon(&self.into()))
    }

    fn fmt_operand(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&operand(&self.into()))
    }
}

impl Leaf for Sum {
    fn fmt_leaf(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }

    fn fmt_operand(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&operand(self))
    }
}

/// As a Rust condition.
impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Divides { divisor, dividend } => {
                write!(f, "{dividend} % {} == 0", factor(divisor))
            }
            Self::AtMost { left, right } => at_most(left, right, f),
        }
    }
}

/// `left <= right`, with the constant on one side, where it is added: `m < n` for `m - 1 <= n - 2`.
fn at_most(left: &Sum, right: &Sum, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let split = |sum: &Sum| {
        let (numerator, denominator) = sum.constant_part();
        let constant = i64::try_from(numerator).ok().filter(|_| denominator == 1)?;
        Some((sum.clone().add(&constant.into(), -1)?, constant))
    };
    let apart = split(left).zip(split(right));
    let apart = apart.and_then(|((left, a), (right, b))| Some((left, right, a.checked_sub(b)?)));
    let both = (left, right);
    let Some((left, right, difference)) = apart else {
        return write!(f, "{left} <= {right}");
    };
    let is_zero = |sum: &Sum| *sum == Sum::default();
    let plus = |sum: &Sum, constant: i64| sum.clone().add(&constant.into(), 1);
    let most = difference.checked_neg();
    match (is_zero(&left), is_zero(&right), difference, most) {
        (true, true, ..) => write!(f, "{} >= {}", both.1, both.0),
        (true, _, least, _) => write!(f, "{right} >= {least}"),
        (_, true, _, Some(most)) => write!(f, "{left} <= {most}"),
        (_, _, 0, _) => write!(f, "{left} <= {right}"),
        (_, _, 1, _) => write!(f, "{left} < {right}"),
        (_, _, 2.., _) => match plus(&left, difference) {
            Some(left) => write!(f, "{left} <= {right}"),
            None => write!(f, "{left} <= {right} - {difference}"),
        },
        (.., most) => match most.and_then(|most| plus(&right, most)) {
            Some(right) => write!(f, "{left} <= {right}"),
            None => write!(f, "{left} - {difference} <= {right}"),
        },
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Captured(name) if is_path(name) => f.write_str(name),
            Self::Captured(expression) => write!(f, "{{{expression}}}"),
            Self::Ceiling(dividend, divisor) => {
                write!(f, "{}.div_ceil({divisor})", factor(dividend))
            }
            Self::Quotient(sum, divisor) if divisor.is_one() => write!(f, "{{{sum}}}"),
            Self::Quotient(dividend, divisor) => match dividend.as_term() {
                Some(dividend) => write!(f, "{{{dividend}/{}}}", factor(divisor)),
                None => write!(f, "{{({dividend})/{}}}", factor(divisor)),
            },
            Self::Swizzled(swizzle, index) => write!(f, "crd2idx({},{swizzle})", operand(index)),
        }
    }
}

/// A sum beside the `:` of a layout, where a quotient is in braces, since `/` binds less than `:`.
fn beside_colon(sum: &Sum) -> String {
    let text = sum.to_string();
    match has_quotient(sum) {
        true => format!("{{{text}}}"),
        false => text,
    }
}

/// A sum where a layout may stand. Braces are around quotients and around names that would be read as layouts.
fn operand(sum: &Sum) -> String {
    let text = sum.to_string();
    match has_quotient(sum) || has_layout_name(&text) {
        true => format!("{{{text}}}"),
        false => text,
    }
}

fn has_quotient(sum: &Sum) -> bool {
    let is_below = |(_, power): &(Atom, i32)| *power < 0;
    sum.terms()
        .any(|term| term.denominator() != 1 || term.powers().iter().any(is_below))
}

/// A term where a single factor may stand.
fn factor(term: &Term) -> String {
    let parts = (term.numerator(), term.denominator(), term.powers());
    let is_single = matches!(parts, (0.., 1, []) | (1, 1, [(_, 1)]));
    match is_single {
        true => term.to_string(),
        false => format!("({term})"),
    }
}

/// The atoms of a term with their exponents, in the order of their names.
fn by_name(term: &Term) -> Vec<&(Atom, i32)> {
    let mut powers: Vec<_> = term.powers().iter().collect();
    powers.sort_by(|(a, _), (b, _)| a.name().cmp(b.name()));
    powers
}

fn compare_names(a: &Term, b: &Term) -> Ordering {
    let names = |term| {
        let powers = by_name(term).into_iter();
        powers.map(|(atom, power)| (atom.name(), *power))
    };
    names(a).cmp(names(b))
}
