//! Barriers: the numbered ones of a CTA, and mbarriers in shared memory.

/// Numbered barriers of a CTA (PTX ISA 9.0, "bar").
pub const NAMED: u32 = 16;

/// Bytes of an mbarrier, and what its address is a multiple of (PTX ISA 9.0, "Size and alignment of mbarrier object").
pub const MBARRIER_BYTES: u32 = 8;

/// Most arrivals of a phase of an mbarrier (PTX ISA 9.0, "Contents of the mbarrier object").
pub const MAX_ARRIVALS: u32 = (1 << 20) - 1;

/// Most bytes, expected or missing, that an mbarrier counts (PTX ISA 9.0, "Contents of the mbarrier object").
pub const MAX_TX_BYTES: u32 = (1 << 20) - 1;
