//! Accesses to global memory: their kinds, the units in which they are remembered, and those of earlier grids.

pub(crate) mod grids;
pub(crate) mod kind;
pub(crate) mod units;
