//! Products that are scaled and added to a matrix.

use cute_runtime::{Device, Element, TensorView, TensorViewMut};

use crate::Error;
use crate::extent::{Zeros, is_empty};
use crate::pack::Pack;
use crate::product::operands::{Form, extents};

/// Element types of A and B whose products [`gemm_linear`] and [`gemm_update`] add to elements of type `D`: `bf16` and `e4m3` to `bf16`
/// and `f32`, `f16` to `f16` and `f32`, and `f32`, of which the tensor core reads the 19 highest bits, to `f32`.
pub trait LinearInput<D: Element>:
    Pack + kernels::gemm_linear_types<D> + kernels::gemm_update_types<D>
{
}

impl<T, D: Element> LinearInput<D> for T where
    T: Pack + kernels::gemm_linear_types<D> + kernels::gemm_update_types<D>
{
}

/// D = α · A · Bᵀ + β · C for A of shape (M, K), B of shape (N, K), and C and D of shape (M, N), or for batches of as many matrices.
///
/// The sum is computed in `f32` and rounded once. A and B lie as for [`gemm`](fn@super::gemm), but each is copied unless it is
/// contiguous along K. C is contiguous along the same mode as D, with any stride along the other, and is not read if β is 0. If α
/// is 0, A and B have no effect, even with NaNs, as in BLAS. To add to D itself, use [`gemm_update`].
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
/// The kernels need the feature `linear`.
///
/// # Errors
///
/// If the shapes do not fit together, an extent is larger than 2³¹ − 1, A or B is contiguous along neither of its modes, or C
/// along another mode than D. The error names the argument and the broken rule, and nothing has been launched.
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
        let found = [("c", &c.shape()[..]), ("d", &d.shape())];
        return Err(Error::shapes("gemm_linear", "c of the shape of d", &found));
    }
    let [.., k] = extents(a, b, d)?;
    if is_empty(&d.shape()) {
        return Ok(());
    }
    if k == 0 {
        let zeros = Zeros::vector(device)?;
        return gemm_linear(device, 0.0, &zeros.like(a)?, &zeros.like(b)?, beta, c, d);
    }
    let form = Form::new(a, b, d, 0)?;
    let c = form.like_d("gemm_linear", "c", c)?;
    let built = <T as kernels::gemm_linear_types<D>>::INSTANCES;
    let (it, grid) = form.instance::<T, D, _>(device, built)?;
    let [batches, m, n, k] = form.extents;
    form.launch_of_one_type(device, a, b, d, |a, b, d| {
        kernels::gemm_linear::launch(it, device, grid, a, b, &c, d, batches, m, n, k, alpha, beta)
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
/// The kernels need the feature `linear`.
///
/// # Errors
///
/// The errors of [`gemm_linear`].
pub fn gemm_update<T: LinearInput<D>, D: Element, const R: usize>(
    device: &Device,
    alpha: f32,
    a: &TensorView<'_, T, R>,
    b: &TensorView<'_, T, R>,
    beta: f32,
    d: &mut TensorViewMut<'_, D, R>,
) -> Result<(), Error> {
    let [.., k] = extents(a, b, d)?;
    if is_empty(&d.shape()) {
        return Ok(());
    }
    if k == 0 {
        let zeros = Zeros::vector(device)?;
        return gemm_update(device, 0.0, &zeros.like(a)?, &zeros.like(b)?, beta, d);
    }
    let form = Form::new(a, b, d, 0)?;
    let built = <T as kernels::gemm_update_types<D>>::INSTANCES;
    let product = form.product::<T, D>(device)?;
    // A thread stores the elements that it has read.
    let (it, grid) = product.instance(built, true)?;
    let [batches, m, n, k] = form.extents;
    form.launch_of_one_type(device, a, b, d, |a, b, d| {
        kernels::gemm_update::launch(it, device, grid, a, b, d, batches, m, n, k, alpha, beta)
    })
}

/// The kernels, and their instances.
#[cute_runtime::kernels]
pub mod kernels {
    use crate::parts::config::kernels::{Config, NARROW, SQUARE, SQUARE_BY_ELEMENT};
    use crate::parts::epilogue::scale::kernels::linear_combination;
    use crate::parts::epilogue::store::kernels::{finish_stores, store_by_element, store_tile};
    use crate::parts::mainloop::kernels::{multiply, tiles};

    /// D = α · A · Bᵀ + β · C. D is stored by TMA, unless `CFG.by_element`: then its rows have any stride and any alignment.
    #[kernel(threads = 384)]
    #[instances(
        cfg(feature = "linear"),
        (T, D) in [
            (bf16, bf16),
            (bf16, f32),
            #[cfg(feature = "f16")] (f16, f16),
            #[cfg(feature = "f16")] (f16, f32),
            #[cfg(feature = "f32")] (tf32, f32),
            #[cfg(feature = "f8-i8")] (e4m3, bf16),
            #[cfg(feature = "f8-i8")] (e4m3, f32),
        ],
        CFG in [SQUARE, NARROW, SQUARE_BY_ELEMENT],
    )]
    pub fn gemm_linear<T: Element, D: Element, const CFG: Config>(
        a: TmaLoad<T, 3>,
        b: TmaLoad<T, 3>,
        c: Global<D, 3>,
        d: Store<D, 3, { !CFG.by_element }>,
        batches: u32,
        m: u32,
        n: u32,
        k: u32,
        alpha: f32,
        beta: f32,
    ) {
        let tiles = tiles::<CFG>(batches, m, n);
        multiply::<_, _, _, CFG>(a, b, tiles, k, |acc, consumer, at, _| {
            let sum = |piece, at, _| linear_combination(alpha, piece, beta, c, at);
            store_tile::<_, _, _, CFG>(acc, sum, d, consumer, at);
        });
        finish_stores::<CFG>();
    }

    /// D = α · A · Bᵀ + β · D. A thread reads and then stores the same elements, and no other thread accesses them.
    #[kernel(threads = 384)]
    #[instances(
        cfg(feature = "linear"),
        (T, D) in [
            (bf16, bf16),
            (bf16, f32),
            #[cfg(feature = "f16")] (f16, f16),
            #[cfg(feature = "f16")] (f16, f32),
            #[cfg(feature = "f32")] (tf32, f32),
            #[cfg(feature = "f8-i8")] (e4m3, bf16),
            #[cfg(feature = "f8-i8")] (e4m3, f32),
        ],
        CFG in [SQUARE_BY_ELEMENT],
    )]
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
