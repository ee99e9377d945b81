//! Expansions in a crate of edition 2021 without `std` and without a prelude, where the facade has another name and every
//! warning is an error.

#![no_std]
#![no_implicit_prelude]
#![deny(warnings, missing_docs)]

::core::include!("../../declarations.rs");
