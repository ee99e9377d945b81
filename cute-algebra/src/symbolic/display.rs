//! Terms, sums, checks and origins as Rust source text.

use super::check::Check;
use super::scope::Origin;
use super::term::{Sum, Term};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::fmt;

/// As a Rust expression.
impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = |positive: bool, constant: i64| {
            let mut factors = Vec::new();
            if constant != 1 {
                factors.push(constant.to_string());
            }
            for (atom, power) in self.powers() {
                let repeats = if (*power > 0) == positive {
                    power.unsigned_abs()
                } else {
                    0
                };
                factors.extend((0..repeats).map(|_| atom.name().to_owned()));
            }
            factors
        };
        let above = side(true, self.numerator());
        let below = side(false, self.denominator());
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

/// As a Rust expression: first the terms that are added, then those that are subtracted, each with the constant last.
impl fmt::Display for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut terms: Vec<_> = self.terms().collect();
        terms.sort_by_key(|term| (term.numerator() < 0, term.powers().is_empty()));
        for (i, term) in terms.iter().enumerate() {
            let shown = term.to_string();
            match shown.strip_prefix('-') {
                Some(magnitude) => {
                    // A coefficient of -1 is shown as a minus sign alone.
                    let magnitude = magnitude.strip_prefix("1*").unwrap_or(magnitude);
                    write!(f, "{}{magnitude}", if i == 0 { "-" } else { " - " })?;
                }
                None if i == 0 => f.write_str(&shown)?,
                None => write!(f, " + {shown}")?,
            }
        }
        match terms.is_empty() {
            true => f.write_str("0"),
            false => Ok(()),
        }
    }
}

/// As a Rust condition.
impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Divides { divisor, dividend } => {
                write!(f, "{dividend} % {} == 0", in_parentheses(divisor))
            }
            Self::AtMost { left, right } if left.as_constant().is_some() => {
                write!(f, "{right} >= {left}")
            }
            Self::AtMost { left, right } => write!(f, "{left} <= {right}"),
        }
    }
}

/// As a Rust expression.
impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Captured(name) => f.write_str(name),
            Self::Ceiling(dividend, divisor) => write!(f, "({dividend}).div_ceil({divisor})"),
            Self::Quotient(sum, divisor) if divisor.is_one() => write!(f, "({sum})"),
            Self::Quotient(dividend, divisor) => {
                let (above, below) = (dividend.to_string(), in_parentheses(divisor));
                match above.contains(' ') {
                    true => write!(f, "(({above})/{below})"),
                    false => write!(f, "({above}/{below})"),
                }
            }
            Self::Swizzled(swizzle, index) => write!(f, "{swizzle}({index})"),
        }
    }
}

fn in_parentheses(divisor: &Term) -> String {
    match divisor.to_string() {
        product if product.contains(['*', '/']) => format!("({product})"),
        factor => factor,
    }
}
