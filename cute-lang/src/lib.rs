//! Tokens to values.

#![forbid(unsafe_code)]

pub mod kernel;
pub mod notation;
