//! Matrix multiplication by a warpgroup.

use super::builtins::Builtin;

/// The rows of the builtin table that multiply.
pub(super) const ROWS: &[Builtin] = &[];
