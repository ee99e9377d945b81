//! Terms, sums, checks and layouts as text, with the names of their atoms.

use super::composed::SymbolicComposed;
use super::layout::{SymbolicLayout, SymbolicTiler};
use super::scope::{Check, Origin, Scope};
use super::term::{Sum, Term};
use crate::tiler::Tiler;
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

    /// A sum as a Rust expression: what is added, then what is subtracted, each with the constant last.
    pub fn show_sum(&self, sum: &Sum) -> String {
        let mut terms: Vec<_> = sum.terms().collect();
        terms.sort_by_key(|term| (term.numerator() < 0, term.powers().is_empty()));
        let mut text = String::new();
        for term in &terms {
            let shown = self.show(term);
            match shown.strip_prefix('-') {
                Some(magnitude) => {
                    // `-1*m` is `m` subtracted.
                    let magnitude = magnitude.strip_prefix("1*").unwrap_or(magnitude);
                    text.push_str(if text.is_empty() { "-" } else { " - " });
                    text.push_str(magnitude);
                }
                None if text.is_empty() => text = shown,
                None => text.push_str(&format!(" + {shown}")),
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

    /// A stride with the coordinate that it counts along, outermost index last.
    pub(super) fn show_stride(&self, stride: &Term, path: &[usize]) -> String {
        let indices = path.iter().rev().map(|index| format!("@{index}"));
        let value = self.show(stride);
        match path {
            [] => value,
            _ if value.contains(['*', '/']) => format!("({value}){}", indices.collect::<String>()),
            _ => value + &indices.collect::<String>(),
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
            Some(Origin::Quotient(sum, divisor)) if divisor.is_one() => {
                format!("({})", self.show_sum(sum))
            }
            Some(Origin::Quotient(dividend, divisor)) => {
                let (mut above, mut below) = (self.show_sum(dividend), self.show(divisor));
                if above.contains(' ') {
                    above = format!("({above})");
                }
                if below.contains(['*', '/']) {
                    below = format!("({below})");
                }
                format!("({above}/{below})")
            }
            Some(Origin::Swizzled(swizzle, index)) => {
                format!("{swizzle}({})", self.show_sum(index))
            }
            None => "_".to_owned(),
        }
    }
}

impl SymbolicLayout {
    /// `shape:stride`, with the names of the run-time integers.
    pub fn show(&self, scope: &Scope) -> String {
        let shape = self.tree().map(|mode| scope.show(&mode.extent));
        let stride = self
            .tree()
            .map(|mode| scope.show_stride(&mode.stride, &mode.path));
        format!("{}:{}", show_tuple(&shape), show_tuple(&stride))
    }
}

impl SymbolicComposed {
    /// `Sw<B,M,S> o offset o layout`, with the names of the run-time integers.
    pub fn show(&self, scope: &Scope) -> String {
        let (offset, layout) = (scope.show_sum(&self.offset), self.layout.show(scope));
        format!("{} o {offset} o {layout}", self.swizzle)
    }
}

impl SymbolicTiler {
    pub(super) fn show(&self, scope: &Scope) -> String {
        match self {
            Self::Layout(layout) => layout.show(scope),
            Self::Keep => Tiler::Keep.to_string(),
            Self::Modes(tilers) => {
                let tilers: Vec<_> = tilers.iter().map(|tiler| tiler.show(scope)).collect();
                format!("<{}>", tilers.join(","))
            }
        }
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
