//! The macros of the workspace as ordinary functions: the layout notation and the kernel language, from tokens to Rust.
//!
//! This is the implementation of `cute-runtime`, which is the crate to depend on. Nothing here is stable: any release may change it.

#![forbid(unsafe_code)]

#[cfg(feature = "kernels")]
pub mod kernel;
pub mod notation;
