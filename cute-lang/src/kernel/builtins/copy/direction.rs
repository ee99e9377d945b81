//! Which way a copy goes.

/// Which way a copy goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// From shared memory to registers.
    Load,
    /// From registers to shared memory.
    Store,
}
