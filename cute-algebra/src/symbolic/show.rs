//! Terms, sums, checks and layouts as text, with the names of their atoms.

use super::layout::SymbolicLayout;
use super::scope::{Check, Origin, Scope};
use super::term::{Sum, Term};
use crate::tuple::Tuple;

impl Scope {
    /// A term as a Rust expression.
    pub fn show(&self, term: &Term) -> String {
        let side = |positive: bool, constant: i64| {
            let mut factors = Vec::new();
            if constant != 1 {
                factors.push(constant.to_string());
            }
            for &(atom, power) in term.powers() {
                let repeats = if (power > 0) == positive {
                    power.unsigned_abs()
                } else {
                    0
                };
                factors.extend((0..repeats).map(|_| self.name(atom)));
            }
            factors
        };
        let (above, below) = (
            side(true, term.numerator()),
            side(false, term.denominator()),
        );
        let above = match above.is_empty() {
            true => "1".to_owned(),
            false => above.join("*"),
        };
        match &below[..] {
            [] => above,
            [only] => format!("{above}/{only}"),
            _ => format!("{above}/({})", below.join("*")),
        }
    }

    /// A sum as a Rust expression, the constant last.
    pub fn show_sum(&self, sum: &Sum) -> String {
        let terms: Vec<_> = sum.terms().collect();
        let (constants, others): (Vec<_>, Vec<_>) =
            terms.into_iter().partition(|term| term.powers().is_empty());
        let mut text = String::new();
        for term in others.iter().chain(&constants) {
            let shown = self.show(term);
            match shown.strip_prefix('-') {
                Some(magnitude) if !text.is_empty() => {
                    // `-1*m` is `m` subtracted.
                    let magnitude = magnitude.strip_prefix("1*").unwrap_or(magnitude);
                    text.push_str(&format!(" - {magnitude}"));
                }
                _ if text.is_empty() => text = shown,
                _ => text.push_str(&format!(" + {shown}")),
            }
        }
        if text.is_empty() {
            "0".to_owned()
        } else {
            text
        }
    }

    /// A check as a Rust condition.
    pub fn show_check(&self, check: &Check) -> String {
        match check {
            Check::Divides { divisor, dividend } => {
                let divisor = match self.show(divisor) {
                    product if product.contains(['*', '/']) => format!("({product})"),
                    factor => factor,
                };
                format!("{} % {divisor} == 0", self.show(dividend))
            }
            Check::AtMost { left, right } if left.as_constant().is_some() => {
                format!("{} >= {}", self.show_sum(right), self.show_sum(left))
            }
            Check::AtMost { left, right } => {
                format!("{} <= {}", self.show_sum(left), self.show_sum(right))
            }
        }
    }

    /// The opposite of `left <= right`.
    pub(super) fn show_opposite(&self, left: &Term, right: &Term) -> String {
        format!("{} > {}", self.show(left), self.show(right))
    }

    fn name(&self, atom: usize) -> String {
        match self.origins().nth(atom) {
            Some(Origin::Captured(name)) => name.clone(),
            Some(Origin::Ceiling(dividend, divisor)) => {
                format!("({}).div_ceil({})", self.show(dividend), self.show(divisor))
            }
            None => "_".to_owned(),
        }
    }
}

impl SymbolicLayout {
    /// `shape:stride`, with the names of the run-time integers.
    pub fn show(&self, scope: &Scope) -> String {
        let side = |stride: bool| {
            show_tuple(
                &self
                    .tree()
                    .map(|mode| scope.show(if stride { &mode.stride } else { &mode.extent })),
            )
        };
        format!("{}:{}", side(false), side(true))
    }
}

pub(super) fn show_tuple(tuple: &Tuple<String>) -> String {
    match tuple {
        Tuple::Leaf(leaf) => leaf.clone(),
        Tuple::Node(modes) => {
            let modes: Vec<_> = modes.iter().map(show_tuple).collect();
            format!("({})", modes.join(","))
        }
    }
}
