//! Products of 8-bit numbers with scales.

use cute_runtime::{Device, Tensor, TensorView, TensorViewMut, bf16, e4m3};

use super::Tile;
use super::form::{Place, extents, is_contiguous, lies_along_rows};
use super::model::Product;
use crate::Error;
use crate::extent::extent;
use crate::pack::{Pack, pack, unpack};
use crate::tma::can_store_by_tma;

/// Rows and columns of B, and columns of A, that have a scale in common.
const BLOCK: usize = 128;

/// Element types of products with scales: `e4m3` and `i8`.
pub trait ScaledInput: Pack + kernels::gemm_scaled_types {}

impl<T: Pack + kernels::gemm_scaled_types> ScaledInput for T {}

/// `D[i, j] = scale_a[i] · scale_b[j] · Σₖ A[i, k] · B[j, k]` for A of shape (M, K), B of shape (N, K) and D of shape (M, N).
///
/// There is a scale for each row of A, or one for all, and for each row of B, or one for all. Sums of `i8` are exact
/// if they fit `i32`, as they do for K up to 131,071; in those of `e4m3`, each instruction keeps 13 bits after the point, which
/// [`gemm_block_scaled`] does not.
///
/// M, N and K are arbitrary, up to 2³¹ − 1. D is contiguous along N, and A and B along either of their modes. The product is fastest if A
/// and B are contiguous along K, and all rows begin at multiples of 128 bytes. A and B that TMA cannot load so are copied first. D whose
/// rows do not begin at multiples of 16 bytes, or are not multiples of 16 bytes long, is computed elsewhere and then copied. On a GPU the
/// call returns before the product is complete, unless it copies: then it waits for that.
///
/// ```
/// use cute_runtime::{Device, Tensor, bf16, e4m3};
/// let device = Device::emulator();
/// let a = Tensor::from_slice(&device, &[e4m3::from_f32(1.5); 3 * 16], [3, 16])?;
/// let b = Tensor::from_slice(&device, &[e4m3::from_f32(2.0); 8 * 16], [8, 16])?;
/// let rows = Tensor::from_slice(&device, &[1.0f32, 2.0, 4.0], [3])?;
/// let all = Tensor::from_slice(&device, &[0.5f32], [1])?;
/// let mut d = Tensor::<bf16, 2>::zeros(&device, [3, 8])?;
/// cute_kernels::gemm_scaled(&device, &a.view(), &rows.view(), &b.view(), &all.view(), &mut d.view_mut())?;
/// assert_eq!(d.download()?[15..17], [bf16::from_f32(48.0), bf16::from_f32(96.0)]);
/// # Ok::<(), cute_kernels::Error>(())
/// ```
///
/// # Errors
///
/// If the shapes do not fit together, a tensor of scales has another length, an extent is 0 or larger than 2³¹ − 1, or a matrix is
/// contiguous along no mode that is possible. The error names the argument and the rule that it breaks, and nothing has been launched.
pub fn gemm_scaled<T: ScaledInput>(
    device: &Device,
    a: &TensorView<'_, T, 2>,
    scale_a: &TensorView<'_, f32, 1>,
    b: &TensorView<'_, T, 2>,
    scale_b: &TensorView<'_, f32, 1>,
    d: &mut TensorViewMut<'_, bf16, 2>,
) -> Result<(), Error> {
    let [_, m, n, k] = extents(a, b, d)?;
    let [m, n, k] = [extent(m)?, extent(n)?, extent(k)?];
    let check = |argument, scale: &TensorView<'_, f32, 1>, rows: u32| {
        fits("gemm_scaled", argument, scale, &[[rows as usize], [1]])
    };
    check("scale_a", scale_a, m)?;
    check("scale_b", scale_b, n)?;
    let product = Product::new::<T, bf16>(device, [1, m, n, k]);
    let tile = product.fastest([Tile::Single, Tile::Narrow]);
    let grid = product.ctas(tile);
    let config = match tile {
        Tile::Single => kernels::gemm_scaled_CFG::SINGLE,
        _ => kernels::gemm_scaled_CFG::NARROW,
    };
    with_aligned(device, a, b, d, |a, b, d| {
        kernels::gemm_scaled::launch(config, device, grid, a, scale_a, b, scale_b, d, m, n, k)
    })
}

/// `D[i, j] = Σₖ (scale_a[i, k / 128] · A[i, k]) · (scale_b[j / 128, k / 128] · B[j, k])` for A of shape (M, K), B of shape (N, K) and D of
/// shape (M, N), as DeepSeek-V3 scales activations and weights.
///
/// scale_a has shape (M, ⌈K / 128⌉), and scale_b has (⌈N / 128⌉, ⌈K / 128⌉). The sums of 128 products, of which each instruction keeps 13
/// bits after the point, are added up in f32.
///
/// What [`gemm_scaled`] says of the matrices holds here, too. scale_b is contiguous along K, and scale_a along either of its modes. If
/// it is along K, it is copied first; if it is along M, it is not.
///
/// ```
/// use cute_runtime::{Device, Tensor, bf16, e4m3};
/// let device = Device::emulator();
/// let a = Tensor::from_slice(&device, &[e4m3::from_f32(1.0); 2 * 256], [2, 256])?;
/// let b = Tensor::from_slice(&device, &[e4m3::from_f32(0.5); 8 * 256], [8, 256])?;
/// let scale_a = Tensor::from_slice(&device, &[1.0f32, 2.0, 3.0, 4.0], [2, 2])?;
/// let scale_b = Tensor::from_slice(&device, &[1.0f32, 10.0], [1, 2])?;
/// let mut d = Tensor::<bf16, 2>::zeros(&device, [2, 8])?;
/// cute_kernels::gemm_block_scaled(
///     &device,
///     &a.view(),
///     &scale_a.view(),
///     &b.view(),
///     &scale_b.view(),
///     &mut d.view_mut(),
/// )?;
/// assert_eq!(d.download()?[7..9], [bf16::from_f32(64.0 * 21.0), bf16::from_f32(64.0 * 43.0)]);
/// # Ok::<(), cute_kernels::Error>(())
/// ```
///
/// # Errors
///
/// Those of [`gemm_scaled`].
pub fn gemm_block_scaled(
    device: &Device,
    a: &TensorView<'_, e4m3, 2>,
    scale_a: &TensorView<'_, f32, 2>,
    b: &TensorView<'_, e4m3, 2>,
    scale_b: &TensorView<'_, f32, 2>,
    d: &mut TensorViewMut<'_, bf16, 2>,
) -> Result<(), Error> {
    let [_, m, n, k] = extents(a, b, d)?;
    let [m, n, k] = [extent(m)?, extent(n)?, extent(k)?];
    let blocks = |extent: u32| (extent as usize).div_ceil(BLOCK);
    let check = |argument, scale: &TensorView<'_, f32, 2>, rows: usize| {
        fits("gemm_block_scaled", argument, scale, &[[rows, blocks(k)]])
    };
    check("scale_a", scale_a, m as usize)?;
    check("scale_b", scale_b, blocks(n))?;
    // A warp reads the scales of neighbouring rows.
    let mut scale_a = scale_a.select([1, 0])?;
    let copy: Box<Tensor<f32, 3>>;
    let along_k = scale_a.prepend::<3>()?;
    if lies_along_rows(&along_k) {
        copy = pack(device, along_k, true, &mut None)?;
        scale_a = copy
            .buffer()
            .view(0, scale_a.shape(), [copy.shape()[2], 1])?;
    }
    let product = Product::new::<e4m3, bf16>(device, [1, m, n, k]);
    let tile = product.fastest([Tile::Square, Tile::Narrow]);
    let grid = product.ctas(tile);
    let config = match tile {
        Tile::Square => kernels::gemm_block_scaled_CFG::SQUARE_PROMOTED,
        _ => kernels::gemm_block_scaled_CFG::NARROW_PROMOTED,
    };
    with_aligned(device, a, b, d, |a, b, d| {
        kernels::gemm_block_scaled::launch(
            config, device, grid, a, &scale_a, b, scale_b, d, m, n, k,
        )
    })
}

/// Checks that a tensor of scales has one of the shapes that are possible.
fn fits<const R: usize>(
    function: &'static str,
    argument: &'static str,
    scale: &TensorView<'_, f32, R>,
    possible: &[[usize; R]],
) -> Result<(), Error> {
    match possible.contains(&scale.shape()) {
        true => Ok(()),
        false => Err(Error::GemmScale {
            function,
            argument,
            possible: possible.iter().map(|shape| shape.to_vec()).collect(),
            found: scale.shape().to_vec(),
        }),
    }
}

/// Calls `launch` with the matrices, or with copies of those that TMA cannot take.
fn with_aligned<T: Pack>(
    device: &Device,
    a: &TensorView<'_, T, 2>,
    b: &TensorView<'_, T, 2>,
    d: &mut TensorViewMut<'_, bf16, 2>,
    launch: impl FnOnce(
        &TensorView<'_, T, 3>,
        &TensorView<'_, T, 3>,
        &mut TensorViewMut<'_, bf16, 3>,
    ) -> Result<(), cute_runtime::Error>,
) -> Result<(), Error> {
    let (a, b) = (a.prepend::<3>()?, b.prepend::<3>()?);
    let (from_a, from_b) = (Place::new("a", &a, false)?, Place::new("b", &b, false)?);
    let a_copy = from_a.copy(device, a, &mut None)?;
    let b_copy = from_b.copy(device, b, &mut None)?;
    let (a, b) = (from_a.view(a, &a_copy)?, from_b.view(b, &b_copy)?);
    let mut d = d.as_view_mut().prepend::<3>()?;
    // What is not contiguous is refused by the launch, too.
    if can_store_by_tma(&d.as_view()) || !is_contiguous(&d.as_view()) {
        launch(&a, &b, &mut d)?;
        return Ok(());
    }
    let [_, m, n] = d.shape();
    let mut aligned = Tensor::zeros(device, [1, m, n.next_multiple_of(64)])?;
    launch(&a, &b, &mut aligned.view_mut())?;
    unpack(device, &aligned.view(), &mut d)
}

/// The kernels, and their instances.
#[cute_runtime::kernels]
pub mod kernels {
    use crate::epilogue::kernels::{
        of_blocks, of_columns, of_rows, store_by_tma, store_pieces_by_tma,
    };
    use crate::gemm::kernels::{
        Config, NARROW, NARROW_PROMOTED, SINGLE, SQUARE_PROMOTED, multiply, multiply_scaled, tiles,
    };

    /// A product with a scale for each row of A and of B, or one for all.
    #[kernel(threads = 384)]
    #[instances(T in [e4m3, i8], CFG in [SINGLE, NARROW])]
    pub fn gemm_scaled<T: Element, const CFG: Config>(
        a: TmaLoad<T, 3>,
        scale_a: Global<f32, 1>,
        b: TmaLoad<T, 3>,
        scale_b: Global<f32, 1>,
        d: TmaStore<bf16, 3>,
        m: u32,
        n: u32,
        k: u32,
    ) {
        multiply::<_, _, _, CFG>(a, b, tiles::<CFG>(1, m, n), k, |acc, consumer, at, _| {
            let rows = of_rows(scale_a, acc, at.1);
            let scaled =
                |piece, at| convert::<f32>(piece) * rows * of_columns(scale_b, piece, at.2);
            store_pieces_by_tma(acc, scaled, d, consumer, at);
        });
        tma_wait_read(0);
    }

    /// A product with a scale for each row of A and 128 of its columns, with the modes (K, M), and for each 128 × 128 elements of B.
    #[kernel(threads = 384)]
    #[instances(CFG in [SQUARE_PROMOTED, NARROW_PROMOTED])]
    pub fn gemm_block_scaled<const CFG: Config>(
        a: TmaLoad<e4m3, 3>,
        scale_a: Global<f32, 2>,
        b: TmaLoad<e4m3, 3>,
        scale_b: Global<f32, 2>,
        d: TmaStore<bf16, 3>,
        m: u32,
        n: u32,
        k: u32,
    ) {
        multiply_scaled::<_, _, _, CFG>(
            a,
            b,
            tiles::<CFG>(1, m, n),
            k,
            |acc, (_, row, column), step| of_blocks(scale_a, scale_b, acc, (row, column), step),
            |acc, consumer, at, _| store_by_tma(acc, d, consumer, at),
        );
        tma_wait_read(0);
    }
}
