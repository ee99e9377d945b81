//! D[m, n] = Σₖ A[m, k] · B[n, k], for floating-point numbers of 8, 16 and 32 bits and for integers of 8.

mod choice;
mod epilogue;
mod estimate;
pub mod fused;
pub mod gated;
pub mod grouped;
mod input;
mod instance;
mod kernel;
pub mod linear;
pub mod list;
#[cfg(feature = "instantiate")]
pub mod made;
mod once;
mod plan;
pub mod scaled;
pub mod streamed;
pub mod sums;
mod tile;
mod tuned;

use cute_runtime::{Device, Element, TensorView, TensorViewMut};

use crate::Error;

pub use crate::parts::epilogue::activation::kernels::Activation;

pub use choice::Choice;
pub use epilogue::Epilogue;
pub use fused::{FusedInput, gemm_fused};
pub use gated::{GatedInput, gemm_gated};
pub use grouped::{GroupedInput, check_group_ends, gemm_grouped};
pub use input::GemmInput;
pub use kernel::kernels;
pub use linear::{LinearInput, gemm_linear, gemm_update};
pub use list::{ListInput, gemm_list};
pub use plan::Plan;
pub use scaled::{BlockScaledInput, ScaledInput, gemm_block_scaled, gemm_scaled};
pub use tile::Tile;
pub use tuned::{remember, tuned};

/// D = A · Bᵀ for A of shape (M, K), B of shape (N, K) and D of shape (M, N), or for batches of as many matrices, with a mode before
/// these.
///
/// | A and B | sums | D |
/// |---|---|---|
/// | `bf16` | `f32` | `bf16`, `f32` |
/// | `f16` | `f32` | `f16`, `f32` |
/// | `f32`, of which the tensor core reads the 19 highest bits, as tf32 | `f32` | `f32` |
/// | `e4m3` and `e5m2`, each of them either | `f32`, of which each instruction keeps 13 bits after the point | `bf16`, `f32` |
/// | `i8` and `u8`, each of them either | `i32`, exact for K up to 131,071 for `i8`, 33,025 for `u8`, and 65,793 for both | `i32` |
///
/// M, N and K are arbitrary, up to 2³¹ − 1. Each matrix is contiguous along one of its modes, with any stride along the other: for a
/// matrix X of shape (K, M), `X.view().select([1, 0])` is A. A batch may have stride 0.
///
/// The product is fastest if rows, or columns where these are contiguous, start at multiples of 128 bytes. If D does not start at
/// multiples of 16 bytes, or is not multiples of 16 bytes long, it is stored by elements, not by TMA. A or B that does not start
/// at multiples of 16 bytes is copied first. A or B along M or N is copied, too, unless D is stored by TMA and the matrix is
/// `bf16` or `f16`. One matrix of `f32` with more than 128 rows may be along M or N without a copy; if both are, the smaller is
/// copied. On a GPU the call returns before the product is complete, unless it copies: then it waits for that. A plan keeps the
/// memory of the copies, so that its launches do not wait.
///
/// Where the tiles of D leave multiprocessors idle and K is long, K is divided into parts, whose sums a second kernel adds up
/// ([`Tile::InParts`]). The first such product allocates memory for the sums, which is kept for those that follow.
///
/// Where A or B has up to 16 rows, [`Tile::Streamed`] loads the other matrix from memory to registers: both are along K, their rows and
/// those of D begin anywhere, and nothing is copied. It sums up products of 8-bit floats as those of `f16`.
///
/// Products of different shapes are computed in one launch by [`gemm_list`], and those of groups of rows by [`gemm_grouped`].
///
/// A [`Plan`] says by which tiles the product is computed, and why, and can be used for many products. [`Plan::autotune`] measures
/// the tiles.
///
/// ```
/// use cute_runtime::{Device, Tensor, bf16};
/// let device = Device::emulator();
/// let a = Tensor::from_slice(&device, &[bf16::ONE; 3 * 8], [3, 8])?;
/// let b = Tensor::from_slice(&device, &[bf16::ONE; 5 * 8], [5, 8])?;
/// let mut d = Tensor::<f32, 2>::zeros(&device, [3, 5])?;
/// cute_kernels::gemm(&device, &a.view(), &b.view(), &mut d.view_mut())?;
/// assert_eq!(d.download()?, [8.0; 15]);
/// # Ok::<(), cute_kernels::Error>(())
/// ```
///
/// # Errors
///
/// If the shapes do not fit together, an extent is larger than 2³¹ − 1, or a matrix is contiguous along neither of its modes. The
/// error names the argument and the rule that it breaks, and nothing has been launched.
pub fn gemm<A, B, D, const R: usize>(
    device: &Device,
    a: &TensorView<'_, A, R>,
    b: &TensorView<'_, B, R>,
    d: &mut TensorViewMut<'_, D, R>,
) -> Result<(), Error>
where
    A: GemmInput<D, B>,
    B: GemmInput<D, A>,
    D: Element,
{
    once::gemm_once(device, a, b, d)
}
