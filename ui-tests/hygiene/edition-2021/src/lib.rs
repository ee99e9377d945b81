//! Expansions in a crate of edition 2021 without `std` and without a prelude, where the facade has another name, every
//! warning is an error, and `unsafe` is forbidden.

#![no_std]
#![no_implicit_prelude]
#![forbid(unsafe_code)]
#![deny(warnings, missing_docs)]

::core::include!("../../declarations.rs");
