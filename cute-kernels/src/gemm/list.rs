//! Lists of products of matrices of any shapes, in one launch.

use cute_runtime::{Device, Element, TensorView, TensorViewMut};

use crate::Error;
use crate::extent::{Zeros, extent};
use crate::pack::Pack;
use crate::product::model::Product;
use crate::product::operands::{self, Copied, Operand};
use crate::tma::can_store_by_vector;
use kernels::{PROBLEMS, gemm_list_CFG};

/// Element types of A and B whose products [`gemm_list`](fn@gemm_list) rounds to `D`.
pub trait ListInput<D: Element>: Pack + kernels::gemm_list_types<D> {}

impl<T, D: Element> ListInput<D> for T where T: Pack + kernels::gemm_list_types<D> {}

/// Dᵢ = Aᵢ · Bᵢᵀ for a list of products, each with M, N, K, strides and addresses of its own: also called a grouped GEMM.
///
/// Aᵢ has the shape (M, K), Bᵢ (N, K), and Dᵢ (M, N), and each of them lies as for [`gemm`](fn@super::gemm).
///
/// | A and B | sums | D |
/// |---|---|---|
/// | `bf16` | `f32` | `bf16`, `f32` |
/// | `f16` | `f32` | `f16` |
///
/// A launch computes up to 64 products. Its CTAs take their tiles in turns, those of the largest K first. The shapes, addresses
/// and tensor maps are parameters of the launch, so nothing is copied to the device before. If D does not start at multiples of 16
/// bytes, or is not multiples of 16 bytes long, the product is stored by elements, in a launch with others of this kind. A or B
/// that is contiguous along M or N, or does not start at multiples of 16 bytes, is copied first. On a GPU the call returns before
/// the products are complete, unless it copies: then it waits for that.
///
/// ```
/// use cute_runtime::{Device, Tensor, bf16};
/// let device = Device::emulator();
/// let ones = |shape: [usize; 2]| Tensor::from_slice(&device, &vec![bf16::ONE; shape[0] * shape[1]], shape);
/// let a = [ones([3, 8])?, ones([100, 24])?];
/// let b = [ones([5, 8])?, ones([2, 24])?];
/// let mut d = [Tensor::<f32, 2>::zeros(&device, [3, 5])?, Tensor::zeros(&device, [100, 2])?];
/// cute_kernels::gemm_list(
///     &device,
///     &a.each_ref().map(Tensor::view),
///     &b.each_ref().map(Tensor::view),
///     &mut d.each_mut().map(Tensor::view_mut),
/// )?;
/// assert_eq!(d[0].download()?, [8.0; 15]);
/// assert_eq!(d[1].download()?, [24.0; 200]);
/// # Ok::<(), cute_kernels::Error>(())
/// ```
///
/// The kernels need the feature `grouped`.
///
/// # Errors
///
/// If there are not as many of A, B and D, the shapes of a product do not fit together, an extent is larger than 2³¹ − 1, or a matrix is
/// contiguous along neither of its modes. The error names the product, the argument and the broken rule, and nothing has been launched.
pub fn gemm_list<T: ListInput<D>, D: Element>(
    device: &Device,
    a: &[TensorView<'_, T, 2>],
    b: &[TensorView<'_, T, 2>],
    d: &mut [TensorViewMut<'_, D, 2>],
) -> Result<(), Error> {
    if a.len() != d.len() || b.len() != d.len() {
        let (a, b, d) = (a.len(), b.len(), d.len());
        return Err(Error::ListLengths { a, b, d });
    }
    let has_none = a.iter().any(|a| a.shape()[1] == 0);
    let zeros = has_none.then(|| Zeros::vector(device)).transpose()?;
    let operands = a.iter().zip(b).zip(d);
    let problems = operands.enumerate().map(|(problem, ((a, b), d))| {
        Problem::new(*a, *b, d.as_view_mut(), zeros.as_ref()).map_err(|error| Error::ListProblem {
            problem,
            error: Box::new(error),
        })
    });
    let mut problems = problems.collect::<Result<Vec<_>, _>>()?;
    problems.retain(|problem| problem.extents[0] > 0 && problem.extents[1] > 0);
    // The last tiles are then short, and CTAs end at about the same time.
    problems.sort_by_key(|problem| std::cmp::Reverse(problem.extents[2]));
    let (aligned, others): (Vec<_>, Vec<_>) =
        problems.into_iter().partition(|problem| problem.aligned);
    let mut launches = chunks(aligned);
    launches.extend(chunks(others));
    let mut planned = Vec::new();
    for problems in launches {
        planned.push((instance::<T, D>(device, &problems)?, problems));
    }
    planned
        .into_iter()
        .try_for_each(|(instance, problems)| launch(device, instance, problems))
}

/// A product that has been checked.
struct Problem<'v, T: Element, D: Element> {
    a: Operand<'v, T, 2>,
    b: Operand<'v, T, 2>,
    d: TensorViewMut<'v, D, 2>,
    /// M, N and K.
    extents: [u32; 3],
    /// Whether D is stored by vectors.
    aligned: bool,
}

impl<'v, T: Pack, D: Element> Problem<'v, T, D> {
    /// If D is contiguous along M, the problem is Dᵀ = B · Aᵀ. If K is 0, it is a product of zeros.
    fn new(
        a: TensorView<'v, T, 2>,
        b: TensorView<'v, T, 2>,
        d: TensorViewMut<'v, D, 2>,
        zeros: Option<&'v Zeros<T>>,
    ) -> Result<Self, Error> {
        let (a, b) = match (operands::extents(&a, &b, &d)?, zeros) {
            ([.., 0], Some(zeros)) => (zeros.like(&a)?, zeros.like(&b)?),
            _ => (a, b),
        };
        let [_, m, n, k] = operands::extents(&a, &b, &d)?;
        let extents = [extent(m)?, extent(n)?, extent(k)?];
        let (a, b) = (Operand::new("a", a)?, Operand::new("b", b)?);
        let all = d.as_view().prepend::<3>()?;
        let (a, b, d, extents) = if operands::lies_along_rows(&all) {
            let [m, n, k] = extents;
            (b, a, d.select([1, 0])?, [n, m, k])
        } else if operands::is_contiguous(&all) {
            (a, b, d, extents)
        } else {
            return Err(Error::GemmStrides {
                argument: "d",
                strides: d.strides(),
            });
        };
        Ok(Self {
            aligned: can_store_by_vector(&d.as_view()),
            a,
            b,
            d,
            extents,
        })
    }
}

/// Divides the problems into those of each launch.
fn chunks<P>(mut problems: Vec<P>) -> Vec<Vec<P>> {
    let mut chunks = Vec::new();
    while !problems.is_empty() {
        let rest = problems.split_off(problems.len().min(PROBLEMS as usize));
        chunks.push(std::mem::replace(&mut problems, rest));
    }
    chunks
}

/// The instance of a launch: the one for as many products of the mean M, N and K.
fn instance<T: ListInput<D>, D: Element>(
    device: &Device,
    problems: &[Problem<'_, T, D>],
) -> Result<gemm_list_CFG, Error> {
    let count = problems.len() as u32;
    let mean = |mode: usize| {
        let sum: u64 = problems.iter().map(|it| u64::from(it.extents[mode])).sum();
        sum.div_ceil(count.into()) as u32
    };
    let mean = Product::new::<T, D>(device, [count, mean(0), mean(1), mean(2)])?;
    let is_aligned = problems.iter().all(|problem| problem.aligned);
    let built = <T as kernels::gemm_list_types<D>>::INSTANCES;
    let (it, _) = mean.instance(built, !is_aligned)?;
    for Problem { extents, .. } in problems {
        let [m, n, k] = *extents;
        let product = Product {
            extents: [1, m, n, k],
            ..mean
        };
        product.check(it.value())?;
    }
    Ok(it)
}

fn launch<T: ListInput<D>, D: Element>(
    device: &Device,
    it: gemm_list_CFG,
    mut problems: Vec<Problem<'_, T, D>>,
) -> Result<(), Error> {
    let copies = problems
        .iter()
        .map(|Problem { a, b, .. }| Ok([a.copy(device)?, b.copy(device)?]));
    let copies: Vec<[Copied<T>; 2]> = copies.collect::<Result<_, Error>>()?;
    let (mut a, mut b, mut d, mut k) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (sizes, mut tiles) = (it.value(), 0);
    for (problem, [a_copy, b_copy]) in problems.iter_mut().zip(&copies) {
        let [m, n, depth] = problem.extents;
        a.push(problem.a.view(a_copy)?);
        b.push(problem.b.view(b_copy)?);
        d.push(problem.d.as_view_mut());
        k.push(depth);
        tiles += u64::from(m.div_ceil(sizes.bm)) * u64::from(n.div_ceil(sizes.bn));
    }
    let grid = tiles.min(device.multiprocessor_count().into()) as u32;
    kernels::gemm_list::launch(it, device, grid, &a, &b, &mut d, &k)?;
    Ok(())
}

/// The kernels and their instances.
#[cute_runtime::kernels]
pub mod kernels {
    use crate::parts::config::kernels::{Config, NARROW, SINGLE, SQUARE, SQUARE_BY_ELEMENT, WHOLE};
    use crate::parts::epilogue::store::kernels::store_rows;
    use crate::parts::mainloop::kernels::multiply_problems;
    use crate::parts::tiles::kernels::Problems;

    /// The most products of a launch.
    pub const PROBLEMS: u32 = 64;

    /// Dᵢ = Aᵢ · Bᵢᵀ, where K is `k[i]`. D is stored by vectors, unless `CFG.by_element`: then its rows have any stride and any alignment.
    #[kernel(threads = 384)]
    #[instances(
        cfg(feature = "grouped"),
        (T, D) in [(bf16, bf16), (bf16, f32), #[cfg(feature = "f16")] (f16, f16)],
        CFG in [SINGLE, SQUARE, NARROW, WHOLE, SQUARE_BY_ELEMENT],
    )]
    pub fn gemm_list<T: Element, D: Element, const CFG: Config>(
        #[facts(a.len() == d.len(), b.len() == d.len(), k.len() == d.len(), d.len() >= 1)]
        a: [TmaLoad<T, 2>; PROBLEMS],
        b: [TmaLoad<T, 2>; PROBLEMS],
        #[facts(aligned(d, CFG.unit(bits::<D>())), extent(d, 1) % CFG.multiple(bits::<D>()) == 0)]
        d: [Global<D, 2>; PROBLEMS],
        k: [u32; PROBLEMS],
    ) {
        let tiles = Problems::<{ CFG.bm }, { CFG.bn }, { CFG.group }, { PROBLEMS }>::new(d, k);
        // Outside of the iterator, it is not known that the number of a tile's problem is in range.
        let below = |problem| min(problem, d.len() - 1);
        multiply_problems::<T, 2, 2, CFG>(
            |problem| (a[below(problem)], b[below(problem)]),
            tiles,
            None,
            1,
            0,
            |_, _, _| (1.0, 1.0),
            |acc, consumer, (problem, row, column), end| {
                store_rows::<_, CFG>(acc, d[below(problem)], consumer, (row, column), end);
            },
        );
    }
}
