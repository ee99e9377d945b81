//! Facts about the chips that kernels are compiled for, for all crates: each fact stands here once, with its source.
//!
//! - [`Chip`]: one row for each chip, with the limits that may differ between chips; [`Target`]: its name in PTX.
//! - [`ElementType`]: the types of elements, with their names in Rust, PTX, tensor maps and wgmma.
//! - [`SwizzleMode`]: the swizzles of shared memory in TMA and wgmma.
//! - [`tma`], [`wgmma`], [`shared`], [`registers`], [`threads`], [`barriers`]: formats of each hardware unit, and limits
//!   that are the same for all chips.
//!
//! The sources are the PTX ISA 9.0, the CUDA driver API 13.0 and the CUDA C++ Programming Guide 13.0, "Compute
//! Capabilities". Facts without NVIDIA documentation are marked "Measured".

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod barriers;
mod chip;
mod element;
pub mod registers;
pub mod shared;
mod swizzle;
mod target;
pub mod threads;
pub mod tma;
pub mod wgmma;

pub use chip::Chip;
pub use element::{ElementType, NumberKind, PartialByte, RustType, WgmmaInput};
pub use swizzle::SwizzleMode;
pub use target::Target;
