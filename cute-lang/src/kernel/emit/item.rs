//! Tensors that a kernel has picked from lists of parameters.

use crate::kernel::value::{Num, Scalar};

/// A tensor that a kernel has picked from a list.
#[derive(Clone, Debug)]
pub struct Item {
    /// The parameter that is the list.
    pub(super) param: usize,
    /// The index in the list.
    pub index: Num,
    /// The address of its first element in global memory, or the generic address of its tensor map.
    pub(super) address: Scalar,
    /// The strides of all modes but the last; none of a tensor map.
    pub(super) strides: Vec<Scalar>,
    /// The extents of all modes; none of a tensor map.
    pub(super) extents: Vec<Scalar>,
}
