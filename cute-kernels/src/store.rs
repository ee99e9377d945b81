//! The choice between storing a result by TMA and storing it element by element.

use cute_runtime::{Element, TensorViewMut};

/// Whether TMA can write a matrix: its rows must start at multiples of 16 bytes and be multiples of 16 bytes long. A TMA store
/// writes whole units of 16 bytes, so it would write past the end of any other row.
pub(crate) fn can_store_by_tma<D: Element>(d: &TensorViewMut<'_, D, 2>) -> bool {
    let bytes = |elements: usize| elements as u64 * size_of::<D>() as u64;
    [d.address(), bytes(d.strides()[0]), bytes(d.shape()[1])]
        .iter()
        .all(|n| n.is_multiple_of(16))
}
