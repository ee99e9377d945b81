//! Extents that kernels can count.

use crate::Error;

/// Largest extent of a tensor: TMA's coordinates are signed 32-bit numbers, and a coordinate of the last tile, which may reach
/// past the edge, does not wrap in 32 bits either.
const MAX_EXTENT: u32 = i32::MAX as u32;

/// An extent as kernels take it.
pub(crate) fn extent(extent: usize) -> Result<u32, Error> {
    match u32::try_from(extent) {
        Ok(extent) if extent <= MAX_EXTENT => Ok(extent),
        _ => Err(Error::Extent {
            extent,
            limit: MAX_EXTENT,
        }),
    }
}
