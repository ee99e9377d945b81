//! Products with gates: of each pair of columns, a function of one times the other.

use cute_runtime::{Device, Element, TensorView, TensorViewMut};

use super::epilogue::{Epilogue, constant};
use super::plan::Plan;
use super::tile::Tile;
use crate::Error;
use crate::extent::{Zeros, is_empty};
use crate::pack::Pack;
use crate::product::operands::{Form, major};
use kernels::{gemm_gated_CFG, gemm_gated_types};

/// Element types of A and B whose products [`gemm_gated`] rounds to `D`: `bf16` to `bf16`, and `f16` to `f16`.
pub trait GatedInput<D: Element>: Pack + gemm_gated_types<D> {}

impl<T: Pack + gemm_gated_types<D>, D: Element> GatedInput<D> for T {}

/// `D[i, j] = f(x[i, 2j]) · x[i, 2j + 1]` for x = α · A · Bᵀ + bias, A of shape (M, K), B of shape (2N, K), a bias of 2N numbers and D of
/// shape (M, N), or for batches of as many matrices: SwiGLU with [`Silu`](crate::Activation::Silu), GEGLU with [`Gelu`](crate::Activation::Gelu). The rows of B are
/// gates and gated numbers in turn.
///
/// Everything else is as for [`gemm_fused`](super::gemm_fused). An epilogue here has no residual.
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
/// The errors of [`gemm_fused`](super::gemm_fused), and if the epilogue has a residual.
pub fn gemm_gated<T: GatedInput<D>, D: Element, const R: usize>(
    device: &Device,
    a: &TensorView<'_, T, R>,
    b: &TensorView<'_, T, R>,
    epilogue: Epilogue<'_, D, R>,
    d: &mut TensorViewMut<'_, D, R>,
) -> Result<(), Error> {
    let plan = Plan::gated(device, a, b, &epilogue, d)?;
    plan.launch_gated(device, a, b, epilogue, d)
}

impl Plan {
    /// The plan of a product with gates, for matrices as [`gemm_gated`] takes them: the fastest of the tiles that are compiled ahead for
    /// such products. It depends on the shapes, strides, types and alignments of A, B and D.
    ///
    /// # Errors
    ///
    /// Those of [`gemm_gated`].
    pub fn gated<T: GatedInput<D>, D: Element, const R: usize>(
        device: &Device,
        a: &TensorView<'_, T, R>,
        b: &TensorView<'_, T, R>,
        epilogue: &Epilogue<'_, D, R>,
        d: &TensorViewMut<'_, D, R>,
    ) -> Result<Self, Error> {
        let form = form(a, b, epilogue, d)?;
        let built = <T as gemm_gated_types<D>>::INSTANCES;
        let built = built.iter().map(|(_, config)| config.value());
        let missing = <T as gemm_gated_types<D>>::MISSING;
        let none = std::iter::empty();
        Self::among::<T, D>(device, form, built, none, ("gemm_gated", missing))
    }

    /// Computes a product with gates for matrices with the shapes of the plan. The plan is one of [`Plan::gated`].
    ///
    /// # Errors
    ///
    /// Those of [`gemm_gated`]; and if the shapes differ from those of the plan, or there is no kernel with the plan's tile for these
    /// matrices. Nothing has been launched then.
    pub fn launch_gated<T: GatedInput<D>, D: Element, const R: usize>(
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
            return gemm_gated(device, &zeros.like(a)?, &zeros.like(b)?, epilogue, d);
        }
        let built = <T as gemm_gated_types<D>>::INSTANCES;
        let mut built = built.iter().map(|(_, config)| *config);
        let is_tile = |it: &gemm_gated_CFG| {
            Tile::Shared(it.value()) == self.tile() && it.value().by_element != form.by_tma
        };
        let config = built.find(is_tile).ok_or_else(|| self.impossible())?;
        let bias = epilogue.bias.map(|bias| bias.prepend::<2>()).transpose()?;
        let mut largest = epilogue.largest;
        let (alpha, function) = (epilogue.scale, constant(epilogue.activation));
        let [batches, m, rows, k] = form.extents;
        let mut d = d.as_view_mut().prepend::<3>()?;
        let operands = (a.prepend::<3>()?, b.prepend::<3>()?);
        self.launch_copied(device, &form, operands, |grid, _, a, b| {
            Ok(kernels::gemm_gated::launch(
                function,
                config,
                device,
                grid,
                a,
                b,
                bias.as_slice(),
                largest.as_mut_slice(),
                &mut d,
                batches,
                m,
                rows,
                k,
                alpha,
            )?)
        })
    }
}

/// The form of a product with gates and an epilogue whose tensors fit it.
fn form<T: Element, D: Element, const R: usize>(
    a: &TensorView<'_, T, R>,
    b: &TensorView<'_, T, R>,
    epilogue: &Epilogue<'_, D, R>,
    d: &TensorViewMut<'_, D, R>,
) -> Result<Form, Error> {
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
    let ([batches, rows, k], [of_d, m, n]) = (b_all.shape(), d_all.shape());
    let a_shape = a.prepend::<3>()?.shape();
    if rows != 2 * n || a_shape != [batches, m, k] || of_d != batches {
        return Err(misfit());
    }
    epilogue.check("gemm_gated", [batches, m, rows], &d.shape())?;
    let mut form = Form::of_halves(a, b, d)?;
    form.by_tma &= epilogue.has_whole_vectors()?;
    match form.transposed {
        true => Err(major("gemm_gated", "d", "N", &d_all)),
        false => Ok(form),
    }
}

/// The kernels, and their instances.
#[cute_runtime::kernels]
pub mod kernels {
    use crate::parts::config::kernels::Config;
    use crate::parts::epilogue::activation::kernels::{Activation, activate, gated, halves};
    use crate::parts::epilogue::scale::kernels::{absmax_of_rows, bias_of_columns};
    use crate::parts::epilogue::store::kernels::{finish_stores, store_tile};
    use crate::parts::mainloop::kernels::{multiply_held, tiles};
    use crate::product::table::kernels::GATED;

    /// D = f(x) · y of the even and the odd columns of α · A · Bᵀ + bias, which has n columns.
    #[kernel(threads = 384, cluster = (CFG.cluster_m * CFG.cluster_n * CFG.split, 1, 1))]
    #[instances(
        cfg(feature = "fused"),
        (T, D) in [(bf16, bf16), #[cfg(feature = "f16")] (f16, f16)],
        F in [
            Activation::Identity, Activation::Relu, Activation::Gelu, Activation::GeluTanh, Activation::Silu,
        ],
        CFG in GATED,
    )]
    pub fn gemm_gated<T: Element, D: Element, const F: Activation, const CFG: Config>(
        a: TmaLoad<T, 3>,
        b: TmaLoad<T, 3>,
        #[facts(aligned(bias, CFG.unit(bits::<D>())), extent(bias, 1) % CFG.multiple(bits::<D>()) == 0)]
        bias: [Global<D, 2>; 1],
        largest: [Global<f32, 1>; 1],
        d: Store<D, 3, { !CFG.by_element }>,
        batches: u32,
        m: u32,
        n: u32,
        k: u32,
        alpha: f32,
    ) {
        let tiles = tiles::<CFG>(batches, m, n);
        multiply_held::<_, _, _, CFG>(
            a,
            b,
            tiles,
            k,
            64,
            |acc, consumer, (batch, row, column), _| {
                let bias = bias_of_columns(acc, bias, 2 * size(acc), column / (2 * size(acc)));
                let y = halves(acc);
                for piece in 0..2 * size(acc) / 16 {
                    let added = convert::<f32>(local_tile(bias, (1, 16), (0, piece)));
                    let sum = fma(
                        convert::<f32>(local_tile(acc, (64, 16), (0, piece))),
                        alpha,
                        added,
                    );
                    let half = gated(sum, |x| activate::<F>(x));
                    copy(half, local_tile(y, (64, 8), (0, piece)));
                }
                let at = (batch, row, column / 2);
                if largest.len() > 0 {
                    absmax_of_rows(y, largest[0], (row, column / 2), n / 2);
                }
                store_tile::<_, _, _, CFG>(y, |piece, _, _| piece, d, consumer, at);
            },
        );
        finish_stores::<CFG>();
    }
}
