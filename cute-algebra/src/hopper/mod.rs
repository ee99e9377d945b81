//! Hopper's view of layouts: operands of wgmma, ldmatrix and TMA, bank conflicts, and the operations whose
//! thread-value layouts the hardware fixes.
//!
//! No module of the algebra imports this one. The table of operations and pictures use both.

pub(crate) mod access;
pub(crate) mod atoms;
pub(crate) mod banks;
pub(crate) mod coordinates;
pub(crate) mod elsewhere;
pub(crate) mod global;
pub(crate) mod ldmatrix;
mod shared;
mod swizzle_mode;
pub(crate) mod swizzles;
pub(crate) mod tensor_map;
pub(crate) mod tma;
pub(crate) mod wgmma;
