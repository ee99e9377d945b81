//! Layouts whose extents and strides are known at run time only.
//!
//! An extent or a stride is a [`Term`]: a constant times a product of *atoms*, run-time integers by name. A [`Scope`] holds what is
//! known about the atoms, and answers whether one term divides another or is at most another by [`Answer::Always`],
//! [`Answer::Never`] or [`Answer::Maybe`]. An operation folds what is always so, refuses what never is, and leaves a
//! [`Check`] for the rest: whoever puts numbers in place of the atoms makes the checks once, and if they hold, the
//! result is the layout that the operation gives for these numbers, value by value. Rank is fixed without the numbers:
//! where it would depend on which of two terms is larger, the operation asks for a fact.
//!
//! ```
//! use cute_algebra::notation::{Symbolic, eval_symbolic_str};
//! let Symbolic { scope, value } = eval_symbolic_str("where m >= 64; (m,n):(n,1) o 64:1")?;
//! assert_eq!(value.to_string(), "64:n");
//! let text: Vec<_> = scope.checks().iter().map(|check| check.to_string()).collect();
//! assert_eq!(text, ["m >= 64", "n >= 1"]);
//! # Ok::<(), cute_algebra::notation::NotationError>(())
//! ```
//!
//! A run-time integer in an extent is at least 1. Checks may ask for more than an instance needs where one of its
//! extents happens to be 1; they never ask for less.

mod check;
mod display;
mod facts;
mod layout;
mod scope;
mod term;
mod value;

pub use crate::domain::Answer;
pub use check::Check;
pub use facts::MAX_STEPS;
pub use scope::{MAX_ATOMS, MAX_CHECKS, Origin, Scope, div_ceil};
pub use term::{Atom, Sum, Term, evaluate};
