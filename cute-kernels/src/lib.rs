//! Kernels written in the kernel language, and safe host functions over them.

mod error;
mod extent;
pub mod gemm;
pub mod reference;
mod store;
pub mod transpose;

pub use error::Error;
pub use gemm::{GemmOutput, gemm};
pub use transpose::{Transpose, transpose};
