//! The kernel language: Rust syntax, interpreted at expansion, to PTX.

pub mod address;
mod analysis;
pub mod arithmetic;
pub mod barrier;
pub mod bits;
pub mod builder;
pub mod builtins;
mod cleanup;
pub mod copy;
pub mod expand;
pub mod fragment;
pub mod interp;
pub mod lower;
mod matrix;
mod near;
pub mod param;
pub mod parse;
#[cfg(test)]
mod refusals;
mod scalar;
#[cfg(test)]
mod simulate;
mod stub;
pub mod tensor;
mod text;
pub mod tma;
pub mod value;
pub mod wgmma;
