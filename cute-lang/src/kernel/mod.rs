//! The kernel language: Rust syntax, interpreted at expansion, to PTX.

pub mod barrier;
pub mod bits;
pub mod builder;
pub mod builtins;
pub mod fragment;
pub mod tensor;
pub mod tma;
pub mod value;
pub mod wgmma;
