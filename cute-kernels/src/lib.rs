//! Kernels for Hopper GPUs, and safe functions that launch them: matrix products, attention, softmax, norms, sums and more.
//!
//! Each function takes a device and views of its tensors, and checks them before anything is launched. On a machine without such a
//! GPU, [`Device::default`] is the emulator, and the same calls work there.
//! ```
//! use cute_kernels::{Device, Error, Tensor, bf16, gemm, softmax};
//!
//! fn main() -> Result<(), Error> {
//!     let device = Device::default();
//!     // D = A · Bᵀ for A of 2 × 8, all ones, and B of 3 × 8, whose row j has the number j in all columns.
//!     let numbers: Vec<bf16> = (0..3 * 8).map(|i| bf16::from_f32((i / 8) as f32)).collect();
//!     let a = Tensor::from_slice(&device, &[bf16::ONE; 2 * 8], [2, 8])?;
//!     let b = Tensor::from_slice(&device, &numbers, [3, 8])?;
//!     let mut d = Tensor::<f32, 2>::zeros(&device, [2, 3])?;
//!     gemm(&device, &a.view(), &b.view(), &mut d.view_mut())?;
//!     assert_eq!(d.download()?, [0.0, 8.0, 16.0, 0.0, 8.0, 16.0]);
//!
//!     // The product stays on the device, where the next function reads it.
//!     let mut y = Tensor::<f32, 2>::zeros(&device, [2, 3])?;
//!     softmax(&device, &d.view(), &mut y.view_mut())?;
//!     println!("{:?}", y.download()?);
//!     assert!(y.download()?[2] > 0.999);
//!     Ok(())
//! }
//! ```
//!
//! # Products
//!
//! A has the shape (M, K), B has (N, K), and D has (M, N). All but [`gemm_grouped`] and [`gemm_list`] also take batches: three tensors with
//! one more mode in front. A matrix X of shape (K, N) is given as its transposed view, `X.view().select([1, 0])`.
//!
//! | function | computes | element types: A and B → D | feature |
//! |---|---|---|---|
//! | [`gemm`](fn@gemm) | `D[m, n] = Σₖ A[m, k] · B[n, k]` | `bf16` → `bf16`, `f32` | `core` |
//! | | | `f16` → `f16`, `f32` | `f16` |
//! | | | `f32`, read as tf32 → `f32` | `f32` |
//! | | | `e4m3` → `bf16`, `f32`; `i8` → `i32` | `f8-i8` |
//! | | | `e5m2`, and `e4m3` beside `e5m2` → `bf16`, `f32`; `u8`, and `i8` beside `u8` → `i32` | `mixed` |
//! | [`gemm_linear`] | D = α · A · Bᵀ + β · C | `bf16` → `bf16`, `f32`; and with the features of these types, `f16` → `f16`, `f32`; `f32` → `f32`; `e4m3` → `bf16`, `f32` | `linear` |
//! | [`gemm_update`] | D = α · A · Bᵀ + β · D | as [`gemm_linear`] | `linear` |
//! | [`gemm_fused`] | D = f(α · A · Bᵀ + β · C + bias), and the largest values of rows | `bf16` → `bf16`; with `f16`, `f16` → `f16` | `fused` |
//! | [`gemm_gated`] | `D[m, n] = f(x[m, 2n]) · x[m, 2n + 1]` for x = α · A · Bᵀ + bias: SwiGLU, GEGLU | as [`gemm_fused`] | `fused` |
//! | [`gemm_list`] | Dᵢ = Aᵢ · Bᵢᵀ for a list of products of any shapes | `bf16` → `bf16`, `f32`; with `f16`, `f16` → `f16` | `grouped` |
//! | [`gemm_grouped`] | D = A · Bₑᵀ for each group e of rows, whose ends are on the device ([`check_group_ends`] checks ends on the host) | `bf16` → `bf16`; with `f16`, `f16` → `f16` | `grouped` |
//! | [`gemm_scaled`] | `D[m, n] = scale_a[m] · scale_b[n] · Σₖ A[m, k] · B[n, k]` | `e4m3`, `i8`; with `mixed`, `e5m2` and `u8`, too → `bf16`, `f16`, `f32` | `scaled` |
//! | [`gemm_block_scaled`] | the same with a scale for each 128 columns of a row of A, and each 128 × 128 elements of B | `e4m3`; with `mixed`, `e5m2`, too → `bf16`, `f32` | `scaled` |
//!
//! Each matrix is contiguous along one of its two modes, with any stride along the other and any address. Four functions take only D
//! that is contiguous along N: [`gemm_grouped`], [`gemm_block_scaled`], [`gemm_fused`] and [`gemm_gated`]. What the hardware cannot load as it lies is copied first, and
//! [each function](fn@gemm) says when. A product is fastest if its matrices are contiguous along K, and their rows start at
//! multiples of 128 bytes. A [`Plan`] tells by which [`Tile`] a product is computed, or measures it, and a [`Choice`] keeps the result.
//!
//! # Other functions
//!
//! | function | computes | element types | shapes, strides and alignment | feature |
//! |---|---|---|---|---|
//! | [`attention`](fn@attention) | O = softmax(scale · Q · Kᵀ) · V, causal or not | `bf16` | Q and O (B, M, D), K and V (B, N, D), D 64 or 128. Rows are contiguous and start at multiples of 16 bytes | `core` |
//! | [`softmax`](fn@softmax) | `y[i, j] = exp(x[i, j]) / Σₖ exp(x[i, k])` | `bf16`, `f32`; `f16` | x and y (M, N). Rows are contiguous, and start anywhere | `core`; `f16` |
//! | [`layer_norm`] | `y[i, j] = (x[i, j] − meanᵢ) / √(varianceᵢ + epsilon) · gamma[j] + beta[j]` | `bf16`, `f32`; `f16` | x and y (M, N), gamma and beta (N). As for softmax | `core`; `f16` |
//! | [`rms_norm`] | `y[i, j] = x[i, j] / √(Σₖ x[i, k]² / N + epsilon) · gamma[j]` | `bf16`, `f32`; `f16` | x and y (M, N), gamma (N). As for softmax | `core`; `f16` |
//! | [`sum_rows`] | `sums[i] = Σⱼ x[i, j]` | `bf16`, `f32`; with `f16`, `f16` → `f32` | x (M, N), sums (M). As for softmax | `rows` |
//! | [`sum()`] | `total[0] = Σᵢ x[i]` | `bf16`, `f32`; with `f16`, `f16` → `f32` | x (N), total (1). Contiguous, and starts anywhere | `rows` |
//! | [`transpose`](fn@transpose) | `D[n, m] = S[m, n]` | `bf16`, `f16`, `f32`, `u32` | S (M, N), D (N, M). Rows are contiguous, and those of S start at multiples of 16 bytes | `core` |
//! | [`quantise_rows`] | `scales[i] = largest[i] / LARGEST`, `y[i, j] = x[i, j] / scales[i]` | `bf16`, `f32`; with `f16`, `f16` → `e4m3`, `i8`; with `mixed`, `e5m2` | x and y (M, N), largest and scales (M). As for softmax | `f8-i8` |
//! | [`saxpy`] | `y[i] = a · x[i] + y[i]` | `f32` | x and y (N). Contiguous, and start anywhere | `core` |
//! | [`histogram()`] | adds to `counts[b]` how often byte b occurs | `u8` → `u32` | data (N), counts (256). Contiguous, and start anywhere | `rows` |
//!
//! # For all of them
//!
//! - Extents are at most 2³¹ − 1, and need not be multiples of anything.
//! - An argument that breaks a rule is an [`Error`] with the argument, the rule and the numbers, and nothing has been launched.
//! - On a GPU, a call returns before the result is complete, unless it copies an argument first. The next function, and `download`, wait.
//! - [`lib`] has the parts of which the kernels are made, for kernels of your own. [`mod@reference`] compares products with float64,
//!   and [`timing`] compares times.
//!
//! # Features
//!
//! A build has only the kernels of its features, since each takes 0.02 to 0.1 s to expand if cargo builds macros without
//! optimisation, the default. All functions are in every build. If the kernel for the arguments is not in the build, the function
//! returns an error that names the feature.
//!
//! | feature | kernels | what it adds |
//! |---|---|---|
//! | `core`, by default | 264 | products of bf16 along K with D of bf16 and f32, by all tiles; softmax and norms of bf16 and f32; attention; transposes |
//! | `f16` | 204 | f16 where `core` has bf16 |
//! | `f32` | 80 | products of f32, by tf32 |
//! | `f8-i8` | 223 | products of 8-bit floating-point numbers and integers, and the quantisation of rows |
//! | `mixed`, with `f8-i8` | 105 | the 8-bit types e5m2 and u8, alone and beside e4m3 and i8 |
//! | `majors` | 26 | products of matrices that are contiguous along M or N; without this feature, they are copied first |
//! | `linear` | 8 | [`gemm_linear`] and [`gemm_update`] |
//! | `fused` | 235 | [`gemm_fused`] and [`gemm_gated`] |
//! | `grouped` | 14 | [`gemm_grouped`] and [`gemm_list`] |
//! | `scaled`, with `f8-i8` | 24 | [`gemm_scaled`] and [`gemm_block_scaled`] |
//! | `rows` | 18 | [`sum()`], [`sum_rows`] and [`histogram()`] |
//! | `all` | 1582 | all of them |
//! | `serde` | | plans of products, to be written and read |
//! | `instantiate` | | tiles of products that are not compiled ahead: [`Plan::with_tile`] and [`Plan::autotune`] make their kernels |
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
//! | products with K of 0 | D is 0, or β · C for [`gemm_linear`] and [`gemm_update`], whatever α and the scales are; for [`gemm_fused`] and [`gemm_gated`], it is of sums that are 0 |
//! | [`gemm_grouped`] without groups | no row belongs to a group, so D is unchanged |
//! | [`attention`](fn@attention) without keys | O is 0 |
//! | [`sum()`] of nothing, [`sum_rows`] of rows without elements | 0 |
//! | [`quantise_rows`] of rows without elements | the scales follow from `largest` |
//! | [`histogram()`] of nothing | no count changes |
//!
//! Launching a kernel itself with such a tensor is an error, also for kernels of this crate: kernels rely on extents of 1 or
//! more.

#![forbid(unsafe_code)]

pub mod attention;
pub mod elementwise;
mod error;
mod extent;
pub mod gemm;
pub mod histogram;
pub mod norm;
pub mod pack;
pub mod parts;
pub mod product;
pub mod quantise;
pub mod reference;
pub mod row;
pub mod softmax;
pub mod sum;
pub mod timing;
mod tma;
pub mod transpose;

/// The functions, structs and constants of the kernel language that modules of kernels import:
/// `use cute_kernels::lib::{Ring, Tiles};`.
pub mod lib {
    pub use crate::elementwise::kernels::{apply, load, store, update};
    pub use crate::gemm::kernels::gemm_with;
    pub use crate::parts::config::kernels::{
        Config, NARROW, NARROW_PROMOTED, PAIR, SINGLE, SQUARE, SQUARE_BY_ELEMENT, SQUARE_PROMOTED,
        SQUARE_PROMOTED_BY_ELEMENT, THIN, WHOLE,
    };
    pub use crate::parts::copy::kernels::TiledCopy;
    pub use crate::parts::epilogue::activation::kernels::{
        Activation, activate, gated, gelu, gelu_fast, gelu_tanh, gelu_tanh_fast, of_column,
        of_element, of_row, relu, silu, silu_fast,
    };
    pub use crate::parts::epilogue::scale::kernels::{
        absmax_of_rows, absmax_of_transposed_rows, bias_of_columns, linear_combination, of_blocks,
        of_columns, of_rows, scaled_tile,
    };
    pub use crate::parts::epilogue::store::kernels::{
        finish_stores, store_by_element, store_by_tma, store_by_vector, store_pieces_by_tma,
        store_rows, store_tile, store_transposed_by_tma,
    };
    pub use crate::parts::mainloop::kernels::{
        multiply, multiply_held, multiply_problems, multiply_scaled, tiles,
    };
    pub use crate::parts::mma::kernels::TiledMma;
    pub use crate::parts::ring::kernels::{Consumer, Producer, Ring, Slot};
    pub use crate::parts::split::kernels::Split;
    pub use crate::parts::tiles::kernels::{Groups, ProblemTile, Problems, Tile, Tiles, place};
    pub use crate::product::table::kernels::{TILES, TILES_BY_8};
    pub use crate::row::kernels::{
        ANY_1017, ANY_2041, ANY_6137, ANY_12281, ANY_LONG, HELD, LONG, ROW_1024, ROW_1536,
        ROW_2048, ROW_3072, ROW_4096, ROW_6144, ROW_8192, ROW_12288, ROW_16384, ROW_LONG, Rows,
        Stream,
    };
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
    Activation, BlockScaledInput, Choice, Epilogue, FusedInput, GatedInput, GemmInput,
    GroupedInput, LinearInput, ListInput, Plan, ScaledInput, Tile, check_group_ends, gemm,
    gemm_block_scaled, gemm_fused, gemm_gated, gemm_grouped, gemm_linear, gemm_list, gemm_scaled,
    gemm_update, remember, tuned,
};
pub use histogram::histogram;
pub use norm::{layer_norm, rms_norm};
pub use quantise::{Quantised, quantise_rows};
pub use softmax::softmax;
pub use sum::{sum, sum_rows};
pub use transpose::{Transpose, transpose};
