//! Products with what follows them in one launch: a scale, a bias, a matrix that is added, an activation, largest values.

use cute_runtime::{Device, Element, TensorView, TensorViewMut};

use super::epilogue::{Epilogue, constant};
use super::kernel::kernels::{gemm, gemm_types};
use super::once::with_sums;
use super::plan::Plan;
use super::sums::{Sums, in_parts};
use super::tile::Tile;
use crate::Error;
use crate::extent::{Zeros, is_empty};
use crate::pack::Pack;
use crate::parts::config::kernels::Config;
use crate::product::operands::{Form, extents, major};
use kernels::{finish_parts_types, gemm_fused_types};

/// Element types of A and B whose products [`gemm_fused`] rounds to `D`: `bf16` to `bf16`, and `f16` to `f16`.
pub trait FusedInput<D: Element>:
    Pack
    + Sums<Sum: finish_parts_types<D>>
    + gemm_types<Self, <Self as Sums>::Sum>
    + gemm_fused_types<D>
{
}

impl<T, D: Element> FusedInput<D> for T where
    T: Pack
        + Sums<Sum: finish_parts_types<D>>
        + gemm_types<T, <T as Sums>::Sum>
        + gemm_fused_types<D>
{
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
/// The kernels need the feature `fused`. For many products of the same shapes, [`Plan::fused`] chooses the tile once. Other functions of
/// the sums, other types and other tiles are a kernel of your own of three lines: [`lib`](crate::lib) has `gemm_with`.
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
    let plan = Plan::fused(device, a, b, &epilogue, d)?;
    with_sums(device, plan, |plan| {
        plan.launch_fused(device, a, b, epilogue, d)
    })
}

impl Plan {
    /// The plan of D = f(α · A · Bᵀ + β · C + bias), for matrices as [`gemm_fused`] takes them: the fastest of the tiles that are compiled
    /// ahead for such products, or K in parts, whose sums a second kernel adds up before all else. It depends on the shapes, strides, types
    /// and alignments of A, B, C, D and the bias.
    ///
    /// ```
    /// use cute_kernels::{Activation, Device, Epilogue, Plan, Tensor, bf16};
    /// let device = Device::emulator();
    /// let matrix = |rows, columns| Tensor::<bf16, 2>::zeros(&device, [rows, columns]);
    /// let (a, b, mut d) = (matrix(16, 64)?, matrix(32, 64)?, matrix(16, 32)?);
    /// let (a, b) = (&a.view(), &b.view());
    /// let relu = || Epilogue::new().activation(Activation::Relu);
    /// let plan = Plan::fused(&device, a, b, &relu(), &d.view_mut())?;
    /// for _ in 0..2 {
    ///     plan.launch_fused(&device, a, b, relu(), &mut d.view_mut())?;
    /// }
    /// # Ok::<(), cute_kernels::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`gemm_fused`].
    pub fn fused<T: FusedInput<D>, D: Element, const R: usize>(
        device: &Device,
        a: &TensorView<'_, T, R>,
        b: &TensorView<'_, T, R>,
        epilogue: &Epilogue<'_, D, R>,
        d: &TensorViewMut<'_, D, R>,
    ) -> Result<Self, Error> {
        let form = form(a, b, epilogue, d)?;
        let built = <T as gemm_fused_types<D>>::INSTANCES;
        let built = built.iter().map(|(_, config)| config.value());
        let missing = <T as gemm_fused_types<D>>::MISSING;
        let of_sums = <T as gemm_types<T, T::Sum>>::INSTANCES;
        let of_sums = of_sums.iter().map(|config| config.value());
        Self::among::<T, D>(device, form, built, of_sums, ("gemm_fused", missing))
    }

    /// Computes D = f(α · A · Bᵀ + β · C + bias) for matrices with the shapes of the plan, as [`launch`](Self::launch) computes D = A · Bᵀ.
    /// The plan is one of [`Plan::fused`], or another whose tile is among the tiles of such products.
    ///
    /// # Errors
    ///
    /// Those of [`gemm_fused`]; and if the shapes differ from those of the plan, or there is no kernel with the plan's tile for these
    /// matrices. Nothing has been launched then.
    pub fn launch_fused<T: FusedInput<D>, D: Element, const R: usize>(
        &self,
        device: &Device,
        a: &TensorView<'_, T, R>,
        b: &TensorView<'_, T, R>,
        epilogue: Epilogue<'_, D, R>,
        d: &mut TensorViewMut<'_, D, R>,
    ) -> Result<(), Error> {
        let form = form(a, b, &epilogue, d)?;
        self.check_shapes(&form, a, b, d)?;
        if is_empty(&d.shape()) {
            return Ok(());
        }
        if form.extents[3] == 0 || epilogue.scale == 0.0 {
            let (zeros, epilogue) = (Zeros::vector(device)?, epilogue.scale(1.0));
            return gemm_fused(device, &zeros.like(a)?, &zeros.like(b)?, epilogue, d);
        }
        let (beta, c) = epilogue.residual.unzip();
        let c = c.map(|c| form.like_d("gemm_fused", "c", &c)).transpose()?;
        let bias = epilogue.bias.map(|bias| bias.prepend::<2>()).transpose()?;
        let mut largest = epilogue.largest;
        let (alpha, beta) = (epilogue.scale, beta.unwrap_or_default());
        let (bias, c, largest) = (bias.as_slice(), c.as_slice(), largest.as_mut_slice());
        let function = epilogue.activation;
        let mut d = d.as_view_mut().prepend::<3>()?;
        let operands = (a.prepend::<3>()?, b.prepend::<3>()?);
        let [batches, m, n, k] = form.extents;
        // The order of the operands, and M and N, of the computed product.
        let of = |config: Config| match config.swapped {
            true => (n, m),
            false => (m, n),
        };
        match self.tile() {
            Tile::Shared(config) if config.by_element != form.by_tma => {
                let mut built = <T as gemm_fused_types<D>>::INSTANCES.iter();
                let found = built.find(|(_, it)| it.value() == config);
                let (_, it) = *found.ok_or_else(|| self.impossible())?;
                let (m, n) = of(config);
                self.launch_copied(device, &form, operands, |grid, _, a, b| {
                    let (a, b) = if config.swapped { (b, a) } else { (a, b) };
                    Ok(kernels::gemm_fused::launch(
                        constant(function),
                        it,
                        device,
                        grid,
                        a,
                        b,
                        bias,
                        c,
                        largest,
                        &mut d,
                        batches,
                        m,
                        n,
                        k,
                        alpha,
                        beta,
                    )?)
                })
            }
            Tile::InParts(config, parts) => {
                let mut built = <T as gemm_types<T, T::Sum>>::INSTANCES.iter();
                let it = *built
                    .find(|it| it.value() == config)
                    .ok_or_else(|| self.impossible())?;
                let (m, n) = of(config);
                self.launch_copied(device, &form, operands, |grid, sums, a, b| {
                    let (a, b) = if config.swapped { (b, a) } else { (a, b) };
                    in_parts::<T::Sum>(
                        device,
                        d.shape(),
                        parts,
                        sums,
                        |of| gemm::launch(it, device, grid, a, b, of, batches, m, n, k, parts),
                        |grid, sums| {
                            kernels::finish_parts::launch(
                                constant(function),
                                device,
                                grid,
                                sums,
                                bias,
                                c,
                                largest,
                                &mut d,
                                parts,
                                alpha,
                                beta,
                            )
                        },
                    )
                })
            }
            _ => Err(self.impossible()),
        }
    }
}

/// The form of a product with an epilogue whose tensors fit it. TMA stores D if threads can load the bias and C by vectors, too.
fn form<T: Element, D: Element, const R: usize>(
    a: &TensorView<'_, T, R>,
    b: &TensorView<'_, T, R>,
    epilogue: &Epilogue<'_, D, R>,
    d: &TensorViewMut<'_, D, R>,
) -> Result<Form, Error> {
    let [batches, m, n, _] = extents(a, b, d)?;
    epilogue.check("gemm_fused", [batches, m, n], &d.shape())?;
    let mut form = Form::new(a, b, d, 0)?;
    if form.transposed {
        return Err(major("gemm_fused", "d", "N", &d.as_view().prepend()?));
    }
    form.by_tma &= epilogue.has_whole_vectors()?;
    if let Some((_, c)) = &epilogue.residual {
        form.like_d("gemm_fused", "c", c)?;
    }
    Ok(form)
}

/// The kernels, and their instances.
#[cute_runtime::kernels]
pub mod kernels {
    use crate::gemm::sums::kernels::{COLUMNS, ROWS, first_of, place_in, store_sums, sum_of_parts};
    use crate::parts::config::kernels::Config;
    use crate::parts::epilogue::activation::kernels::{Activation, activate};
    use crate::parts::epilogue::scale::kernels::{
        absmax_of_rows, absmax_of_transposed_rows, absmax_of_warps, bias_of_columns,
        number_of_tile, scaled_tile,
    };
    use crate::parts::epilogue::store::kernels::{finish_stores, store_tile};
    use crate::parts::mainloop::kernels::{multiply_held, tiles};
    use crate::product::table::kernels::FUSED;

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
        #[facts(aligned(bias, CFG.unit(bits::<D>())), extent(bias, 1) % CFG.multiple(bits::<D>()) == 0)]
        bias: [Global<D, 2>; 1],
        #[facts(aligned(c, CFG.unit(bits::<D>())), extent(c, 2) % CFG.multiple(bits::<D>()) == 0)]
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
        // Beside its sums, a thread holds a piece of them, and what is added to it.
        multiply_held::<_, _, _, CFG>(a, b, tiles, k, 64, |acc, consumer, at, _| {
            // Coordinates are those of D. The bias is loaded at once, so that a thread waits for memory once.
            let x = if CFG.swapped { transpose(acc) } else { acc };
            let (columns, column) = if CFG.swapped {
                (64, at.1)
            } else {
                (2 * size(acc), at.2)
            };
            let bias = bias_of_columns(x, bias, columns, column / columns);
            let of_piece = |piece, (batch, row, column), first| {
                let x = if CFG.swapped { transpose(piece) } else { piece };
                let (tile, at) = if CFG.swapped {
                    ((2 * size(x), 64), (batch, column, row))
                } else {
                    ((64, 2 * size(x)), (batch, row, column))
                };
                let first = if CFG.swapped { 0 } else { first };
                let added = local_tile(bias, (1, tile.1), (0, first / tile.1));
                let sum = fma(convert::<f32>(x), alpha, convert::<f32>(added));
                if c.len() > 0 {
                    let at = (batch, number_of_tile(tile, (at.1, at.2)));
                    copy(sum + scaled_tile(beta, c[0], sum, tile, at), sum);
                }
                let y = map(sum, |x| activate::<F>(x));
                if largest.len() > 0 {
                    if CFG.swapped {
                        absmax_of_transposed_rows(y, largest[0], (at.1, at.2), m);
                    } else {
                        absmax_of_rows(y, largest[0], (at.1, at.2), n);
                    }
                }
                if CFG.swapped { transpose(y) } else { y }
            };
            store_tile::<_, _, _, CFG>(acc, of_piece, d, consumer, at);
        });
        finish_stores::<CFG>();
    }

    /// D = f(α · Σₚ sums[i · parts + p, _, _] + β · C + bias).
    #[kernel(threads = 256)]
    #[instances(
        cfg(feature = "fused"),
        (S, D) in [(f32, bf16), #[cfg(feature = "f16")] (f32, f16)],
        F in [
            Activation::Identity, Activation::Relu, Activation::Gelu, Activation::GeluTanh, Activation::Silu,
        ],
    )]
    pub fn finish_parts<S: Element, D: Element, const F: Activation>(
        sums: Global<S, 3>,
        bias: [Global<D, 2>; 1],
        c: [Global<D, 3>; 1],
        largest: [Global<f32, 1>; 1],
        d: Global<D, 3>,
        parts: u32,
        alpha: f32,
        beta: f32,
    ) {
        let (batch, at) = place_in(d);
        let sum = sum_of_parts(sums, batch, at, parts);
        let bias = bias_of_columns(sum, bias, COLUMNS, at.1);
        let sum = fma(sum, alpha, convert::<f32>(bias));
        if c.len() > 0 {
            let added = scaled_tile(beta, c[0], sum, (ROWS, COLUMNS), (batch, at));
            copy(sum + added, sum);
        }
        let y = map(sum, |x| activate::<F>(x));
        if largest.len() > 0 {
            absmax_of_warps(y, largest[0], first_of(at), extent(d, 2));
        }
        store_sums(y, d, batch, at);
    }
}
