//! Products that are scaled and added to a matrix.

use cute_runtime::{Device, Element, TensorView, TensorViewMut};

use super::Tile;
use super::form::{Place, extents, lies_along_rows};
use super::model::Product;
use crate::Error;
use crate::extent::extent;
use crate::pack::Pack;
use crate::tma::can_store_by_tma;
use kernels::{gemm_linear_CFG, gemm_linear_unaligned_CFG, gemm_update_CFG};

/// Element types of A and B whose products [`gemm_linear`] and [`gemm_update`] add to elements of type `D`: `bf16` to `bf16` and
/// `f32`, and `f16` to `f16`.
pub trait LinearInput<D: Element>:
    Pack
    + kernels::gemm_linear_types<D>
    + kernels::gemm_linear_unaligned_types<D>
    + kernels::gemm_update_types<D>
{
}

impl<T, D: Element> LinearInput<D> for T where
    T: Pack
        + kernels::gemm_linear_types<D>
        + kernels::gemm_linear_unaligned_types<D>
        + kernels::gemm_update_types<D>
{
}

/// The tiles for which there are instances.
const TILES: [Tile; 2] = [Tile::Square, Tile::Narrow];

/// D = α · A · Bᵀ + β · C for A of shape (M, K), B of shape (N, K), and C and D of shape (M, N), or for batches of as many matrices.
///
/// The sum is computed in `f32` and rounded once. A and B lie as for [`gemm`](fn@super::gemm), but for what is copied: all that is not
/// contiguous along K is. C is contiguous along the same mode as D, with any stride along the other, and is not read if β is 0. For C
/// that is D, there is [`gemm_update`].
///
/// ```
/// use cute_runtime::{Device, Tensor, bf16};
/// let device = Device::emulator();
/// let a = Tensor::from_slice(&device, &[bf16::ONE; 3 * 16], [3, 16])?;
/// let b = Tensor::from_slice(&device, &[bf16::ONE; 8 * 16], [8, 16])?;
/// let c = Tensor::from_slice(&device, &[2.0f32; 3 * 8], [3, 8])?;
/// let mut d = Tensor::<f32, 2>::zeros(&device, [3, 8])?;
/// cute_kernels::gemm_linear(&device, 0.5, &a.view(), &b.view(), -3.0, &c.view(), &mut d.view_mut())?;
/// assert_eq!(d.download()?, [0.5 * 16.0 - 3.0 * 2.0; 3 * 8]);
/// # Ok::<(), cute_kernels::Error>(())
/// ```
///
/// # Errors
///
/// If the shapes do not fit together, an extent is 0 or larger than 2³¹ − 1, A or B is contiguous along neither of its modes, or C along
/// another than D. The error names the argument and the rule that it breaks, and nothing has been launched.
pub fn gemm_linear<T: LinearInput<D>, D: Element, const R: usize>(
    device: &Device,
    alpha: f32,
    a: &TensorView<'_, T, R>,
    b: &TensorView<'_, T, R>,
    beta: f32,
    c: &TensorView<'_, D, R>,
    d: &mut TensorViewMut<'_, D, R>,
) -> Result<(), Error> {
    if c.shape() != d.shape() {
        return Err(Error::GemmAdded {
            c: c.shape().to_vec(),
            d: d.shape().to_vec(),
        });
    }
    with_operands(device, a, b, d, |a, b, d, product, transposed| {
        let [batches, m, n, k] = product.extents;
        let c = c.prepend::<3>()?;
        let c = match transposed {
            true => c.select([0, 2, 1])?,
            false => c,
        };
        if !can_store_by_tma(&d.as_view()) {
            let (config, grid) = (
                gemm_linear_unaligned_CFG::SQUARE,
                product.ctas(Tile::Square),
            );
            return kernels::gemm_linear_unaligned::launch(
                config, device, grid, a, b, &c, d, batches, m, n, k, alpha, beta,
            );
        }
        let tile = product.fastest(TILES);
        let config = match tile {
            Tile::Square => gemm_linear_CFG::SQUARE,
            _ => gemm_linear_CFG::NARROW,
        };
        let grid = product.ctas(tile);
        kernels::gemm_linear::launch(
            config, device, grid, a, b, &c, d, batches, m, n, k, alpha, beta,
        )
    })
}

/// D = α · A · Bᵀ + β · D, in place. Everything else is as for [`gemm_linear`], but D is stored by elements, which takes longer.
///
/// ```
/// use cute_runtime::{Device, Tensor, bf16};
/// let device = Device::emulator();
/// let a = Tensor::from_slice(&device, &[bf16::ONE; 3 * 16], [3, 16])?;
/// let b = Tensor::from_slice(&device, &[bf16::ONE; 8 * 16], [8, 16])?;
/// let mut d = Tensor::from_slice(&device, &[1.0f32; 3 * 8], [3, 8])?;
/// for _ in 0..2 {
///     cute_kernels::gemm_update(&device, 1.0, &a.view(), &b.view(), 1.0, &mut d.view_mut())?;
/// }
/// assert_eq!(d.download()?, [1.0 + 2.0 * 16.0; 3 * 8]);
/// # Ok::<(), cute_kernels::Error>(())
/// ```
///
/// # Errors
///
/// Those of [`gemm_linear`].
pub fn gemm_update<T: LinearInput<D>, D: Element, const R: usize>(
    device: &Device,
    alpha: f32,
    a: &TensorView<'_, T, R>,
    b: &TensorView<'_, T, R>,
    beta: f32,
    d: &mut TensorViewMut<'_, D, R>,
) -> Result<(), Error> {
    with_operands(device, a, b, d, |a, b, d, product, _| {
        let [batches, m, n, k] = product.extents;
        let (config, grid) = (gemm_update_CFG::SQUARE, product.ctas(Tile::Square));
        kernels::gemm_update::launch(config, device, grid, a, b, d, batches, m, n, k, alpha, beta)
    })
}

/// Calls `launch` with the matrices of a batch, or with copies of those that are not contiguous along K; with the product; and with
/// whether the matrices are those of Dᵀ = B · Aᵀ, since D is contiguous along M.
fn with_operands<T: Pack, D: Element, const R: usize>(
    device: &Device,
    a: &TensorView<'_, T, R>,
    b: &TensorView<'_, T, R>,
    d: &mut TensorViewMut<'_, D, R>,
    launch: impl FnOnce(
        &TensorView<'_, T, 3>,
        &TensorView<'_, T, 3>,
        &mut TensorViewMut<'_, D, 3>,
        Product,
        bool,
    ) -> Result<(), cute_runtime::Error>,
) -> Result<(), Error> {
    let [.., k] = extents(a, b, d)?;
    let (mut a_all, mut b_all) = (a.prepend::<3>()?, b.prepend::<3>()?);
    let mut d = d.as_view_mut().prepend::<3>()?;
    let transposed = lies_along_rows(&d.as_view());
    if transposed {
        (a_all, b_all) = (b_all, a_all);
        d = d.select([0, 2, 1])?;
    }
    let [batches, m, n] = d.shape();
    let extents = [extent(batches)?, extent(m)?, extent(n)?, extent(k)?];
    let product = Product::new::<T, D>(device, extents);
    TILES.into_iter().try_for_each(|tile| product.check(tile))?;
    let names = if transposed { ["b", "a"] } else { ["a", "b"] };
    let from_a = Place::new(names[0], &a_all, false)?;
    let from_b = Place::new(names[1], &b_all, false)?;
    let a_copy = from_a.copy(device, a_all, &mut None)?;
    let b_copy = from_b.copy(device, b_all, &mut None)?;
    let (a, b) = (from_a.view(a_all, &a_copy)?, from_b.view(b_all, &b_copy)?);
    launch(&a, &b, &mut d, product, transposed)?;
    Ok(())
}

/// The kernels, and their instances.
#[cute_runtime::kernels]
pub mod kernels {
    use crate::epilogue::kernels::{linear_combination, store_by_element, store_pieces_by_tma};
    use crate::gemm::kernels::{Config, NARROW, SQUARE, multiply, tiles};

    /// D = α · A · Bᵀ + β · C, with D stored by TMA.
    #[kernel(threads = 384)]
    #[instances((T, D) in [(bf16, bf16), (bf16, f32), (f16, f16)], CFG in [SQUARE, NARROW])]
    pub fn gemm_linear<T: Element, D: Element, const CFG: Config>(
        a: TmaLoad<T, 3>,
        b: TmaLoad<T, 3>,
        c: Global<D, 3>,
        d: TmaStore<D, 3>,
        batches: u32,
        m: u32,
        n: u32,
        k: u32,
        alpha: f32,
        beta: f32,
    ) {
        let tiles = tiles::<CFG>(batches, m, n);
        multiply::<_, _, _, CFG>(a, b, tiles, k, |acc, consumer, at, _| {
            let sum = |piece, at| linear_combination(alpha, piece, beta, c, at);
            store_pieces_by_tma(acc, sum, d, consumer, at);
        });
        tma_wait_read(0);
    }

    /// The same for D whose rows have any stride and any alignment.
    #[kernel(threads = 384)]
    #[instances((T, D) in [(bf16, bf16), (bf16, f32), (f16, f16)], CFG in [SQUARE])]
    pub fn gemm_linear_unaligned<T: Element, D: Element, const CFG: Config>(
        a: TmaLoad<T, 3>,
        b: TmaLoad<T, 3>,
        c: Global<D, 3>,
        d: Global<D, 3>,
        batches: u32,
        m: u32,
        n: u32,
        k: u32,
        alpha: f32,
        beta: f32,
    ) {
        let tiles = tiles::<CFG>(batches, m, n);
        multiply::<_, _, _, CFG>(a, b, tiles, k, |acc, _, at, _| {
            store_by_element(linear_combination(alpha, acc, beta, c, at), d, at);
        });
    }

    /// D = α · A · Bᵀ + β · D. A thread reads and then stores the same elements, which no other one does.
    #[kernel(threads = 384)]
    #[instances((T, D) in [(bf16, bf16), (bf16, f32), (f16, f16)], CFG in [SQUARE])]
    pub fn gemm_update<T: Element, D: Element, const CFG: Config>(
        a: TmaLoad<T, 3>,
        b: TmaLoad<T, 3>,
        d: Global<D, 3>,
        batches: u32,
        m: u32,
        n: u32,
        k: u32,
        alpha: f32,
        beta: f32,
    ) {
        let tiles = tiles::<CFG>(batches, m, n);
        multiply::<_, _, _, CFG>(a, b, tiles, k, |acc, _, at, _| {
            store_by_element(linear_combination(alpha, acc, beta, d, at), d, at);
        });
    }
}
