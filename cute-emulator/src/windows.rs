//! The windows of generic addresses, and their layout.

use cute_chip::Chip;

/// The first shared address of a CTA's variables. The bytes before are reserved, as on the hardware, by every chip the same.
pub(crate) const SHARED_BASE: u32 = Chip::DEFAULT.reserved_shared_bytes;
/// A generic address of shared memory is this plus the shared address.
pub(crate) const SHARED_WINDOW: u64 = 1 << 56;
/// A generic address of a parameter is this plus the parameter's offset.
pub(crate) const PARAM_WINDOW: u64 = 1 << 57;
/// A generic address of local memory is this plus the local address.
pub(crate) const LOCAL_WINDOW: u64 = 1 << 58;
/// The address of a function is this plus [`FUNCTION_BYTES`] for each function before it.
pub(crate) const CODE_WINDOW: u64 = 1 << 59;
pub(crate) const FUNCTION_BYTES: u64 = 16;
/// The alignment of frames: the largest alignment of a local variable that is kept.
pub(crate) const FRAME_ALIGN: u32 = 128;
/// The number of addresses in the shared, the parameter and the local window.
pub(crate) const WINDOW_BYTES: u64 = 1 << 32;
/// A shared address holds the CTA's rank plus one from this bit on; zero there means the CTA of the thread itself.
pub(crate) const RANK_SHIFT: u32 = 24;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_chip_reserves_as_many_bytes() {
        let reserved = Chip::ALL.iter().map(|chip| chip.reserved_shared_bytes);
        assert!(reserved.into_iter().all(|bytes| bytes == SHARED_BASE));
    }
}
