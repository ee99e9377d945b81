//! Tokens to values.

pub mod kernel;
