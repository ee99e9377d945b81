//! The windows of generic addresses, and their layout.

use cute_chip::shared;

/// The first shared address of a CTA's variables. The first KiB is reserved, as on the hardware.
pub(crate) const SHARED_BASE: u32 = shared::RESERVED_BYTES;
pub(crate) const MAX_SHARED_BYTES: u32 = shared::MAX_BYTES;
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
