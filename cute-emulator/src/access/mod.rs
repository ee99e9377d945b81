//! Accesses to global memory: their kinds, the units in which they are remembered, and those of earlier operations on all streams.

pub(crate) mod clock;
pub(crate) mod kind;
pub(crate) mod streams;
pub(crate) mod touched;
pub(crate) mod units;
