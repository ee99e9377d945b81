//! Facts: what a kernel relies on about its arguments, checked before each launch.

use std::fmt;

/// A comparison of two numbers of a launch, on which the kernel relies. A launch is refused if it does not hold. A fact about a
/// list of tensors holds for each of them.
///
/// `#[kernels]` makes one of each fact that a parameter has, such as `extent(x, 1) % 8 == 0` in
/// `#[facts(extent(x, 1) % 8 == 0)] x: Global<f32, 2>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fact {
    /// The fact as it is written.
    pub text: &'static str,
    /// The left side.
    pub left: Term,
    /// The comparison.
    pub comparison: Comparison,
    /// The right side.
    pub right: Term,
}

/// A comparison of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `==`.
    Eq,
    /// `!=`.
    Ne,
    /// `<`.
    Lt,
    /// `<=`.
    Le,
    /// `>`.
    Gt,
    /// `>=`.
    Ge,
}

/// A number that is computed from the arguments of a launch. Parameters are counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Term {
    /// This number.
    Number(i128),
    /// The value of an integer parameter.
    Scalar(usize),
    /// The extent of a mode of a tensor: the parameter, and the mode.
    Extent(usize, usize),
    /// The stride of a mode of a tensor, in elements: the parameter, and the mode.
    Stride(usize, usize),
    /// The address of the first element of a tensor, in bytes.
    Address(usize),
    /// How many items a list has.
    Length(usize),
    /// The sum of two numbers.
    Sum(&'static Term, &'static Term),
    /// The difference of two numbers.
    Difference(&'static Term, &'static Term),
    /// The product of two numbers.
    Product(&'static Term, &'static Term),
    /// The quotient of two numbers, rounded towards zero.
    Quotient(&'static Term, &'static Term),
    /// The quotient of two numbers, of which the second is at least 1, rounded up.
    Ceiling(&'static Term, &'static Term),
    /// The remainder of two numbers, with the sign of the first.
    Remainder(&'static Term, &'static Term),
}

/// The name and the value of a number in a fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The name, such as `extent(x, 1)`.
    pub name: String,
    /// The number.
    pub value: i128,
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}", self.name, self.value)
    }
}

/// The numbers of a launch.
pub(crate) trait Numbers {
    /// The value of a term that is not computed from other terms.
    fn number(&self, term: Term) -> Option<i128>;
    /// The name of such a term, such as `extent(x, 1)`.
    fn name(&self, term: Term) -> Option<String>;
}

impl Fact {
    /// The first tensor parameter, or list of them, that the fact is about.
    pub(crate) fn tensor(&self) -> Option<usize> {
        tensor(&self.left).or_else(|| tensor(&self.right))
    }

    /// The numbers in the fact, if it does not hold for the launch; `None` if it holds.
    pub(crate) fn broken_by(&self, launch: &dyn Numbers) -> Option<Vec<Named>> {
        let left = value(&self.left, launch);
        let right = value(&self.right, launch);
        let holds = match (left, right) {
            (Some(left), Some(right)) => match self.comparison {
                Comparison::Eq => left == right,
                Comparison::Ne => left != right,
                Comparison::Lt => left < right,
                Comparison::Le => left <= right,
                Comparison::Gt => left > right,
                Comparison::Ge => left >= right,
            },
            _ => false,
        };
        (!holds).then(|| {
            let mut numbers = Vec::new();
            note(&self.left, launch, &mut numbers);
            note(&self.right, launch, &mut numbers);
            numbers
        })
    }
}

fn tensor(term: &Term) -> Option<usize> {
    match *term {
        Term::Extent(param, _) | Term::Stride(param, _) | Term::Address(param) => Some(param),
        Term::Sum(a, b)
        | Term::Difference(a, b)
        | Term::Product(a, b)
        | Term::Quotient(a, b)
        | Term::Ceiling(a, b)
        | Term::Remainder(a, b) => tensor(a).or_else(|| tensor(b)),
        Term::Number(_) | Term::Scalar(_) | Term::Length(_) => None,
    }
}

/// The value of a term; `None` if it overflows 128 bits or divides by 0.
fn value(term: &Term, launch: &dyn Numbers) -> Option<i128> {
    let both = |a: &Term, b: &Term| Some((value(a, launch)?, value(b, launch)?));
    match *term {
        Term::Number(number) => Some(number),
        Term::Sum(a, b) => both(a, b).and_then(|(a, b)| a.checked_add(b)),
        Term::Difference(a, b) => both(a, b).and_then(|(a, b)| a.checked_sub(b)),
        Term::Product(a, b) => both(a, b).and_then(|(a, b)| a.checked_mul(b)),
        Term::Quotient(a, b) => both(a, b).and_then(|(a, b)| a.checked_div(b)),
        Term::Ceiling(a, b) => {
            let (a, b) = both(a, b).filter(|(_, b)| *b >= 1)?;
            a.div_euclid(b).checked_add(i128::from(a.rem_euclid(b) > 0))
        }
        Term::Remainder(a, b) => both(a, b).and_then(|(a, b)| a.checked_rem(b)),
        of => launch.number(of),
    }
}

/// Notes the numbers that a term reads, each once.
fn note(term: &Term, launch: &dyn Numbers, numbers: &mut Vec<Named>) {
    match *term {
        Term::Number(_) => {}
        Term::Sum(a, b)
        | Term::Difference(a, b)
        | Term::Product(a, b)
        | Term::Quotient(a, b)
        | Term::Ceiling(a, b)
        | Term::Remainder(a, b) => {
            note(a, launch, numbers);
            note(b, launch, numbers);
        }
        of => {
            if let (Some(name), Some(value)) = (launch.name(of), launch.number(of)) {
                let named = Named { name, value };
                if !numbers.contains(&named) {
                    numbers.push(named);
                }
            }
        }
    }
}
