//! Tensors read and written by TMA.

use super::builtins::Builtin;

/// The rows of the builtin table that use tensor maps.
pub(super) const ROWS: &[Builtin] = &[];

/// A tensor parameter that is accessed by TMA: an index into [`Builder::params`](super::builder::Builder::params).
#[derive(Clone, Copy, Debug)]
pub struct TensorMap {
    /// The parameter.
    pub param: usize,
}
