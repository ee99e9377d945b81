//! The direction of a copy.

/// The direction of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// From shared memory to registers.
    Load,
    /// From registers to shared memory.
    Store,
}
