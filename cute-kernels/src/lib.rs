//! Kernels written in the kernel language, and safe host functions over them.

pub mod attention;
pub mod epilogue;
mod error;
mod extent;
pub mod gemm;
pub mod mma;
pub mod pipeline;
pub mod reference;
mod store;
pub mod tile_scheduler;
pub mod transpose;

/// The functions, structs and constants of the kernel language that modules of kernels import:
/// `use cute_kernels::lib::{Ring, Tiles};`.
pub mod lib {
    pub use crate::epilogue::kernels::{store_by_element, store_by_tma};
    pub use crate::gemm::kernels::{Config, PAIR, SINGLE, gemm_with, multiply};
    pub use crate::mma::kernels::TiledMma;
    pub use crate::pipeline::kernels::{Consumer, Producer, Ring, Slot};
    pub use crate::tile_scheduler::kernels::{Tile, Tiles};
}

pub use attention::attention;
pub use error::Error;
pub use gemm::{GemmOutput, gemm};
pub use transpose::{Transpose, transpose};
