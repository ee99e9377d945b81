//! Layouts whose extents and strides are known at run time only.
//!
//! A leaf is a [`Term`]: a constant times a product of *atoms*, run-time integers by name. A [`Scope`] holds what is
//! known about the atoms, and answers whether one term divides another or is at most another by [`Answer::Always`],
//! [`Answer::Never`] or [`Answer::Maybe`]. An operation folds what is always so, refuses what never is, and leaves a
//! [`Check`] for the rest: whoever puts numbers in place of the atoms makes the checks once, and if they hold, the
//! result is the layout that the operation gives for these numbers, value by value. Rank is fixed without the numbers:
//! where it would depend on which of two terms is larger, the operation asks for a fact.
//!
//! ```
//! use cute_algebra::symbolic::{Symbolic, eval_str};
//! let Symbolic { scope, value } = eval_str("where m >= 64; (m,n):(n,1) o 64:1")?;
//! assert_eq!(value.show(&scope), "64:n");
//! let text: Vec<_> = scope.checks().iter().map(|check| scope.show_check(check)).collect();
//! assert_eq!(text, ["m >= 64", "n >= 1"]);
//! # Ok::<(), cute_algebra::notation::NotationError>(())
//! ```
//!
//! A run-time integer in an extent is at least 1. Checks may ask for more than an instance needs where one of its
//! extents happens to be 1; they never ask for less.

mod chain;
mod coalesce;
mod composed;
mod composition;
mod construct;
mod coordinate;
mod layout;
pub(crate) mod operations;
mod property;
mod recast;
mod scope;
mod show;
mod tags;
mod term;
#[cfg(test)]
mod tests;
mod tiling;
mod value;

pub use crate::notation::eval_symbolic_str as eval_str;
pub use composed::SymbolicComposed;
pub use layout::{Mode, Source, SymbolicLayout, SymbolicTiler};
pub(crate) use property::Property;
pub use scope::{Answer, Check, MAX_ATOMS, MAX_CHECKS, Origin, Scope, div_ceil};
pub use term::{Atom, Sum, Term, evaluate};
pub use tiling::{SymbolicAxis, SymbolicTiling};
pub use value::SymbolicValue;
pub(crate) use value::{SymbolicArgs, apply};

use crate::error::{LayoutError, Place, Refusal};
use std::fmt;

/// A value that holds run-time integers, and what is known about them.
#[derive(Clone, Debug)]
pub struct Symbolic {
    /// The integers, the facts and the checks.
    pub scope: Scope,
    /// The value.
    pub value: SymbolicValue,
}

/// Why an operation on run-time integers has no result, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolicError {
    /// What is wrong.
    pub kind: SymbolicErrorKind,
    /// Which part of which operand.
    pub place: Place,
}

/// What is wrong with an operation on run-time integers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SymbolicErrorKind {
    /// The result depends on something that the facts leave open.
    Undecided {
        /// The condition that is open.
        condition: String,
        /// Its opposite.
        opposite: String,
    },
    /// A yes or no that depends on a condition that the facts leave open.
    Open(String),
    /// What an operation refuses, in words that name run-time integers.
    Refused(String),
    /// An operation that is of numbers only.
    NeedsNumbers {
        /// Its name.
        operation: &'static str,
        /// Why.
        why: &'static str,
    },
    /// A condition that no values fulfil.
    Never(String),
    /// An extent that is not positive.
    Extent(String),
    /// More than a limit allows.
    TooMany {
        /// Of what.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
    /// An operation, or one of its cases, that has no form for run-time integers.
    Unsupported(&'static str),
    /// A constant that does not fit 64 bits.
    Overflow,
    /// What is wrong whatever the run-time integers are.
    Layout(LayoutError),
}

impl SymbolicErrorKind {
    pub(crate) fn at(self, place: Place) -> SymbolicError {
        SymbolicError { kind: self, place }
    }
}

impl SymbolicError {
    /// Restates the place for a caller that passed the only operand as its operand `index`.
    pub(crate) fn inside(mut self, index: usize) -> Self {
        self.place.operand = index;
        self
    }
}

/// The facts leave open whether `left <= right`.
fn undecided(scope: &Scope, left: &Term, right: &Term, place: Place) -> SymbolicError {
    SymbolicErrorKind::Undecided {
        condition: scope.show_check(&Check::at_most(left, right)),
        opposite: scope.show_opposite(left, right),
    }
    .at(place)
}

impl Refusal for SymbolicError {
    fn in_mode(self, index: usize) -> Self {
        Self {
            place: self.place.in_mode(index),
            ..self
        }
    }
}

impl From<LayoutError> for SymbolicErrorKind {
    fn from(error: LayoutError) -> Self {
        Self::Layout(error)
    }
}

impl From<LayoutError> for SymbolicError {
    fn from(error: LayoutError) -> Self {
        let place = error.place().clone();
        SymbolicErrorKind::Layout(error).at(place)
    }
}

impl std::error::Error for SymbolicError {}

impl fmt::Display for SymbolicError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)
    }
}

impl fmt::Display for SymbolicErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Undecided {
                condition,
                opposite,
            } => write!(
                f,
                "the modes of the result depend on whether `{condition}`, which is not known; add the fact `where {condition};` or `where {opposite};`"
            ),
            Self::Open(condition) => write!(
                f,
                "the answer depends on whether `{condition}`, which is not known"
            ),
            Self::Refused(text) => f.write_str(text),
            Self::NeedsNumbers { operation, why } => write!(
                f,
                "`{operation}` needs numbers that are known at expansion: {why}"
            ),
            Self::Never(condition) => write!(f, "`{condition}` never holds"),
            Self::Extent(extent) => write!(f, "an extent is at least 1, not {extent}"),
            Self::TooMany { what, limit } => write!(f, "more than {limit} {what}"),
            Self::Unsupported(what) => {
                write!(f, "{what} needs numbers that are known at expansion")
            }
            Self::Overflow => f.write_str("a number does not fit 64 bits"),
            Self::Layout(error) => error.kind().fmt(f),
        }
    }
}
