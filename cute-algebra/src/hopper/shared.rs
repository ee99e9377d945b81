//! Checks and texts for tiles of shared memory that all kinds of operands share.

use crate::composed::ComposedLayout;
use core::fmt;
use cute_chip::shared;

/// Addresses of shared memory, in bytes, are below this.
pub(super) const ADDRESS_END: i64 = shared::ADDRESS_END as i64;

/// Whether a tile has no more elements than shared memory has room for, and no index outside of it.
pub(super) fn fits_shared_memory(element_bits: u32, tile: &ComposedLayout) -> bool {
    let elements = ADDRESS_END * 8 / i64::from(element_bits);
    let within = 0..=elements;
    within.contains(&tile.layout().size())
        && within.contains(&tile.layout().cosize())
        && within.contains(&tile.offset())
}

/// The tile in the notation: a plain layout where there is neither a swizzle nor an offset.
pub(super) fn shown(tile: &ComposedLayout) -> &dyn fmt::Display {
    match tile.as_layout() {
        Some(layout) => layout,
        None => tile,
    }
}
