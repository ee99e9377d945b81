//! Products of 8-bit numbers with scales.
//!
//! Scales of blocks are loaded from global memory a step ahead, not through the ring of stages: a thread loads three numbers a step, and
//! no barrier is needed. The scales of A lie along M, so a warp reads neighbouring ones. Promotion is a constant of the GEMM's `Config`,
//! so the loop is written once.

use cute_runtime::{Device, Element, Tensor, TensorView, TensorViewMut};

use crate::Error;
use crate::extent::{Zeros, is_empty};
use crate::pack::{Pack, pack};
use crate::product::operands::{
    Form, Matrices, MatricesMut, extents, is_contiguous, lies_along_rows, major, strides,
};

/// Rows and columns of B, and columns of A, that share a scale.
const BLOCK: usize = 128;

/// Element types of A whose products by elements of B [`gemm_scaled`] scales and rounds to `D`: of `e4m3` and `e5m2` each by either, and
/// of `i8` and `u8`, into `bf16`, `f16` and `f32`.
pub trait ScaledInput<D: Element, B: Element = Self>:
    Pack + kernels::gemm_scaled_types<B, D>
{
}

impl<A, B: Element, D: Element> ScaledInput<D, B> for A where
    A: Pack + kernels::gemm_scaled_types<B, D>
{
}

/// Element types of A whose products by elements of B [`gemm_block_scaled`] rounds to `D`: `e4m3` and `e5m2`, each by either, into
/// `bf16` and `f32`.
pub trait BlockScaledInput<D: Element, B: Element = Self>:
    Pack + kernels::gemm_block_scaled_types<B, D>
{
}

impl<A, B: Element, D: Element> BlockScaledInput<D, B> for A where
    A: Pack + kernels::gemm_block_scaled_types<B, D>
{
}

/// Scales of rows: (batch, row). An extent of 1 is one scale for all.
type Scales<'v> = TensorView<'v, f32, 2>;

/// `D[i, j] = scale_a[i] · scale_b[j] · Σₖ A[i, k] · B[j, k]` for A of shape (M, K), B of shape (N, K) and D of shape (M, N), or for
/// batches of as many matrices, with a mode before these.
///
/// | A and B | sums | D |
/// |---|---|---|
/// | `e4m3` and `e5m2`, each of them either | `f32`, of which each instruction keeps 13 bits after the point, which [`gemm_block_scaled`] does not | `bf16`, `f16`, `f32` |
/// | `i8` and `u8`, each of them either | `i32`, exact for K up to 131,071 for `i8`, 33,025 for `u8`, and 65,793 for both | `bf16`, `f16`, `f32` |
///
/// scale_a has the shape (M), a scale for each row of A, or (1), one for all, and scale_b has (N) or (1). These are the scales of all
/// matrices of a batch. With a mode before them, (batches, M) or (batches, 1), each matrix has its own.
///
/// Scales have any size: the result is infinite or 0 only if the product of all three factors is, in any order of multiplication.
///
/// M, N and K are arbitrary, up to 2³¹ − 1. Each matrix is contiguous along either of its modes. The product is fastest if A and B
/// are contiguous along K, and all rows begin at multiples of 128 bytes. A or B is copied first if TMA cannot load it so. D is
/// stored by elements if its rows do not begin at multiples of 16 bytes or are not multiples of 16 bytes long. On a GPU the call
/// returns before the product is complete, unless it copies: then it waits for that.
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
/// The kernels need the feature `scaled`.
///
/// # Errors
///
/// If the shapes do not fit together, a tensor of scales has another shape or gaps between its last mode's elements, an extent is
/// larger than 2³¹ − 1, or a matrix is contiguous along neither of its modes. The error names the argument and the rule that it breaks,
/// and nothing has been launched.
pub fn gemm_scaled<A, B, D, const R: usize, const S: usize>(
    device: &Device,
    a: &TensorView<'_, A, R>,
    scale_a: &TensorView<'_, f32, S>,
    b: &TensorView<'_, B, R>,
    scale_b: &TensorView<'_, f32, S>,
    d: &mut TensorViewMut<'_, D, R>,
) -> Result<(), Error>
where
    A: ScaledInput<D, B>,
    B: ScaledInput<D, A>,
    D: Element,
{
    let [.., k] = extents(a, b, d)?;
    let (a_all, b_all) = (a.prepend()?, b.prepend()?);
    let scale_a = of_rows("scale_a", scale_a, &a_all)?;
    let scale_b = of_rows("scale_b", scale_b, &b_all)?;
    if is_empty(&d.shape()) {
        return Ok(());
    }
    if k == 0 {
        let (a_zeros, b_zeros) = (Zeros::vector(device)?, Zeros::vector(device)?);
        let zero = Zeros::new(device, 1)?;
        let (a, b, zero) = (a_zeros.like(a)?, b_zeros.like(b)?, zero.view([1; S])?);
        return gemm_scaled(device, &a, &zero, &b, &zero, d);
    }
    let form = Form::new(a, b, d, 0)?;
    let (a, b) = (a_all, b_all);
    let d = d.as_view_mut().prepend()?;
    match form.transposed {
        true => start(
            device,
            &form,
            (b, scale_b),
            (a, scale_a),
            d.select([0, 2, 1])?,
        ),
        false => start(device, &form, (a, scale_a), (b, scale_b), d),
    }
}

/// Launches the kernel for D that is contiguous along N.
fn start<A: ScaledInput<D, B>, B: Pack, D: Element>(
    device: &Device,
    form: &Form,
    (a, scale_a): (Matrices<'_, A>, Scales<'_>),
    (b, scale_b): (Matrices<'_, B>, Scales<'_>),
    mut d: MatricesMut<'_, D>,
) -> Result<(), Error> {
    let built = <A as kernels::gemm_scaled_types<B, D>>::INSTANCES;
    let (it, grid) = form.instance::<A, D, _>(device, built)?;
    let [batches, m, n, k] = form.extents;
    form.launch(device, (a, b), &mut Default::default(), |a, b| {
        let (x, y) = (&scale_a, &scale_b);
        kernels::gemm_scaled::launch(it, device, grid, a, x, b, y, &mut d, batches, m, n, k)
    })
}

/// `D[i, j] = Σₖ (scale_a[i, k / 128] · A[i, k]) · (scale_b[j / 128, k / 128] · B[j, k])` for A of shape (M, K), B of shape (N, K) and D of
/// shape (M, N), as DeepSeek-V3 scales activations and weights, or for batches of as many matrices, with a mode before these.
///
/// A and B are of `e4m3` and `e5m2`, each of them either, and D is of `bf16` or `f32`. scale_a has shape (M, ⌈K / 128⌉), and
/// scale_b has (⌈N / 128⌉, ⌈K / 128⌉). With a mode of batches before them, each matrix has scales of its own. An instruction keeps
/// 13 bits of its sums after the point. The sums of 128 products are added up in f32.
///
/// The two scales of a block are first multiplied with each other, in f32. So their product must be a number of f32, and is
/// rounded to f32.
///
/// The rules of [`gemm_scaled`] for the matrices hold here, too, but D is contiguous along N. scale_b is contiguous along K, and
/// scale_a along either of its modes. If it is along K, it is copied first; if it is along M, it is not.
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
/// The kernels need the feature `scaled`.
///
/// # Errors
///
/// The errors of [`gemm_scaled`], and if D is not contiguous along N, scale_b not along K, or scale_a along neither of its modes.
pub fn gemm_block_scaled<A, B, D, const R: usize, const S: usize>(
    device: &Device,
    a: &TensorView<'_, A, R>,
    scale_a: &TensorView<'_, f32, S>,
    b: &TensorView<'_, B, R>,
    scale_b: &TensorView<'_, f32, S>,
    d: &mut TensorViewMut<'_, D, R>,
) -> Result<(), Error>
where
    A: BlockScaledInput<D, B>,
    B: Pack,
    D: Element,
{
    const NAME: &str = "gemm_block_scaled";
    let [batches, m, n, k] = extents(a, b, d)?;
    let wide = k.div_ceil(BLOCK);
    let (of_a, of_b) = ([batches, m, wide], [batches, n.div_ceil(BLOCK), wide]);
    let a_scales: Matrices<'_, f32> = fits(NAME, "scale_a", scale_a, of_a, [true, false, false])?;
    let b_scales: Matrices<'_, f32> = fits(NAME, "scale_b", scale_b, of_b, [true, false, false])?;
    if is_empty(&d.shape()) {
        return Ok(());
    }
    if k == 0 {
        let (a_zeros, b_zeros) = (Zeros::vector(device)?, Zeros::vector(device)?);
        let scales = Zeros::new(device, 1)?;
        let (a, b) = (a_zeros.like(a)?, b_zeros.like(b)?);
        let (scale_a, scale_b) = (scales.like(scale_a)?, scales.like(scale_b)?);
        return gemm_block_scaled(device, &a, &scale_a, &b, &scale_b, d);
    }
    let (scale_a, scale_b) = (a_scales, b_scales);
    let form = Form::new(a, b, d, 0)?;
    let (a, b): (Matrices<'_, A>, Matrices<'_, B>) = (a.prepend()?, b.prepend()?);
    let mut d = d.as_view_mut().prepend()?;
    if form.transposed {
        return Err(major(NAME, "d", "N", &d.as_view()));
    }
    if !is_contiguous(&scale_b) {
        return Err(major(NAME, "scale_b", "K", &scale_b));
    }
    // A warp reads the scales of neighbouring rows.
    let turned = scale_a.select([0, 2, 1])?;
    let copy: Box<Tensor<f32, 3>>;
    let scale_a = if is_contiguous(&turned) {
        turned
    } else if lies_along_rows(&turned) {
        copy = pack(device, turned, true, &mut None)?;
        copy.buffer().view(0, turned.shape(), copy.strides())?
    } else {
        return Err(strides("scale_a", &scale_a));
    };
    let built = <A as kernels::gemm_block_scaled_types<B, D>>::INSTANCES;
    let (it, grid) = form.instance::<A, D, _>(device, built)?;
    let [batches, m, n, k] = form.extents;
    form.launch(device, (a, b), &mut Default::default(), |a, b| {
        let (x, y) = (&scale_a, &scale_b);
        kernels::gemm_block_scaled::launch(it, device, grid, a, x, b, y, &mut d, batches, m, n, k)
    })
}

/// The scales of the rows of a matrix.
fn of_rows<'v, T: Element, const S: usize>(
    argument: &'static str,
    scale: &TensorView<'v, f32, S>,
    x: &Matrices<'_, T>,
) -> Result<Scales<'v>, Error> {
    let [batches, rows, _] = x.shape();
    let scales: Scales<'v> = fits("gemm_scaled", argument, scale, [batches, rows], [true; 2])?;
    let ([_, extent], [_, stride]) = (scales.shape(), scales.strides());
    match extent <= 1 || stride == 1 {
        true => Ok(scales),
        false => Err(Error::GemmScaleStride { argument, stride }),
    }
}

/// Checks a tensor of scales and adds a mode of batches. Its extents are these, or 1 where one scale may be for `all`.
fn fits<'v, const S: usize, const N: usize>(
    function: &'static str,
    argument: &'static str,
    scale: &TensorView<'v, f32, S>,
    extents: [usize; N],
    all: [bool; N],
) -> Result<TensorView<'v, f32, N>, Error> {
    let fit = |found: [usize; N]| {
        (0..N).all(|mode| found[mode] == extents[mode] || all[mode] && found[mode] == 1)
    };
    if S <= N {
        let scale: TensorView<'v, f32, N> = scale.prepend()?;
        if fit(scale.shape()) {
            return Ok(scale);
        }
    }
    Err(Error::GemmScale {
        function,
        argument,
        possible: possible(&extents, &all),
        found: scale.shape().to_vec(),
    })
}

/// The possible shapes of a tensor of scales: for each matrix of a batch, if there are several, and for all.
fn possible(extents: &[usize], all: &[bool]) -> Vec<Vec<usize>> {
    let mut one = extents[1..].to_vec();
    let mut shapes = vec![one.clone()];
    if all[1] {
        one[0] = 1;
        shapes.push(one);
    }
    let each = |shape: &Vec<usize>| [&extents[..1], shape].concat();
    match extents[0] {
        1 => shapes,
        _ => shapes.iter().map(each).chain(shapes.clone()).collect(),
    }
}

/// The kernels, and their instances.
#[cute_runtime::kernels]
pub mod kernels {
    use crate::parts::config::kernels::{
        Config, NARROW, NARROW_PROMOTED, SINGLE, SQUARE_BY_ELEMENT, SQUARE_PROMOTED,
        SQUARE_PROMOTED_BY_ELEMENT,
    };
    use crate::parts::epilogue::scale::kernels::{of_blocks, of_columns, of_rows};
    use crate::parts::epilogue::store::kernels::{finish_stores, store_tile};
    use crate::parts::mainloop::kernels::{multiply, multiply_scaled, tiles};

    /// 2⁶⁴ and 2⁻⁹⁴. A scale between them is one factor.
    const LARGE: f32 = 18446744073709551616.0;
    const SMALL: f32 = 5.048709793414476e-29;

    /// Products with a scale for each row of A and of B, or one for all, of each matrix of a batch, or of all. D is stored by TMA, unless
    /// `CFG.by_element`: then its rows have any stride and any alignment.
    #[kernel(threads = 384)]
    #[instances(
        cfg(feature = "scaled"),
        (A, B) in [
            (e4m3, e4m3),
            #[cfg(feature = "mixed")] (e4m3, e5m2),
            #[cfg(feature = "mixed")] (e5m2, e4m3),
            #[cfg(feature = "mixed")] (e5m2, e5m2),
            (i8, i8),
            #[cfg(feature = "mixed")] (i8, u8),
            #[cfg(feature = "mixed")] (u8, i8),
            #[cfg(feature = "mixed")] (u8, u8),
        ],
        D in [bf16, f16, f32],
        CFG in [SINGLE, NARROW, SQUARE_BY_ELEMENT],
    )]
    pub fn gemm_scaled<A: Element, B: Element, D: Element, const CFG: Config>(
        a: TmaLoad<A, 3>,
        scale_a: Global<f32, 2>,
        b: TmaLoad<B, 3>,
        scale_b: Global<f32, 2>,
        d: Store<D, 3, { !CFG.by_element }>,
        batches: u32,
        m: u32,
        n: u32,
        k: u32,
    ) {
        let tiles = tiles::<CFG>(batches, m, n);
        multiply::<_, _, _, CFG>(a, b, tiles, k, |acc, consumer, at, _| {
            let (first, last) = factors(of_rows(of_matrix(scale_a, at.0), acc, at.1));
            let columns = of_matrix(scale_b, at.0);
            let scaled = |piece, (_, _, column), _| {
                convert::<f32>(piece) * first * of_columns(columns, piece, column) * last
            };
            store_tile::<_, _, _, CFG>(acc, scaled, d, consumer, at);
        });
        finish_stores::<CFG>();
    }

    /// Two factors of each scale: a sum of products is multiplied by the first before another scale, and by the second after it.
    /// So no product on the way is infinite, or loses bits below 2⁻¹²⁶, unless the result is or does. Sums of products are 0, or
    /// from 2⁻³² to 2⁶³. So a first factor from 2⁻⁹⁴ to 2⁶⁴ gives at most 2¹²⁷ and at least 2⁻¹²⁶. The second factor is more than
    /// 1 only if the first is 2⁶⁴, and less than 1 only if the first is 2⁻⁹⁴.
    fn factors(scales: Fragment) -> (Fragment, Fragment) {
        let first = map(scales, |x| {
            if abs(x) > LARGE {
                LARGE
            } else if abs(x) < SMALL {
                SMALL
            } else {
                x
            }
        });
        let last = map(scales, |x| {
            if abs(x) > LARGE {
                x * (1.0 / LARGE)
            } else if abs(x) < SMALL {
                x * (1.0 / SMALL)
            } else {
                1.0
            }
        });
        (first, last)
    }

    /// Products with a scale for each row of A and 128 of its columns, with the modes (batch, K, M), and for each 128 × 128 elements of
    /// B, of each matrix of a batch, or of all. D is stored as by `gemm_scaled`.
    #[kernel(threads = 384)]
    #[instances(
        cfg(feature = "scaled"),
        (A, B) in [
            (e4m3, e4m3),
            #[cfg(feature = "mixed")] (e4m3, e5m2),
            #[cfg(feature = "mixed")] (e5m2, e4m3),
            #[cfg(feature = "mixed")] (e5m2, e5m2),
        ],
        D in [bf16, f32],
        CFG in [SQUARE_PROMOTED, NARROW_PROMOTED, SQUARE_PROMOTED_BY_ELEMENT],
    )]
    pub fn gemm_block_scaled<A: Element, B: Element, D: Element, const CFG: Config>(
        a: TmaLoad<A, 3>,
        scale_a: Global<f32, 3>,
        b: TmaLoad<B, 3>,
        scale_b: Global<f32, 3>,
        d: Store<D, 3, { !CFG.by_element }>,
        batches: u32,
        m: u32,
        n: u32,
        k: u32,
    ) {
        let tiles = tiles::<CFG>(batches, m, n);
        let scale = |acc, (batch, row, column), step| {
            let (x, y) = (of_matrix(scale_a, batch), of_matrix(scale_b, batch));
            of_blocks(x, y, acc, (row, column), step)
        };
        multiply_scaled::<_, _, _, CFG>(a, b, tiles, k, scale, |acc, consumer, at, _| {
            store_tile::<_, _, _, CFG>(acc, |piece, _, _| piece, d, consumer, at);
        });
        finish_stores::<CFG>();
    }

    /// The scales of matrix number `batch`, or the last ones if there are fewer matrices of scales.
    fn of_matrix<const R: u32>(scales: Global<f32, R>, batch: u32) -> Global {
        let batch = min(batch, extent(scales, 0) - 1);
        if R == 2 {
            scales[(batch, _)]
        } else {
            scales[(batch, _, _)]
        }
    }
}
