//! The questions that an operation asks about extents and strides, and the two domains that answer them.
//!
//! [`Numbers`] decides every question at once. A [`Scope`](crate::symbolic::Scope) of run-time integers answers from
//! facts and may leave a question open. If an operation requires a condition that is open, the scope records a check for
//! run time.

use crate::error::{ErrorKind, LayoutError, Place};
use crate::integer::Integer;
use crate::tuple::{Shape, Tuple};
use alloc::string::ToString;
use core::fmt;

type Result<T> = core::result::Result<T, LayoutError>;

/// The answer to a question about integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Yes, for all values that the facts and the checks so far allow.
    Always,
    /// No, for all values that the facts and the checks so far allow.
    Never,
    /// Neither is proved: it may depend on the values.
    Maybe,
}

/// A question about two integers.
#[derive(Debug)]
pub(crate) enum Question<'a, I> {
    /// Whether the first divides the second.
    Divides(&'a I, &'a I),
    /// Whether the first is at most the second.
    AtMost(&'a I, &'a I),
    /// Whether both are equal.
    Equal(&'a I, &'a I),
}

impl<I> Clone for Question<'_, I> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<I> Copy for Question<'_, I> {}

/// A domain of integers that extents and strides are taken from. It answers questions about them.
pub(crate) trait Domain {
    type Int: Integer;

    /// The answer to a question, as far as it is known.
    fn answer(&self, question: Question<'_, Self::Int>) -> Answer;

    /// The error of an operation whose result depends on an open question.
    fn undecided(&self, question: Question<'_, Self::Int>, place: &Place) -> LayoutError;

    /// Makes sure that the answer is yes: it is known, or a check is left for run time. Where the answer is no, the error
    /// comes from `refusal`, or is a general one if `refusal` gives none.
    fn require(
        &mut self,
        question: Question<'_, Self::Int>,
        place: &Place,
        refusal: &dyn Fn() -> Option<ErrorKind>,
    ) -> Result<()>;

    /// Makes sure that an extent is at least 1.
    fn require_extent(&mut self, extent: &Self::Int, place: &Place) -> Result<()>;

    /// Makes sure that the extents of a shape are at least 1, and its depth and number of leaves within the limits.
    fn require_shape(&mut self, shape: &Tuple<Self::Int>) -> Result<()>;

    /// The quotient of two positive integers, rounded up.
    fn ceiling(
        &mut self,
        dividend: &Self::Int,
        divisor: &Self::Int,
        place: &Place,
    ) -> Result<Self::Int>;

    /// The quotient, rounded towards zero, and the remainder of a division by a positive integer.
    fn div_rem(
        &mut self,
        dividend: &Sum<Self>,
        divisor: &Self::Int,
    ) -> Result<(Sum<Self>, Sum<Self>)>;

    /// Makes sure that a sum is at least 0.
    fn require_natural(&mut self, sum: &Sum<Self>, place: &Place) -> Result<()>;

    /// Makes sure that a sum is at least 0 and below a size. `what` says in the error what the sum is.
    fn require_index(
        &mut self,
        what: &'static str,
        index: &Sum<Self>,
        size: &Self::Int,
        place: &Place,
    ) -> Result<()>;

    /// The same value as a single integer. Run-time integers may get a new atom for it.
    fn integer(&mut self, sum: &Sum<Self>) -> Result<Self::Int>;

    /// `true` if an operation has a result for all values of the integers, `false` if for none; else an error.
    fn succeeds(&mut self, operation: impl FnOnce(&mut Self) -> Result<()>) -> Result<bool>
    where
        Self: Sized;

    /// Records `size` as a bound that coordinates of a ragged division are compared with at run time, and gives its
    /// index; `None` for numbers, which are compared at once.
    fn bound(&mut self, size: &Self::Int) -> Option<usize>;

    /// Records a bound that is smaller than bound number `bound` by `by`, and gives its index.
    fn closer(&mut self, bound: usize, by: &Sum<Self>) -> Result<usize>;

    /// Whether the answer is known to be yes.
    fn is_known(&self, question: Question<'_, Self::Int>) -> bool {
        self.answer(question) == Answer::Always
    }

    /// The answer; an error where it is not known.
    fn decide(&self, question: Question<'_, Self::Int>, place: &Place) -> Result<bool> {
        match self.answer(question) {
            Answer::Always => Ok(true),
            Answer::Never => Ok(false),
            Answer::Maybe => Err(self.undecided(question, place)),
        }
    }

    /// Whether the first may come before the second in ascending order. Equal integers may come in either order, so
    /// the answer is no if the first is known to be at least the second.
    fn precedes(&self, first: &Self::Int, second: &Self::Int, place: &Place) -> Result<bool> {
        match self.is_known(Question::AtMost(second, first)) {
            true => Ok(first == second),
            false => self.decide(Question::AtMost(first, second), place),
        }
    }

    /// Whether a stride is 0; an error if unknown.
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

    /// An error where a stride is negative or 0, or may be.
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

/// The type of sums of the integers of a domain.
pub(crate) type Sum<D> = <<D as Domain>::Int as Integer>::Sum;

/// The product; an error where it does not fit 64 bits.
pub(crate) fn product<I: Integer>(a: &I, b: &I) -> Result<I> {
    a.times(b).ok_or_else(overflow)
}

/// The quotient of a division that is known to be exact; an error where it does not fit 64 bits.
pub(crate) fn quotient<I: Integer>(dividend: &I, divisor: &I) -> Result<I> {
    dividend.over(divisor).ok_or_else(overflow)
}

pub(crate) fn overflow() -> LayoutError {
    let quantity = "number";
    ErrorKind::Overflow { quantity }.at(Place::default())
}

/// The domain of numbers that are known at expansion. No question stays open.
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

    fn require_index(
        &mut self,
        what: &'static str,
        index: &i64,
        size: &i64,
        place: &Place,
    ) -> Result<()> {
        if (0..*size).contains(index) {
            return Ok(());
        }
        let (index, size) = (*index, size.to_string());
        Err(ErrorKind::OutOfRange { what, index, size }.at(place.clone()))
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
