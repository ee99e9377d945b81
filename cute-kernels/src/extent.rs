//! The check that the kernels' 32-bit coordinates can count an extent.

use crate::Error;

/// The largest extent of a tensor. TMA's coordinates are signed 32-bit numbers. The kernels compute coordinates in `u32`, so
/// those of the last tile, which may reach past the edge, do not overflow either.
const MAX_EXTENT: u32 = i32::MAX as u32;

/// An extent as a kernel argument; refused if it is larger than `MAX_EXTENT`.
pub(crate) fn extent(extent: usize) -> Result<u32, Error> {
    match u32::try_from(extent) {
        Ok(extent) if extent <= MAX_EXTENT => Ok(extent),
        _ => Err(Error::Extent {
            extent,
            limit: MAX_EXTENT,
        }),
    }
}
