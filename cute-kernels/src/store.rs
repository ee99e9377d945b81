//! Which of two ways to store a result.

use cute_runtime::{Element, TensorViewMut};

/// Whether TMA can write a matrix: rows that start at multiples of 16 bytes and are multiples of 16 bytes long, since a
/// store writes whole units of 16 bytes, beyond the end of a shorter row.
pub(crate) fn can_store_by_tma<D: Element>(d: &TensorViewMut<'_, D, 2>) -> bool {
    let bytes = |elements: usize| elements as u64 * size_of::<D>() as u64;
    [d.address(), bytes(d.strides()[0]), bytes(d.shape()[1])]
        .iter()
        .all(|n| n.is_multiple_of(16))
}
