//! Facts about Hopper (sm_90a) for all crates: each fact stands here once, with its source.
//!
//! - [`ElementType`]: the types of elements, with their names in Rust, PTX, tensor maps and wgmma.
//! - [`SwizzleMode`]: the swizzles of shared memory in TMA and wgmma.
//! - [`tma`], [`wgmma`], [`shared`], [`registers`], [`threads`], [`barriers`]: limits and formats of each hardware
//!   unit.
//!
//! The sources are the PTX ISA 9.0, the CUDA driver API 13.0 and the CUDA C++ Programming Guide 13.0, "Compute
//! Capabilities". Facts without NVIDIA documentation are marked "Measured".

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

pub use element::{ElementType, NumberKind, PartialByte, RustType, WgmmaInput};
pub use swizzle::SwizzleMode;

/// The architecture, as PTX names it. Code for it runs only on compute capability 9.0 (PTX ISA 9.0, ".target").
pub const TARGET: &str = "sm_90a";

/// The compute capability, major and minor.
pub const COMPUTE_CAPABILITY: (i32, i32) = (9, 0);
