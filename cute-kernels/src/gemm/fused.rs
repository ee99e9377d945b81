//! Products with what follows them in one launch: a scale, a bias, a matrix that is added, an activation, largest values, gates.

use cute_runtime::{Constant, Device, Element, TensorView, TensorViewMut};

use crate::Error;
use crate::extent::{Zeros, is_empty};
use crate::pack::Pack;
use crate::product::operands::{Form, extents, major};
pub use kernels::Activation;

/// Element types of A and B whose products [`gemm_fused`] and [`gemm_gated`] round to `D`: `bf16` to `bf16`, and `f16` to `f16`.
pub trait FusedInput<D: Element>:
    Pack + kernels::gemm_fused_types<D> + kernels::gemm_gated_types<D>
{
}

impl<T, D: Element> FusedInput<D> for T where
    T: Pack + kernels::gemm_fused_types<D> + kernels::gemm_gated_types<D>
{
}

/// What [`gemm_fused`] and [`gemm_gated`] do to the sums of a product, in f32, before they are rounded to elements of D.
///
/// ```
/// use cute_kernels::{Activation, Epilogue, Tensor, TensorView, bf16};
/// # let device = cute_kernels::Device::emulator();
/// let bias = Tensor::from_slice(&device, &[bf16::ONE; 8], [8])?;
/// let residual = Tensor::from_slice(&device, &[bf16::ONE; 2 * 8], [2, 8])?;
/// let (bias, residual) = (bias.view(), residual.view());
/// let epilogue = Epilogue::new()
///     .scale(0.5)
///     .bias(&bias)
///     .residual(1.0, &residual)
///     .activation(Activation::Gelu);
/// # let a = Tensor::from_slice(&device, &[bf16::ONE; 2 * 16], [2, 16])?;
/// # let b = Tensor::from_slice(&device, &[bf16::ONE; 8 * 16], [8, 16])?;
/// # let mut d = Tensor::<bf16, 2>::zeros(&device, [2, 8])?;
/// # cute_kernels::gemm_fused(&device, &a.view(), &b.view(), epilogue, &mut d.view_mut())?;
/// # Ok::<(), cute_kernels::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "an epilogue is an argument of `gemm_fused` and `gemm_gated`"]
pub struct Epilogue<'v, D: Element, const R: usize> {
    scale: f32,
    bias: Option<TensorView<'v, D, 1>>,
    residual: Option<(f32, TensorView<'v, D, R>)>,
    activation: Activation,
    largest: Option<TensorViewMut<'v, f32, 1>>,
}

impl<D: Element, const R: usize> Default for Epilogue<'_, D, R> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'v, D: Element, const R: usize> Epilogue<'v, D, R> {
    /// The sums as they are.
    pub fn new() -> Self {
        Self {
            scale: 1.0,
            bias: None,
            residual: None,
            activation: Activation::Identity,
            largest: None,
        }
    }

    /// Multiplies the sums by α.
    pub fn scale(self, alpha: f32) -> Self {
        Self {
            scale: alpha,
            ..self
        }
    }

    /// Adds a number to each column of the product: as many as B has rows.
    pub fn bias(self, bias: &TensorView<'v, D, 1>) -> Self {
        Self {
            bias: Some(*bias),
            ..self
        }
    }

    /// Adds β · C, for a matrix, or matrices, of the shape of D.
    pub fn residual(self, beta: f32, c: &TensorView<'v, D, R>) -> Self {
        Self {
            residual: Some((beta, *c)),
            ..self
        }
    }

    /// Applies a function to each number, after what is added.
    pub fn activation(self, activation: Activation) -> Self {
        Self { activation, ..self }
    }

    /// Raises `largest[i]` to the largest absolute value of row i, before it is rounded: numbers by which rows can be
    /// [quantised](crate::quantise_rows). They start at 0.
    pub fn absmax(self, largest: TensorViewMut<'v, f32, 1>) -> Self {
        Self {
            largest: Some(largest),
            ..self
        }
    }
}

/// D = f(α · A · Bᵀ + β · C + bias) for A of shape (M, K), B of shape (N, K), C and D of shape (M, N) and a bias of N numbers, or for
/// batches of as many matrices, with a mode before these. [`Epilogue`] has α, C, the bias and f, all of which may be left out.
///
/// A, B, C and D are `bf16` or `f16`, and lie as for [`gemm`](fn@super::gemm), but C and D are contiguous along N. The bias and the
/// matrix of an epilogue have the type of D. As in BLAS, C is not read if β is 0, and A and B have no effect if α is 0.
///
/// ```
/// use cute_kernels::{Activation, Epilogue, Tensor, bf16, gemm_fused};
/// let device = cute_kernels::Device::emulator();
/// let a = Tensor::from_slice(&device, &[bf16::ONE; 2 * 16], [2, 16])?;
/// let b = Tensor::from_slice(&device, &[bf16::NEG_ONE; 8 * 16], [8, 16])?;
/// let bias: Vec<bf16> = (0..8).map(|j| bf16::from_f32(14.0 + j as f32)).collect();
/// let bias = Tensor::from_slice(&device, &bias, [8])?;
/// let mut d = Tensor::<bf16, 2>::zeros(&device, [2, 8])?;
/// let bias = bias.view();
/// let epilogue = Epilogue::new().bias(&bias).activation(Activation::Relu);
/// gemm_fused(&device, &a.view(), &b.view(), epilogue, &mut d.view_mut())?;
/// let row: Vec<f32> = d.download()?[..8].iter().map(|x| x.to_f32()).collect();
/// assert_eq!(row, [0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
/// # Ok::<(), cute_kernels::Error>(())
/// ```
///
/// The kernels need the feature `fused`. Other functions of the sums, other types and other tiles are a kernel of your own of three lines:
/// [`lib`](crate::lib) has `gemm_with`.
///
/// # Errors
///
/// If the shapes do not fit together, an extent is larger than 2³¹ − 1, a matrix is contiguous along neither of its modes, C or D is not
/// contiguous along N, or the largest values of several matrices are asked for. The error names the argument and the broken rule, and
/// nothing has been launched.
pub fn gemm_fused<T: FusedInput<D>, D: Element, const R: usize>(
    device: &Device,
    a: &TensorView<'_, T, R>,
    b: &TensorView<'_, T, R>,
    epilogue: Epilogue<'_, D, R>,
    d: &mut TensorViewMut<'_, D, R>,
) -> Result<(), Error> {
    let [batches, m, n, k] = extents(a, b, d)?;
    check("gemm_fused", &epilogue, [batches, m, n], &d.shape())?;
    if is_empty(&d.shape()) {
        return Ok(());
    }
    if k == 0 || epilogue.scale == 0.0 {
        let (zeros, epilogue) = (Zeros::vector(device)?, epilogue.scale(1.0));
        return gemm_fused(device, &zeros.like(a)?, &zeros.like(b)?, epilogue, d);
    }
    let form = Form::new(a, b, d, 0)?;
    if form.transposed {
        return Err(major("gemm_fused", "d", "N", &d.as_view().prepend()?));
    }
    let (beta, c) = epilogue.residual.unzip();
    let c = c.map(|c| form.like_d("gemm_fused", "c", &c)).transpose()?;
    let (bias, mut largest) = (epilogue.bias, epilogue.largest);
    let (alpha, beta) = (epilogue.scale, beta.unwrap_or_default());
    let function = of(epilogue.activation);
    let built = <T as kernels::gemm_fused_types<D>>::INSTANCES;
    let built: Vec<_> = built.iter().map(|(_, config)| *config).collect();
    let (config, grid) = form.instance::<T, D, _>(device, &built)?;
    let [batches, m, n, k] = form.extents;
    form.launch_of_one_type(device, a, b, d, |a, b, d| {
        kernels::gemm_fused::launch(
            function,
            config,
            device,
            grid,
            a,
            b,
            bias.as_slice(),
            c.as_slice(),
            largest.as_mut_slice(),
            d,
            batches,
            m,
            n,
            k,
            alpha,
            beta,
        )
    })
}

/// `D[i, j] = f(x[i, 2j]) · x[i, 2j + 1]` for x = α · A · Bᵀ + bias, A of shape (M, K), B of shape (2N, K), a bias of 2N numbers and D of
/// shape (M, N), or for batches of as many matrices: SwiGLU with [`Activation::Silu`], GEGLU with [`Activation::Gelu`]. The rows of B are
/// gates and gated numbers in turn.
///
/// Everything else is as for [`gemm_fused`]. An epilogue here has no residual.
///
/// ```
/// use cute_kernels::{Activation, Epilogue, Tensor, bf16, gemm_gated};
/// let device = cute_kernels::Device::emulator();
/// let a = Tensor::from_slice(&device, &[bf16::ONE; 2 * 8], [2, 8])?;
/// // Gates are 8 · 0.5, and gated numbers 8 · 2.
/// let weights: Vec<bf16> = (0..16 * 8).map(|i| bf16::from_f32(if i / 8 % 2 == 0 { 0.5 } else { 2.0 })).collect();
/// let b = Tensor::from_slice(&device, &weights, [16, 8])?;
/// let mut d = Tensor::<bf16, 2>::zeros(&device, [2, 8])?;
/// let epilogue = Epilogue::new().activation(Activation::Relu);
/// gemm_gated(&device, &a.view(), &b.view(), epilogue, &mut d.view_mut())?;
/// assert_eq!(d.download()?, [bf16::from_f32(64.0); 16]);
/// # Ok::<(), cute_kernels::Error>(())
/// ```
///
/// # Errors
///
/// The errors of [`gemm_fused`], and if the epilogue has a residual.
pub fn gemm_gated<T: FusedInput<D>, D: Element, const R: usize>(
    device: &Device,
    a: &TensorView<'_, T, R>,
    b: &TensorView<'_, T, R>,
    epilogue: Epilogue<'_, D, R>,
    d: &mut TensorViewMut<'_, D, R>,
) -> Result<(), Error> {
    const NEEDS: &str = "a of shape (M, K), b of (2N, K) and d of (M, N), or all three with a mode of batches before";
    let shapes = [("a", &a.shape()[..]), ("b", &b.shape()), ("d", &d.shape())];
    let misfit = || Error::shapes("gemm_gated", NEEDS, &shapes);
    if let Some((_, c)) = &epilogue.residual {
        let found = [("c", &c.shape()[..])];
        return Err(Error::shapes("gemm_gated", "no residual", &found));
    }
    if !(2..=3).contains(&R) {
        return Err(misfit());
    }
    let (b_all, d_all) = (b.prepend::<3>()?, d.as_view().prepend::<3>()?);
    let ([batches, rows, k], [_, m, n]) = (b_all.shape(), d_all.shape());
    let a_shape = a.prepend::<3>()?.shape();
    if rows != 2 * n || a_shape != [batches, m, k] || d_all.shape()[0] != batches {
        return Err(misfit());
    }
    check("gemm_gated", &epilogue, [batches, m, rows], &d.shape())?;
    if is_empty(&d.shape()) {
        return Ok(());
    }
    if k == 0 || epilogue.scale == 0.0 {
        let (zeros, epilogue) = (Zeros::vector(device)?, epilogue.scale(1.0));
        return gemm_gated(device, &zeros.like(a)?, &zeros.like(b)?, epilogue, d);
    }
    let form = Form::of_halves(a, b, d)?;
    if form.transposed {
        return Err(major("gemm_gated", "d", "N", &d_all));
    }
    let (bias, mut largest) = (epilogue.bias, epilogue.largest);
    let (alpha, function) = (epilogue.scale, of(epilogue.activation));
    let built = <T as kernels::gemm_gated_types<D>>::INSTANCES;
    let built: Vec<_> = built.iter().map(|(_, config)| *config).collect();
    let (config, grid) = form.instance::<T, D, _>(device, &built)?;
    let [batches, m, rows, k] = form.extents;
    form.launch_of_one_type(device, a, b, d, |a, b, d| {
        kernels::gemm_gated::launch(
            function,
            config,
            device,
            grid,
            a,
            b,
            bias.as_slice(),
            largest.as_mut_slice(),
            d,
            batches,
            m,
            rows,
            k,
            alpha,
        )
    })
}

/// Checks the tensors of an epilogue of a product with these batches, M and N.
fn check<D: Element, const R: usize>(
    function: &'static str,
    epilogue: &Epilogue<'_, D, R>,
    [batches, m, n]: [usize; 3],
    d: &[usize],
) -> Result<(), Error> {
    if let Some(bias) = &epilogue.bias
        && bias.shape() != [n]
    {
        let found = [("bias", &bias.shape()[..]), ("d", d)];
        let needs = "a bias of as many numbers as b has rows";
        return Err(Error::shapes(function, needs, &found));
    }
    if let Some((_, c)) = &epilogue.residual
        && c.shape() != *d
    {
        let found = [("c", &c.shape()[..]), ("d", d)];
        return Err(Error::shapes(function, "c of the shape of d", &found));
    }
    if let Some(largest) = &epilogue.largest
        && (batches != 1 || largest.shape() != [m])
    {
        let found = [("largest", &largest.shape()[..]), ("d", d)];
        let needs = "one matrix, and as many largest values as d has rows";
        return Err(Error::shapes(function, needs, &found));
    }
    Ok(())
}

/// The instances with this function.
fn of<C: Constant<Value = Activation>>(activation: Activation) -> C {
    let mut all = C::ALL.iter().copied();
    let found = all.find(|it| it.value() == activation);
    found.expect("each function has instances")
}

/// The kernels, and their instances.
#[cute_runtime::kernels]
pub mod kernels {
    use crate::parts::config::kernels::Config;
    use crate::parts::epilogue::activation::kernels::{gated, gelu, gelu_tanh, relu, silu};
    use crate::parts::epilogue::scale::kernels::{absmax_of_rows, linear_combination, of_columns};
    use crate::parts::epilogue::store::kernels::{finish_stores, store_tile};
    use crate::parts::mainloop::kernels::{multiply, tiles};
    use crate::product::table::kernels::FUSED;

    /// A function of each number of a product.
    #[derive(PartialEq, Eq)]
    pub enum Activation {
        /// x.
        Identity,
        /// x, or 0 if x is negative.
        Relu,
        /// x · Φ(x), where Φ is the distribution function of the normal distribution.
        Gelu,
        /// The approximation of `Gelu` by the hyperbolic tangent.
        GeluTanh,
        /// x / (1 + e⁻ˣ), also called swish.
        Silu,
    }

    /// D = f(α · A · Bᵀ + β · C + bias). There is a bias, C and a vector of the largest absolute values of rows, or not.
    #[kernel(threads = 384, cluster = (CFG.cluster_m * CFG.cluster_n * CFG.split, 1, 1))]
    #[instances(
        cfg(feature = "fused"),
        (T, D) in [(bf16, bf16), #[cfg(feature = "f16")] (f16, f16)],
        F in [
            Activation::Identity, Activation::Relu, Activation::Gelu, Activation::GeluTanh, Activation::Silu,
        ],
        CFG in FUSED,
    )]
    pub fn gemm_fused<T: Element, D: Element, const F: Activation, const CFG: Config>(
        a: TmaLoad<T, 3>,
        b: TmaLoad<T, 3>,
        bias: [Global<D, 1>; 1],
        c: [Global<D, 3>; 1],
        largest: [Global<f32, 1>; 1],
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
            let of_piece = |piece, at| {
                let sum = convert::<f32>(piece) * alpha;
                if c.len() > 0 {
                    copy(linear_combination(1.0, sum, beta, c[0], at), sum);
                }
                let y = finished::<F>(sum, bias, at);
                record(y, largest, at, n);
                y
            };
            store_tile::<_, _, _, CFG>(acc, of_piece, d, consumer, at);
        });
        finish_stores::<CFG>();
    }

    /// D = f(x) · y of the even and the odd columns of α · A · Bᵀ + bias, which has n columns.
    #[kernel(threads = 384, cluster = (CFG.cluster_m * CFG.cluster_n * CFG.split, 1, 1))]
    #[instances(
        cfg(feature = "fused"),
        (T, D) in [(bf16, bf16), #[cfg(feature = "f16")] (f16, f16)],
        F in [
            Activation::Identity, Activation::Relu, Activation::Gelu, Activation::GeluTanh, Activation::Silu,
        ],
        CFG in FUSED,
    )]
    pub fn gemm_gated<T: Element, D: Element, const F: Activation, const CFG: Config>(
        a: TmaLoad<T, 3>,
        b: TmaLoad<T, 3>,
        bias: [Global<D, 1>; 1],
        largest: [Global<f32, 1>; 1],
        d: Store<D, 3, { !CFG.by_element }>,
        batches: u32,
        m: u32,
        n: u32,
        k: u32,
        alpha: f32,
    ) {
        let tiles = tiles::<CFG>(batches, m, n);
        multiply::<_, _, _, CFG>(a, b, tiles, k, |acc, consumer, (batch, row, column), _| {
            let sum = finished::<{ Activation::Identity }>(
                convert::<f32>(acc) * alpha,
                bias,
                (batch, row, column),
            );
            let y = gated(sum, |x| activate::<F>(x));
            let at = (batch, row, column / 2);
            record(y, largest, at, n / 2);
            store_tile::<_, _, _, CFG>(y, |piece, _| piece, d, consumer, at);
        });
        finish_stores::<CFG>();
    }

    /// f(sum + bias), for sums that begin at (batch, row, column).
    fn finished<const F: Activation>(
        sum: Fragment,
        bias: [Global; 1],
        at: (u32, u32, u32),
    ) -> Fragment {
        if bias.len() > 0 {
            copy(sum + of_columns(bias[0], sum, at.2), sum);
        }
        map(sum, |x| activate::<F>(x))
    }

    /// Notes the largest absolute values of the rows of a matrix of n columns, if they are asked for.
    fn record(y: Fragment, largest: [Global; 1], at: (u32, u32, u32), n: u32) {
        if largest.len() > 0 {
            absmax_of_rows(y, largest[0], (at.1, at.2), n);
        }
    }

    fn activate<const F: Activation>(x: f32) -> f32 {
        match F {
            Activation::Identity => x,
            Activation::Relu => relu(x),
            Activation::Gelu => gelu(x),
            Activation::GeluTanh => gelu_tanh(x),
            Activation::Silu => silu(x),
        }
    }
}
