//! The two kinds of integers in extents and strides: numbers, and run-time integers.

use core::fmt;
use core::hash::Hash;

/// An extent or a stride: a number, or a [`Term`](crate::symbolic::Term) of run-time integers.
pub trait Integer: Clone + fmt::Debug + Leaf + fmt::Display + Eq + Hash + From<i64> {
    /// Sums of products of such integers: the type of coordinates, offsets and spans.
    type Sum: Clone + fmt::Debug + Leaf + fmt::Display + Eq + From<i64> + From<Self>;

    /// The ragged divisions that made a mode: a list of [`Source`]s for run-time integers. Numbers need no list, since
    /// a tiling compares their coordinates with the end directly.
    type Sources: Clone
        + fmt::Debug
        + Default
        + Hash
        + Ord
        + AsRef<[Source<Self>]>
        + FromIterator<Source<Self>>;

    /// The number 0.
    const ZERO: Self;

    /// The number 1.
    const ONE: Self;

    /// The number, if it is known.
    fn as_constant(&self) -> Option<i64>;

    /// The product; `None` where a number in it does not fit 64 bits.
    fn times(&self, factor: &Self) -> Option<Self>;

    /// The quotient of a division known to be exact; `None` for a division by 0, and where it does not fit 64 bits.
    fn over(&self, divisor: &Self) -> Option<Self>;

    /// The sum of two sums; `None` where a number in it does not fit 64 bits.
    fn plus(sum: &Self::Sum, other: &Self::Sum) -> Option<Self::Sum>;

    /// The product of two sums; `None` where a number in it does not fit 64 bits.
    fn multiply(sum: &Self::Sum, other: &Self::Sum) -> Option<Self::Sum>;

    /// The distance from the first to the last of `extent` multiples of this stride, or 0 if it is not known; `None`
    /// where it does not fit 64 bits.
    fn reach(&self, extent: &Self) -> Option<Self::Sum>;

    /// The value of a sum, if it is known.
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

/// A ragged division of a mode of run-time extent may go past the end of that mode. This says how far a step of a
/// resulting mode advances in the divided mode, so that generated code can compare the coordinate there with the size of
/// that mode.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Source<I> {
    /// The index of the size of that mode among the [bounds](crate::symbolic::Scope::bounds).
    pub bound: usize,
    /// How much the 1-D coordinate of that mode grows with each step.
    pub stride: I,
}

/// The empty list of sources, for layouts of numbers.
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

/// How a leaf of a tuple is shown. This crate cannot implement `Display` for `Option`, the leaf of a coordinate.
pub trait Leaf {
    /// Writes the leaf; `None` is written as `_`.
    fn fmt_leaf(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result;

    /// Writes the leaf beside the `:` of a layout.
    fn fmt_beside_colon(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fmt_leaf(f)
    }

    /// Writes the leaf where a layout may stand as well.
    fn fmt_operand(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fmt_leaf(f)
    }
}

impl Leaf for i64 {
    fn fmt_leaf(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
