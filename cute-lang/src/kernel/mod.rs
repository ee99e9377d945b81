//! The kernel language: Rust syntax, interpreted at expansion, to PTX.

mod access;
pub mod builtins;
pub mod emit;
pub mod expand;
pub mod interp;
pub mod lower;
pub mod syntax;
pub mod value;
