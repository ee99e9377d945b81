//! The macros of the workspace as ordinary functions: the layout notation and the kernel language, from tokens to Rust.

#![forbid(unsafe_code)]

pub mod kernel;
pub mod notation;
