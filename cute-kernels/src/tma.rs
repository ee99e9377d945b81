//! Which tensors TMA can load and store, and which threads can store by vectors.
//!
//! A TMA store needs rows of whole 16-byte units. The hardware clips the innermost mode at the next multiple of 16 bytes (measured on an
//! H100), so the runtime refuses other rows, the emulator writes them as the hardware does, and kernels have a variant with element
//! stores.

use cute_runtime::{Element, TensorView};

/// Whether TMA can load a tensor whose last mode is contiguous: its rows must start at multiples of 16 bytes, less than 2⁴⁰ bytes
/// apart.
pub(crate) fn can_load_by_tma<T: Element, const R: usize>(x: &TensorView<'_, T, R>) -> bool {
    let modes = x.shape().into_iter().zip(x.strides()).take(R - 1);
    // The stride of a mode of one element is never used.
    let mut strides = modes.filter(|(extent, _)| *extent > 1);
    x.address().is_multiple_of(16)
        && strides.all(|(_, stride)| {
            let bytes = stride as u64 * size_of::<T>() as u64;
            bytes.is_multiple_of(16) && bytes < 1 << 40
        })
}

/// Whether TMA can store to a tensor whose last mode is contiguous: its rows must also be multiples of 16 bytes long. A TMA store
/// writes whole units of 16 bytes, so it would write past the end of any other row.
pub(crate) fn can_store_by_tma<D: Element, const R: usize>(d: &TensorView<'_, D, R>) -> bool {
    let row = d.shape()[R - 1] * size_of::<D>();
    can_load_by_tma(d) && row.is_multiple_of(16)
}

/// Whether threads can store to a matrix by vectors of 16 bytes: its rows must start at multiples of 16 bytes and be multiples of 16
/// bytes long. The stride of a single row counts, too, since a kernel's fact is about all strides.
pub(crate) fn can_store_by_vector<D: Element>(d: &TensorView<'_, D, 2>) -> bool {
    let stride = d.strides()[0] * size_of::<D>();
    can_store_by_tma(d) && stride.is_multiple_of(16)
}
