//! Products of groups of rows, each with a matrix of its own. Only the device knows the sizes of the groups.

use cute_runtime::{Device, Element, TensorView, TensorViewMut};

use crate::Error;
use crate::extent::{Zeros, extent, is_empty};
use crate::pack::Pack;
use crate::product::model::Product;
use crate::product::operands::{Operand, is_contiguous, major};
use crate::tma::can_store_by_vector;

/// Element types of A and B whose products [`gemm_grouped`](fn@gemm_grouped) rounds to `D`.
pub trait GroupedInput<D: Element>: Pack + kernels::gemm_grouped_types<D> {}

impl<T, D: Element> GroupedInput<D> for T where T: Pack + kernels::gemm_grouped_types<D> {}

/// D = A · Bₑᵀ for each group e of rows of A and D, in one launch: the linear layers of a mixture of experts, whose tokens are sorted
/// by expert.
///
/// A has the shape (M, K), B (groups, N, K), and D (M, N). `ends` is on the device, and the host does not read it. Group 0 has the
/// rows from 0 to `ends[0]`, and group e from `ends[e - 1]` to `ends[e]`, as in the `offs` of PyTorch's `_grouped_mm`. Offsets
/// that begin with a 0, such as vLLM's, give `ends` without that 0: `offsets.view().slice(0, 1..groups + 1)`. Weights of shape
/// (groups, K, N) are `weights.view().select([0, 2, 1])`.
///
/// Groups may be empty and of any size. Rows of D in no group keep their values. No value in `ends` makes the kernel access other
/// memory: an end before the previous end counts as the previous end, so the group is empty, and an end beyond M counts as M. If
/// the host knows the ends, [`check_group_ends`] finds a wrong one. Nothing else may write `ends` while the product is computed:
/// warps that read different ends wait for one another forever.
///
/// A and B are `bf16` with D `bf16`, or `f16` with D `f16`; sums are of `f32`. Matrices lie as for [`gemm`](fn@super::gemm), but D is
/// contiguous along N, and A or B is copied first if it is contiguous along M or N. On a GPU the call returns before the product
/// is complete, unless it copies: then it waits for that.
///
/// ```
/// use cute_runtime::{Device, Tensor, bf16};
/// let device = Device::emulator();
/// let tokens = Tensor::from_slice(&device, &[bf16::ONE; 3 * 8], [3, 8])?;
/// let weights = [bf16::from_f32(1.0), bf16::from_f32(2.0)].map(|weight| [weight; 4 * 8]);
/// let weights = Tensor::from_slice(&device, weights.as_flattened(), [2, 4, 8])?;
/// // The first expert has one token, and the second has two.
/// let ends = Tensor::from_slice(&device, &[1, 3], [2])?;
/// let mut d = Tensor::<bf16, 2>::zeros(&device, [3, 4])?;
/// cute_kernels::gemm_grouped(
///     &device,
///     &tokens.view(),
///     &weights.view(),
///     &ends.view(),
///     &mut d.view_mut(),
/// )?;
/// let rows: Vec<f32> = d.download()?.chunks(4).map(|row| row[0].to_f32()).collect();
/// assert_eq!(rows, [8.0, 16.0, 16.0]);
/// # Ok::<(), cute_kernels::Error>(())
/// ```
///
/// The kernels need the feature `grouped`.
///
/// # Errors
///
/// If the shapes do not fit together, an extent is larger than 2³¹ − 1, A or B is contiguous along neither
/// of its last two modes, or D is not contiguous along N. The error names the argument and the rule that it breaks, and nothing
/// has been launched.
pub fn gemm_grouped<T: GroupedInput<D>, D: Element>(
    device: &Device,
    a: &TensorView<'_, T, 2>,
    b: &TensorView<'_, T, 3>,
    ends: &TensorView<'_, i32, 1>,
    d: &mut TensorViewMut<'_, D, 2>,
) -> Result<(), Error> {
    let ([m, k], [groups, n, _]) = (a.shape(), b.shape());
    if b.shape() != [groups, n, k] || ends.shape() != [groups] || d.shape() != [m, n] {
        let found = [
            ("a", &a.shape()[..]),
            ("b", &b.shape()),
            ("ends", &ends.shape()),
            ("d", &d.shape()),
        ];
        let needs = "a of shape (M, K), b of (groups, N, K), ends of (groups) and d of (M, N)";
        return Err(Error::shapes("gemm_grouped", needs, &found));
    }
    if is_empty(&d.shape()) || groups == 0 {
        return Ok(());
    }
    if k == 0 {
        let zeros = Zeros::vector(device)?;
        return gemm_grouped(device, &zeros.like(a)?, &zeros.like(b)?, ends, d);
    }
    let [all, m, n, k] = [extent(groups)?, extent(m)?, extent(n)?, extent(k)?];
    let d_all = d.as_view().prepend::<3>()?;
    if !is_contiguous(&d_all) {
        return Err(major("gemm_grouped", "d", "N", &d_all));
    }
    let (a, b) = (Operand::new("a", *a)?, Operand::new("b", *b)?);
    let (a_copy, b_copy) = (a.copy(device)?, b.copy(device)?);
    let (a, b) = (a.view(&a_copy)?, b.view(&b_copy)?);
    // The estimate takes all groups as equally large.
    let product = Product::new::<T, D>(device, [all, m.div_ceil(all), n, k])?;
    let built = <T as kernels::gemm_grouped_types<D>>::INSTANCES;
    let (it, _) = product.instance(built, !can_store_by_vector(&d.as_view()))?;
    // Each group begins with a tile of its own.
    let sizes = it.value();
    let rows = u64::from(m / sizes.bm) + u64::from(all.min(m));
    let tiles = rows * u64::from(n.div_ceil(sizes.bn));
    let grid = tiles.min(device.multiprocessor_count().into()) as u32;
    kernels::gemm_grouped::launch(it, device, grid, &a, &b, ends, d, k)?;
    Ok(())
}

/// Checks ends of groups that the host knows, for a matrix with so many rows: each end is at least the previous one, and at most
/// the number of rows.
///
/// ```
/// use cute_kernels::{Error, check_group_ends};
/// check_group_ends(&[3, 3, 20], 20)?;
/// let error = check_group_ends(&[3, 2, 20], 20).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "ends[1] is 2: the end of a group is at least that of the group before, 3, and at most the number of rows, 20"
/// );
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
///
/// If an end breaks the rule. The error names the first such end.
pub fn check_group_ends(ends: &[i32], rows: usize) -> Result<(), Error> {
    let mut before = 0;
    for (group, &end) in ends.iter().enumerate() {
        if end < before || usize::try_from(end).is_ok_and(|end| end > rows) {
            return Err(Error::GroupEnd {
                group,
                end,
                before,
                rows,
            });
        }
        before = end;
    }
    Ok(())
}

/// The kernels and their instances.
#[cute_runtime::kernels]
pub mod kernels {
    use crate::parts::config::kernels::{Config, SINGLE, SQUARE, SQUARE_BY_ELEMENT, WHOLE};
    use crate::parts::epilogue::store::kernels::store_rows;
    use crate::parts::mainloop::kernels::multiply;
    use crate::parts::tiles::kernels::Groups;

    /// The products of groups of rows, which end at `ends`, each with a matrix of B. D is stored by vectors, unless `CFG.by_element`:
    /// then its rows have any stride and any alignment.
    #[kernel(threads = 384)]
    #[instances(
        cfg(feature = "grouped"),
        (T, D) in [(bf16, bf16), #[cfg(feature = "f16")] (f16, f16)],
        CFG in [SINGLE, SQUARE, WHOLE, SQUARE_BY_ELEMENT],
    )]
    pub fn gemm_grouped<T: Element, D: Element, const CFG: Config>(
        a: TmaLoad<T, 2>,
        b: TmaLoad<T, 3>,
        ends: Global<i32, 1>,
        #[facts(aligned(d, CFG.unit(bits::<D>())), extent(d, 1) % CFG.multiple(bits::<D>()) == 0)]
        d: Global<D, 2>,
        k: u32,
    ) {
        let tiles = groups::<CFG>(ends, d);
        multiply::<_, _, _, CFG>(a, b, tiles, k, |acc, consumer, (_, row, column), end| {
            store_rows::<_, CFG>(acc, d, consumer, (row, column), end);
        });
    }

    fn groups<const CFG: Config>(ends: Global<i32, 1>, d: Global) -> _ {
        Groups::<{ CFG.bm }, { CFG.bn }, { CFG.group }>::new(ends, extent(d, 0), extent(d, 1))
    }
}
