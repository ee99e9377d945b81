//! Tokens to values.

pub mod kernel;
pub mod notation;
