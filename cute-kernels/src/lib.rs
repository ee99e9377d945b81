//! Kernels written in the kernel language, and safe host functions over them.

pub mod epilogue;
mod error;
mod extent;
pub mod gemm;
pub mod pipeline;
pub mod reference;
mod store;
pub mod tile_scheduler;
pub mod transpose;

pub use error::Error;
pub use gemm::{GemmOutput, gemm};
pub use transpose::{Transpose, transpose};
