//! The lanes of a warp, and rows of values: one for each lane.

/// The number of lanes of a warp.
pub(crate) const LANES: usize = cute_chip::threads::WARP as usize;

/// A row of the register file: one value for each lane.
pub(crate) type Row = [u64; LANES];

/// The lanes whose bit in the mask is set.
pub(crate) fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |lane| mask >> lane & 1 == 1)
}
