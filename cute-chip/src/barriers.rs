//! Barriers: the numbered barriers of a CTA, and mbarriers in shared memory.

/// Number of numbered barriers of a CTA (PTX ISA 9.0, "bar").
pub const NAMED: u32 = 16;

/// Size and alignment of an mbarrier, in bytes (PTX ISA 9.0, "Size and alignment of mbarrier object").
pub const MBARRIER_BYTES: u32 = 8;

/// Most arrivals of a phase of an mbarrier (PTX ISA 9.0, "Contents of the mbarrier object").
pub const MAX_ARRIVALS: u32 = (1 << 20) - 1;

/// Largest transaction count of an mbarrier, positive or negative, in bytes (PTX ISA 9.0, "Contents of the mbarrier
/// object").
pub const MAX_TX_BYTES: u32 = (1 << 20) - 1;
