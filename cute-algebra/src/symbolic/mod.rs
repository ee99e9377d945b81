//! Layouts whose extents and strides are known at run time only.
//!
//! An extent or a stride is a [`Term`]: a constant times a product of *atoms*, run-time integers by name. A [`Scope`]
//! holds the facts about the atoms. It answers whether one term divides another, or is at most another, by
//! [`Answer::Always`], [`Answer::Never`] or [`Answer::Maybe`]. Where a condition of an operation always holds, nothing is
//! left to do; where it never holds, the operation is an error; else the operation leaves a [`Check`]. The checks are
//! made once, when the atoms get their values. If they hold, the result has the same values as the result of the
//! operation for these numbers. The rank of a result does not depend on the values: where it would depend on which of two
//! terms is larger, the operation is an error that asks for a fact.
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
//! A run-time integer in an extent must be at least 1. Checks are sufficient for every instance. For an extent of 1,
//! they can be stricter than necessary.

mod check;
mod display;
mod facts;
mod layout;
mod name;
mod scope;
mod term;
mod value;

pub use crate::domain::Answer;
pub use check::Check;
pub use facts::MAX_STEPS;
pub use name::is_integer_name;
pub(crate) use name::is_path;
pub use scope::{MAX_ATOMS, MAX_CHECKS, Origin, Scope, div_ceil, narrow};
pub use term::{Atom, Sum, Term, evaluate};
