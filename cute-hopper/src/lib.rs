//! Facts about Hopper (sm_90a) for all crates: each fact stands here once, with its source.
//!
//! - [`ElementType`]: the types of elements, and what Rust, PTX, tensor maps and wgmma call each.
//! - [`SwizzleMode`]: the permutations of shared memory that TMA and wgmma know.
//! - [`tma`], [`wgmma`], [`shared`], [`registers`], [`threads`], [`barriers`]: limits and formats, by the unit that has
//!   them.
//!
//! The sources are the PTX ISA 9.0, the CUDA driver API 13.0 and the CUDA C++ Programming Guide 13.0, "Compute
//! Capabilities". A fact that NVIDIA does not document is marked "Measured".

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod barriers;
mod element;
pub mod registers;
pub mod shared;
mod swizzle;
pub mod threads;
pub mod tma;
pub mod wgmma;

pub use element::{ElementType, NumberKind, RustType, WgmmaInput};
pub use swizzle::SwizzleMode;

/// The architecture, as PTX names it. Code for it runs only on compute capability 9.0 (PTX ISA 9.0, ".target").
pub const TARGET: &str = "sm_90a";

/// The compute capability, major and minor.
pub const COMPUTE_CAPABILITY: (i32, i32) = (9, 0);
