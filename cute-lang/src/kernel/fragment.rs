//! Values held in registers.

use super::builtins::Builtin;
use super::value::{Element, Scalar};
use cute_algebra::Layout;

/// The rows of the builtin table that make and use fragments.
pub(super) const ROWS: &[Builtin] = &[];

/// Registers of this thread, or its part of a tile that several threads hold together.
#[derive(Clone, Debug)]
pub struct Fragment {
    /// The type of its elements.
    pub element: Element,
    /// The registers, in the order of the values.
    pub registers: Vec<Scalar>,
    /// (thread, value) → coordinate in the tile, as an index; `None` for a fragment of one thread.
    pub tv: Option<Layout>,
}
