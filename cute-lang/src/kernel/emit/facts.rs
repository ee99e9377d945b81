//! Facts about the arguments of a launch, which the launch checks: `extent(x, 1) % 8 == 0`.
//!
//! Facts give alignments, bounds and equal numbers. Facts in other forms than those below are only checked at launch.

use crate::kernel::emit::operation::{Cmp, Op, mirror};
use crate::kernel::value::TensorId;
use std::collections::BTreeSet;

/// A number of a launch. Parameters are counted from 0. A fact about the tensors of a list holds for each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quantity {
    /// The value of a number parameter.
    Scalar(usize),
    /// The extent of a mode of a tensor.
    Extent(TensorId, usize),
    /// The stride of a mode of a tensor, in elements.
    Stride(TensorId, usize),
    /// The address of the first element of a tensor.
    Address(TensorId),
    /// How many parameters a list has.
    Length(usize),
}

impl Quantity {
    /// The same number of all tensors of a list.
    fn of_all(self) -> Self {
        let all = |TensorId { param, .. }| TensorId::from(param);
        match self {
            Quantity::Extent(of, mode) => Quantity::Extent(all(of), mode),
            Quantity::Stride(of, mode) => Quantity::Stride(all(of), mode),
            Quantity::Address(of) => Quantity::Address(all(of)),
            Quantity::Scalar(_) | Quantity::Length(_) => self,
        }
    }
}

/// A number computed from numbers of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Term {
    /// Known at expansion.
    Known(i128),
    /// A number of the launch.
    Of(Quantity),
    /// `+`, `-`, `*`, `/` or `%` of two.
    Op(Op, Box<Term>, Box<Term>),
    /// The first divided by the second, which is at least 1, rounded up.
    Ceiling(Box<Term>, Box<Term>),
}

impl Term {
    /// The numbers of the launch in it.
    pub fn quantities(&self) -> Vec<Quantity> {
        match self {
            Term::Known(_) => Vec::new(),
            Term::Of(quantity) => vec![*quantity],
            Term::Op(_, a, b) | Term::Ceiling(a, b) => [a.quantities(), b.quantities()].concat(),
        }
    }
}

/// A comparison that holds in every launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// The left side.
    pub left: Term,
    /// The comparison.
    pub cmp: Cmp,
    /// The right side.
    pub right: Term,
    /// The fact as it is written.
    pub text: String,
}

/// All facts of a kernel.
#[derive(Clone, Debug, Default)]
pub struct Facts(pub Vec<Fact>);

impl Facts {
    /// The greatest known divisor of the quantity.
    pub fn divisor(&self, of: Quantity) -> i128 {
        let same = self.same(of.of_all());
        let mut divisor = 1;
        for Fact {
            left, cmp, right, ..
        } in &self.0
        {
            let found = match (left, right) {
                (Term::Op(Op::Rem, left, by), Term::Known(0)) if *cmp == Cmp::Eq => {
                    match (&**left, &**by) {
                        // Of a product with a known factor, the rest of the divisor.
                        (product, Term::Known(by)) => scaled(product)
                            .filter(|(quantity, factor)| same.contains(quantity) && *factor > 0)
                            .filter(|_| *by > 0)
                            .map(|(_, factor)| by / gcd(*by, factor)),
                        _ => None,
                    }
                }
                _ => None,
            };
            divisor = lcm(divisor, found.unwrap_or(1)).unwrap_or(divisor);
        }
        match self.value(of) {
            Some(value) if value > 0 => value,
            _ => divisor,
        }
    }

    /// The bounds of the quantity, both included. An extent is at least 1.
    pub fn bounds(&self, of: Quantity) -> (i128, i128) {
        let mut greatest = i128::MAX;
        let same = self.same(of.of_all());
        let is_extent = |it: &Quantity| matches!(it, Quantity::Extent(..));
        let mut least = match of {
            _ if same.iter().any(is_extent) => 1,
            Quantity::Length(_) => 0,
            _ => i128::MIN,
        };
        for (quantity, cmp, bound) in self.comparisons() {
            let Term::Known(bound) = bound else { continue };
            if !same.contains(&quantity) {
                continue;
            }
            match cmp {
                Cmp::Eq => (least, greatest) = (least.max(*bound), greatest.min(*bound)),
                Cmp::Ge => least = least.max(*bound),
                Cmp::Gt => least = least.max(bound.saturating_add(1)),
                Cmp::Le => greatest = greatest.min(*bound),
                Cmp::Lt => greatest = greatest.min(bound.saturating_sub(1)),
                Cmp::Ne => {}
            }
        }
        (least, greatest)
    }

    /// The quantity, if it is known at expansion.
    pub fn value(&self, of: Quantity) -> Option<i128> {
        let (least, greatest) = self.bounds(of);
        (least == greatest).then_some(least)
    }

    /// All quantities equal to this one, including itself. The first number parameter comes first.
    pub fn same(&self, of: Quantity) -> BTreeSet<Quantity> {
        let mut same = BTreeSet::from([of]);
        loop {
            let before = same.len();
            for (quantity, cmp, other) in self.comparisons() {
                if let (Cmp::Eq, Term::Of(other)) = (cmp, other)
                    && same.contains(&quantity)
                {
                    same.insert(*other);
                }
            }
            if same.len() == before {
                return same;
            }
        }
    }

    /// Whether one quantity is at most another.
    pub fn at_most(&self, less: Quantity, more: Quantity) -> bool {
        self.below(more).contains(&less)
    }

    /// All quantities that are at most this one, including itself.
    pub fn below(&self, of: Quantity) -> BTreeSet<Quantity> {
        let same = self.same(of);
        let less = self.comparisons().filter_map(|(quantity, cmp, other)| {
            let is_less = matches!((cmp, other), (Cmp::Le | Cmp::Lt, Term::Of(other)) if same.contains(other));
            is_less.then_some(quantity)
        });
        let less: Vec<_> = less.flat_map(|quantity| self.same(quantity)).collect();
        same.into_iter().chain(less).collect()
    }

    /// Each fact about a single quantity, read from both sides.
    fn comparisons(&self) -> impl Iterator<Item = (Quantity, Cmp, &Term)> {
        self.0.iter().flat_map(|fact| {
            let side = |term: &Term| match term {
                Term::Of(quantity) => Some(*quantity),
                _ => None,
            };
            let left = side(&fact.left).map(|it| (it, fact.cmp, &fact.right));
            let right = side(&fact.right).map(|it| (it, mirror(fact.cmp), &fact.left));
            left.into_iter().chain(right)
        })
    }
}

/// A quantity times a known factor.
fn scaled(term: &Term) -> Option<(Quantity, i128)> {
    match term {
        Term::Of(quantity) => Some((*quantity, 1)),
        Term::Op(Op::Mul, a, b) => match (&**a, &**b) {
            (Term::Of(quantity), Term::Known(factor))
            | (Term::Known(factor), Term::Of(quantity)) => Some((*quantity, *factor)),
            _ => None,
        },
        _ => None,
    }
}

/// The greatest common divisor of two positive numbers.
fn gcd(a: i128, b: i128) -> i128 {
    match b {
        0 => a,
        _ => gcd(b, a % b),
    }
}

/// The least common multiple of two positive numbers.
fn lcm(a: i128, b: i128) -> Option<i128> {
    (a / gcd(a, b)).checked_mul(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn extent(param: usize, item: Option<usize>) -> Quantity {
        Quantity::Extent(TensorId { param, item }, 0)
    }

    const X: Quantity = extent(0, None);
    const Y: Quantity = extent(1, None);
    const N: Quantity = Quantity::Scalar(2);

    fn fact(left: Term, cmp: Cmp, right: Term) -> Fact {
        let text = String::new();
        Fact {
            left,
            cmp,
            right,
            text,
        }
    }

    fn rem(left: Term, by: i128) -> Term {
        Term::Op(Op::Rem, Box::new(left), Box::new(Term::Known(by)))
    }

    #[test]
    fn divisors_bounds_and_equals_follow() {
        let product = Term::Op(Op::Mul, Box::new(Term::Known(2)), Box::new(Term::Of(X)));
        let facts = Facts(vec![
            fact(rem(product, 16), Cmp::Eq, Term::Known(0)),
            fact(rem(Term::Of(Y), 12), Cmp::Eq, Term::Known(0)),
            fact(Term::Of(Y), Cmp::Eq, Term::Of(X)),
            fact(Term::Known(100), Cmp::Lt, Term::Of(X)),
            fact(Term::Of(N), Cmp::Le, Term::Of(Y)),
        ]);
        assert_eq!(facts.divisor(X), 24);
        assert_eq!(facts.divisor(Y), 24);
        assert_eq!(facts.divisor(N), 1);
        assert_eq!(facts.bounds(Y), (101, i128::MAX));
        assert!(facts.at_most(N, X) && !facts.at_most(X, N));
        assert_eq!((facts.bounds(X).0, facts.bounds(N).0), (101, i128::MIN));
        let equal = Facts(vec![fact(Term::Of(N), Cmp::Eq, Term::Of(Y))]);
        assert_eq!(equal.bounds(N), (1, i128::MAX));
        assert_eq!(facts.value(X), None);
        let facts = Facts(vec![fact(Term::Of(X), Cmp::Eq, Term::Known(96))]);
        assert_eq!((facts.value(X), facts.divisor(X)), (Some(96), 96));
    }

    #[test]
    fn what_is_known_of_a_list_is_known_of_each_item_and_items_differ() {
        let facts = Facts(vec![fact(rem(Term::Of(X), 8), Cmp::Eq, Term::Known(0))]);
        let [one, other] = [extent(0, Some(0)), extent(0, Some(1))];
        assert_eq!((facts.divisor(one), facts.bounds(one).0), (8, 1));
        assert!(facts.at_most(one, one) && !facts.at_most(one, other));
        assert_eq!(facts.bounds(Quantity::Length(0)), (0, i128::MAX));
    }
}
