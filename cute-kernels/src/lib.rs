//! Kernels written in the kernel language, and safe host functions over them.
//!
//! # Features
//!
//! A build has only the kernels of its features, since each takes 0.02 to 0.1 s to expand if cargo builds macros without
//! optimisation, the default. All functions are in every build. If the kernel for the arguments is not in the build, the function
//! returns an error that names the feature.
//!
//! | feature | kernels | what it adds |
//! |---|---|---|
//! | `core`, by default | 166 | products of bf16 along K with D of bf16 and f32, by all tiles; softmax and norms of bf16 and f32; attention; transposes |
//! | `f16` | 107 | f16 where `core` has bf16 |
//! | `f32` | 32 | products of f32, by tf32 |
//! | `f8-i8` | 98 | products of 8-bit floating-point numbers and integers, and the quantisation of rows |
//! | `mixed`, with `f8-i8` | 87 | the 8-bit types e5m2 and u8, alone and beside e4m3 and i8 |
//! | `majors` | 30 | products of matrices that are contiguous along M or N; without this feature, they are copied first |
//! | `linear` | 8 | [`gemm_linear`] and [`gemm_update`] |
//! | `grouped` | 14 | [`gemm_grouped`] and [`gemm_list`] |
//! | `scaled`, with `f8-i8` | 24 | [`gemm_scaled`] and [`gemm_block_scaled`] |
//! | `rows` | 18 | [`sum()`], [`sum_rows`] and [`histogram()`] |
//! | `all` | 734 | all of them |
//! | `serde` | | plans of products, to be written and read |
//!
//! The numbers count the kernels that a feature adds to `core`. Two features together may add more: grouped products of f16 need
//! `grouped` and `f16`.
//!
//! # Extents of 0
//!
//! All functions take tensors without elements, and give the same results as PyTorch. The shapes must still fit together.
//!
//! | where | result |
//! |---|---|
//! | the output has no elements | nothing is done, and nothing launched |
//! | products with K of 0 | D is 0, or β · C for [`gemm_linear`] and [`gemm_update`], whatever α and the scales are |
//! | [`gemm_grouped`] without groups | no row belongs to a group, so D is unchanged |
//! | [`attention`](fn@attention) without keys | O is 0 |
//! | [`sum()`] of nothing, [`sum_rows`] of rows without elements | 0 |
//! | [`quantise_rows`] of rows without elements | the scales follow from `largest` |
//! | [`histogram()`] of nothing | no count changes |
//!
//! Launching a kernel itself with such a tensor is an error, also for kernels of this crate: kernels rely on extents of 1 or
//! more.

#![forbid(unsafe_code)]

pub mod activation;
pub mod attention;
pub mod copy;
pub mod elementwise;
pub mod epilogue;
mod error;
mod extent;
pub mod gemm;
pub mod histogram;
pub mod mma;
pub mod norm;
pub mod pack;
pub mod pipeline;
pub mod quantise;
pub mod reference;
pub mod row;
pub mod softmax;
pub mod split;
pub mod sum;
pub mod tile_scheduler;
pub mod timing;
mod tma;
pub mod transpose;

/// The functions, structs and constants of the kernel language that modules of kernels import:
/// `use cute_kernels::lib::{Ring, Tiles};`.
pub mod lib {
    pub use crate::activation::kernels::{
        gelu, gelu_tanh, of_column, of_element, of_row, relu, silu,
    };
    pub use crate::copy::kernels::TiledCopy;
    pub use crate::elementwise::kernels::{apply, load, store, update};
    pub use crate::epilogue::kernels::{
        absmax_of_rows, gated, linear_combination, of_blocks, of_columns, of_rows,
        store_by_element, store_by_tma, store_by_vector, store_pieces_by_tma,
        store_transposed_by_tma,
    };
    pub use crate::gemm::config::kernels::{
        BROAD, Config, FEW, FEW_TT, MEDIUM, MEDIUM_112, NARROW, NARROW_2, NARROW_IN_TURNS,
        NARROW_NN, NARROW_NT, NARROW_PROMOTED, NARROW_SWAPPED, NARROW_TT, OBLONG, OBLONG_NN,
        OBLONG_SWAPPED, PAIR, PAIR_NN, PAIR_SWAPPED, SINGLE, SINGLE_NN, SINGLE_NT, SINGLE_SWAPPED,
        SINGLE_TT, SMALL, SQUARE, SQUARE_2, SQUARE_NN, SQUARE_NT, SQUARE_PAIR, SQUARE_PROMOTED,
        SQUARE_TT, SWAPPED, SWAPPED_80, SWAPPED_112, SWAPPED_THIN, SWAPPED_THIN_80, THIN, THIN_4,
        THIN_8, THIN_NN, THIN_NT, THIN_PAIR, THIN_TT, WHOLE, WHOLE_96, WHOLE_TT, WIDE,
    };
    pub use crate::gemm::kernels::gemm_with;
    pub use crate::gemm::multiply::kernels::{multiply, multiply_problems, multiply_scaled, tiles};
    pub use crate::mma::kernels::TiledMma;
    pub use crate::pipeline::kernels::{Consumer, Producer, Ring, Slot};
    pub use crate::row::kernels::{
        ANY_1017, ANY_2041, ANY_6137, ANY_12281, ANY_LONG, ROW_1024, ROW_1536, ROW_2048, ROW_3072,
        ROW_4096, ROW_6144, ROW_8192, ROW_12288, ROW_16384, ROW_LONG, Rows, Stream,
    };
    pub use crate::split::kernels::Split;
    pub use crate::tile_scheduler::kernels::{Groups, ProblemTile, Problems, Tile, Tiles, place};
}

/// The crate of devices, tensors and `#[kernels]`. Its types in the signatures of this crate's functions are also re-exported
/// here.
pub use cute_runtime;
pub use cute_runtime::{
    Device, Element, ElementType, Tensor, TensorView, TensorViewMut, bf16, e4m3, e5m2, f16,
};

pub use attention::attention;
pub use elementwise::saxpy;
pub use error::Error;
pub use gemm::{
    BlockScaledInput, Choice, GemmInput, GroupedInput, LinearInput, ListInput, Plan, ScaledInput,
    Tile, check_group_ends, gemm, gemm_block_scaled, gemm_grouped, gemm_linear, gemm_list,
    gemm_scaled, gemm_update,
};
pub use histogram::histogram;
pub use norm::{layer_norm, rms_norm};
pub use quantise::{Quantised, quantise_rows};
pub use softmax::softmax;
pub use sum::{sum, sum_rows};
pub use transpose::{Transpose, transpose};
