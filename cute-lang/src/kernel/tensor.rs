//! Tensors: an address, a layout, an element type.

use super::builtins::Builtin;
use super::value::{Element, Scalar};

/// The rows of the builtin table that make and slice tensors.
pub(super) const ROWS: &[Builtin] = &[];

/// A tile of shared memory.
#[derive(Clone, Debug)]
pub struct Tensor {
    /// The type of its elements.
    pub element: Element,
}

/// A tensor parameter that is accessed element by element.
#[derive(Clone, Debug)]
pub struct Global {
    /// The type of its elements.
    pub element: Element,
    /// The parameter.
    pub param: usize,
}

impl Tensor {
    /// Calls `f` on every register in the tensor.
    pub fn for_each_scalar_mut(&mut self, _f: &mut dyn FnMut(&mut Scalar)) {}
}
