//! What extents and strides are: numbers, or integers that are known at run time only.

use std::fmt;
use std::hash::Hash;

/// An extent or a stride: a number, or a [`Term`](crate::symbolic::Term) of run-time integers.
pub trait Integer: Clone + fmt::Debug + Leaf + fmt::Display + Eq + Hash + From<i64> {
    /// Sums of products of such integers, as coordinates, offsets and spans are.
    type Sum: Clone + fmt::Debug + Leaf + fmt::Display + Eq + From<i64> + From<Self>;

    /// What is kept of the ragged divisions that a mode comes from: nothing of numbers, whose coordinates are compared with
    /// an edge where they are computed.
    type Sources: Clone
        + fmt::Debug
        + Default
        + Hash
        + Ord
        + AsRef<[Source<Self>]>
        + FromIterator<Source<Self>>;

    /// 0.
    const ZERO: Self;

    /// 1.
    const ONE: Self;

    /// The number, where it is one.
    fn as_constant(&self) -> Option<i64>;

    /// The product; `None` where it does not fit.
    fn times(&self, factor: &Self) -> Option<Self>;

    /// The quotient, which is known to be exact; `None` where it does not fit.
    fn over(&self, divisor: &Self) -> Option<Self>;

    /// The sum of two sums; `None` where it does not fit.
    fn plus(sum: &Self::Sum, other: &Self::Sum) -> Option<Self::Sum>;

    /// The product of two sums; `None` where it does not fit.
    fn multiply(sum: &Self::Sum, other: &Self::Sum) -> Option<Self::Sum>;

    /// How far `extent` steps of this stride reach from the first, if that is known; `None` where it does not fit.
    fn reach(&self, extent: &Self) -> Option<Self::Sum>;

    /// The number that a sum is, where it is one.
    fn number(sum: &Self::Sum) -> Option<i64>;

    /// Whether this is the number 1.
    fn is_one(&self) -> bool {
        *self == Self::ONE
    }

    /// Whether this is the number 0.
    fn is_zero(&self) -> bool {
        *self == Self::ZERO
    }
}

/// Where a step leads in a mode of run-time extent that a ragged division has divided: whoever takes the step compares the
/// coordinate there with the size of that mode.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Source<I> {
    /// Which of the [bounds](crate::symbolic::Scope::bounds) is the size of that mode.
    pub bound: usize,
    /// The step in the mode's 1-D coordinate.
    pub stride: I,
}

/// No sources.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NoSources;

impl AsRef<[Source<i64>]> for NoSources {
    fn as_ref(&self) -> &[Source<i64>] {
        &[]
    }
}

impl FromIterator<Source<i64>> for NoSources {
    fn from_iter<T: IntoIterator<Item = Source<i64>>>(_: T) -> Self {
        Self
    }
}

impl Integer for i64 {
    type Sum = i64;
    type Sources = NoSources;

    const ZERO: i64 = 0;
    const ONE: i64 = 1;

    fn as_constant(&self) -> Option<i64> {
        Some(*self)
    }

    fn times(&self, factor: &i64) -> Option<i64> {
        self.checked_mul(*factor)
    }

    fn over(&self, divisor: &i64) -> Option<i64> {
        self.checked_div(*divisor)
    }

    fn plus(sum: &i64, other: &i64) -> Option<i64> {
        sum.checked_add(*other)
    }

    fn multiply(sum: &i64, other: &i64) -> Option<i64> {
        sum.checked_mul(*other)
    }

    fn number(sum: &i64) -> Option<i64> {
        Some(*sum)
    }

    fn reach(&self, extent: &i64) -> Option<i64> {
        self.checked_abs()?.checked_mul(extent - 1)
    }
}

/// What is shown as a leaf. `Option` cannot be `Display`, and is the leaf of a coordinate.
pub trait Leaf {
    /// As text.
    fn fmt_leaf(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result;
}

impl Leaf for i64 {
    fn fmt_leaf(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
