//! What the hardware makes of layouts: operands of wgmma, ldmatrix and TMA, bank conflicts, and the operations whose
//! thread-value layouts are fixed.
//!
//! The algebra does not know this module. What calls both, the table of operations and pictures, is above.

pub(crate) mod access;
pub(crate) mod atoms;
pub(crate) mod banks;
pub(crate) mod ldmatrix;
mod shared;
mod swizzle_mode;
pub(crate) mod swizzles;
pub(crate) mod tensor_map;
pub(crate) mod tma;
pub(crate) mod wgmma;
