//! What an operation asks about extents and strides, and who answers.
//!
//! [`Numbers`] decide every question at once. A [`Scope`](crate::symbolic::Scope) of run-time integers answers from facts,
//! may leave a question open, and leaves a check for what it is required to hold.

use crate::error::{ErrorKind, LayoutError, Place};
use crate::integer::Integer;
use crate::tuple::{Shape, Tuple};
use std::fmt;

type Result<T> = std::result::Result<T, LayoutError>;

/// The answer to a question about integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// For all values that the facts and the checks so far allow.
    Always,
    /// For none.
    Never,
    /// Neither is proved.
    Maybe,
}

/// A question about two integers.
#[derive(Debug)]
pub(crate) enum Question<'a, I> {
    /// Whether the first divides the second.
    Divides(&'a I, &'a I),
    /// Whether the first is at most the second.
    AtMost(&'a I, &'a I),
    /// Whether both are the same.
    Equal(&'a I, &'a I),
}

impl<I> Clone for Question<'_, I> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<I> Copy for Question<'_, I> {}

/// Who answers questions about extents and strides.
pub(crate) trait Domain {
    type Int: Integer;

    /// What is known.
    fn answer(&self, question: Question<'_, Self::Int>) -> Answer;

    /// The refusal of an operation whose result depends on an open question.
    fn undecided(&self, question: Question<'_, Self::Int>, place: &Place) -> LayoutError;

    /// Sees to it that the answer is yes: it is, or a check at run time makes sure. `refusal` says what is wrong where it
    /// is not, if it finds the numbers for it.
    fn require(
        &mut self,
        question: Question<'_, Self::Int>,
        place: &Place,
        refusal: &dyn Fn() -> Option<ErrorKind>,
    ) -> Result<()>;

    /// Sees to it that an extent is at least 1.
    fn require_extent(&mut self, extent: &Self::Int, place: &Place) -> Result<()>;

    /// Sees to it that the extents of a shape are at least 1, and within the limits.
    fn require_shape(&mut self, shape: &Tuple<Self::Int>) -> Result<()>;

    /// The quotient of two positive integers, rounded up.
    fn ceiling(
        &mut self,
        dividend: &Self::Int,
        divisor: &Self::Int,
        place: &Place,
    ) -> Result<Self::Int>;

    /// Quotient, rounded towards zero, and remainder by a positive integer.
    fn div_rem(
        &mut self,
        dividend: &Sum<Self>,
        divisor: &Self::Int,
    ) -> Result<(Sum<Self>, Sum<Self>)>;

    /// Sees to it that a sum is at least 0.
    fn require_natural(&mut self, sum: &Sum<Self>, place: &Place) -> Result<()>;

    /// A sum as one integer.
    fn integer(&mut self, sum: &Sum<Self>) -> Result<Self::Int>;

    /// Whether an operation has a result whatever the integers are, or for none of them.
    fn succeeds(&mut self, operation: impl FnOnce(&mut Self) -> Result<()>) -> Result<bool>
    where
        Self: Sized;

    /// The number of a bound that coordinates are compared with where they may be past the end, if they are known at run
    /// time only.
    fn bound(&mut self, size: &Self::Int) -> Option<usize>;

    /// The number of the bound that is so much closer than another.
    fn closer(&mut self, bound: usize, by: &Sum<Self>) -> Result<usize>;

    /// Whether the answer is known to be yes.
    fn is_known(&self, question: Question<'_, Self::Int>) -> bool {
        self.answer(question) == Answer::Always
    }

    /// The answer, where it has to be known.
    fn decide(&self, question: Question<'_, Self::Int>, place: &Place) -> Result<bool> {
        match self.answer(question) {
            Answer::Always => Ok(true),
            Answer::Never => Ok(false),
            Answer::Maybe => Err(self.undecided(question, place)),
        }
    }

    /// Whether the first comes before the second in ascending order, where equal ones may come in either.
    fn precedes(&self, first: &Self::Int, second: &Self::Int, place: &Place) -> Result<bool> {
        match self.is_known(Question::AtMost(second, first)) {
            true => Ok(first == second),
            false => self.decide(Question::AtMost(first, second), place),
        }
    }

    /// Whether a stride is 0.
    fn is_zero(&self, stride: &Self::Int, place: &Place) -> Result<bool> {
        match stride.as_constant() {
            Some(stride) => Ok(stride == 0),
            None => match self.answer(Question::Equal(stride, &Self::Int::ZERO)) {
                Answer::Always => Ok(true),
                Answer::Never => Ok(false),
                Answer::Maybe => {
                    Err(self.undecided(Question::AtMost(&Self::Int::ONE, stride), place))
                }
            },
        }
    }

    /// Refuses a stride that may be negative or 0.
    fn require_positive(&self, stride: &Self::Int, place: &Place) -> Result<()> {
        match self.decide(Question::AtMost(&Self::Int::ONE, stride), place)? {
            true => Ok(()),
            false => Err(ErrorKind::NegativeStride {
                stride: stride.to_string(),
            }
            .at(place.clone())),
        }
    }
}

/// Sums of the integers of a domain.
pub(crate) type Sum<D> = <<D as Domain>::Int as Integer>::Sum;

/// The product; refused where it does not fit.
pub(crate) fn product<I: Integer>(a: &I, b: &I) -> Result<I> {
    a.times(b).ok_or_else(overflow)
}

/// The quotient, which is known to be exact.
pub(crate) fn quotient<I: Integer>(dividend: &I, divisor: &I) -> Result<I> {
    dividend.over(divisor).ok_or_else(overflow)
}

pub(crate) fn overflow() -> LayoutError {
    let quantity = "number";
    ErrorKind::Overflow { quantity }.at(Place::default())
}

/// What is known about numbers: everything.
pub(crate) struct Numbers;

impl Domain for Numbers {
    type Int = i64;

    fn answer(&self, question: Question<'_, i64>) -> Answer {
        let holds = match question {
            Question::Divides(divisor, dividend) => dividend.checked_rem(*divisor) == Some(0),
            Question::AtMost(left, right) => left <= right,
            Question::Equal(left, right) => left == right,
        };
        match holds {
            true => Answer::Always,
            false => Answer::Never,
        }
    }

    fn undecided(&self, question: Question<'_, i64>, place: &Place) -> LayoutError {
        let condition = question.to_string();
        ErrorKind::Open { condition }.at(place.clone())
    }

    fn require(
        &mut self,
        question: Question<'_, i64>,
        place: &Place,
        refusal: &dyn Fn() -> Option<ErrorKind>,
    ) -> Result<()> {
        if self.answer(question) == Answer::Always {
            return Ok(());
        }
        let never = || ErrorKind::Never {
            condition: question.to_string(),
        };
        Err(refusal().unwrap_or_else(never).at(place.clone()))
    }

    fn require_extent(&mut self, extent: &i64, place: &Place) -> Result<()> {
        if *extent >= 1 {
            return Ok(());
        }
        let extent = extent.to_string();
        Err(ErrorKind::Extent { extent }.at(place.clone()))
    }

    fn require_shape(&mut self, shape: &Shape) -> Result<()> {
        shape.check_limits()?;
        if let Some(i) = shape.leaves().position(|extent| *extent < 1) {
            let (extent, path) = (shape.leaves().nth(i), shape.leaf_paths().swap_remove(i));
            let place = Place::default().mode(path).shape();
            self.require_extent(extent.unwrap_or(&0), &place)?;
        }
        match shape.product() {
            Some(_) => Ok(()),
            None => Err(ErrorKind::Overflow { quantity: "size" }.at(Place::default().shape())),
        }
    }

    fn ceiling(&mut self, dividend: &i64, divisor: &i64, _: &Place) -> Result<i64> {
        Ok((dividend - 1) / divisor + 1)
    }

    fn div_rem(&mut self, dividend: &i64, divisor: &i64) -> Result<(i64, i64)> {
        let both = dividend
            .checked_div(*divisor)
            .zip(dividend.checked_rem(*divisor));
        both.ok_or_else(overflow)
    }

    fn require_natural(&mut self, sum: &i64, place: &Place) -> Result<()> {
        match *sum >= 0 {
            true => Ok(()),
            false => Err(ErrorKind::BelowZero { index: *sum }.at(place.clone())),
        }
    }

    fn integer(&mut self, sum: &i64) -> Result<i64> {
        Ok(*sum)
    }

    fn succeeds(&mut self, operation: impl FnOnce(&mut Self) -> Result<()>) -> Result<bool> {
        Ok(operation(self).is_ok())
    }

    fn bound(&mut self, _: &i64) -> Option<usize> {
        None
    }

    fn closer(&mut self, bound: usize, _: &i64) -> Result<usize> {
        Ok(bound)
    }
}

impl<I: Integer> fmt::Display for Question<'_, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Divides(divisor, dividend) => write!(f, "{dividend} % {divisor} == 0"),
            Self::AtMost(left, right) => write!(f, "{left} <= {right}"),
            Self::Equal(left, right) => write!(f, "{left} == {right}"),
        }
    }
}
