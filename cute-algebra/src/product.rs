//! Products: a layout repeated in the order of another one.

use crate::analysis::injective::is_injective;
use crate::complement::{Chain, Gaps};
use crate::composition::{Compose, compose};
use crate::divide::Form;
use crate::domain::{Numbers, overflow};
use crate::error::{During, LayoutError};
use crate::integer::Integer;
use crate::layout::Layout;
use crate::overhang::Overhang;
use crate::stride::ScaledBasis;
use crate::tiler::{Others, Tiler};
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;

/// `(A, repetitions)`: the second mode places one copy of A for each coordinate of the tiler, in the tiler's order.
/// Value v of the tiler stands for the v-th free place for a copy of A. Where the tiler has modes, this is done
/// mode by mode. If A and the tiler are injective, the copies of A are disjoint.
///
/// In ascending order, each stride of A must be at least the previous stride times its extent. The free places are
/// the gaps below each stride, and after them the multiples of the last stride times its extent. Unlike for a
/// [`complement`](crate::complement), copies need not fill a gap: it takes as many as fit, so padding is repeated.
///
/// The sequence of free places must have a [`composition`](crate::composition) with the tiler. If a stride of the
/// tiler steps over the end of a gap, there is none; then the gap is counted up to the next multiple of the largest
/// such stride, provided that the copies stay disjoint.
/// ```
/// use cute_algebra::{Layout, logical_product};
/// let a = Layout::new([2, 2], [4, 1])?;
/// let tiled = logical_product(&a, &Layout::new(6, 1)?.into());
/// assert_eq!(tiled?.to_string(), "((2,2),(2,3)):((4,1),(2,8))");
/// // Columns of 4, padded by 2.
/// let a = Layout::new([4, 6], [1, 6])?;
/// let tiled = logical_product(&a, &Layout::new(3, 1)?.into());
/// assert_eq!(tiled?.to_string(), "((4,6),3):((1,6),36)");
/// # Ok::<(), cute_algebra::LayoutError>(())
/// ```
pub fn logical_product(a: &Layout, tiler: &Tiler) -> Result<Layout, LayoutError> {
    product_by(&mut Numbers, a, tiler, Form::Logical)
}

/// `((A, …), (repetitions, …))`: the modes of [`logical_product`] in another order, under the same conditions.
/// ```
/// use cute_algebra::{Layout, zipped_product};
/// let a: Layout = "(2,5):(5,1)".parse()?;
/// let product = zipped_product(&a, &"<3:5, 4:6>".parse()?)?;
/// assert_eq!(product.to_string(), "((2,5),(3,4)):((5,1),(10,30))");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn zipped_product(a: &Layout, tiler: &Tiler) -> Result<Layout, LayoutError> {
    product_by(&mut Numbers, a, tiler, Form::Zipped)
}

/// `((A, …), repetitions, …)`: the modes of [`logical_product`] in another order, under the same conditions.
/// ```
/// use cute_algebra::{Layout, tiled_product};
/// let a: Layout = "(2,5):(5,1)".parse()?;
/// let product = tiled_product(&a, &"<3:5, 4:6>".parse()?)?;
/// assert_eq!(product.to_string(), "((2,5),3,4):((5,1),10,30)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn tiled_product(a: &Layout, tiler: &Tiler) -> Result<Layout, LayoutError> {
    product_by(&mut Numbers, a, tiler, Form::Tiled)
}

/// `(A, …, repetitions, …)`: the modes of [`logical_product`] in another order, under the same conditions.
/// ```
/// use cute_algebra::{Layout, flat_product};
/// let a: Layout = "(2,5):(5,1)".parse()?;
/// let product = flat_product(&a, &"<3:5, 4:6>".parse()?)?;
/// assert_eq!(product.to_string(), "(2,5,3,4):(5,1,10,30)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn flat_product(a: &Layout, tiler: &Tiler) -> Result<Layout, LayoutError> {
    product_by(&mut Numbers, a, tiler, Form::Flat)
}

/// The product with each mode of A before the mode of B that repeats it: `((A0, B0), (A1, B1), …)`. The conditions
/// are the same as for [`logical_product`].
/// ```
/// use cute_algebra::{Layout, blocked_product};
/// let a = Layout::new([2, 5], [5, 1])?;
/// let b = Layout::new([3, 4], [1, 3])?;
/// assert_eq!(blocked_product(&a, &b)?.to_string(), "((2,3),(5,4)):((5,10),(1,30))");
/// # Ok::<(), cute_algebra::LayoutError>(())
/// ```
pub fn blocked_product(a: &Layout, b: &Layout) -> Result<Layout, LayoutError> {
    ranked_product(&mut Numbers, a, b, Order::Blocked).during("blocked_product", [a, b])
}

/// The product with each mode of B before the mode of A that it repeats: `((B0, A0), (B1, A1), …)`. The conditions
/// are the same as for [`logical_product`].
/// ```
/// use cute_algebra::{Layout, raked_product};
/// let a: Layout = "(2,5):(5,1)".parse()?;
/// let b: Layout = "(3,4):(1,3)".parse()?;
/// assert_eq!(raked_product(&a, &b)?.to_string(), "((3,2),(4,5)):((10,5),(30,1))");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn raked_product(a: &Layout, b: &Layout) -> Result<Layout, LayoutError> {
    ranked_product(&mut Numbers, a, b, Order::Raked).during("raked_product", [a, b])
}

/// Whether the elements of a block stay together or alternate with those of other blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// They stay together: A is fastest.
    Blocked,
    /// They alternate: B is fastest.
    Raked,
}

/// How a product orders the modes of A and of its repetitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Product {
    /// `(A, repetitions)`, regrouped.
    By(Form),
    /// The modes of A paired with the modes of its repetitions. Modes `1:0` are appended to make the ranks of A and B
    /// equal.
    Ranked(Order),
}

impl Product {
    /// The modes of A and of the layout that `repeat` makes of A and B.
    pub(crate) fn arrange<I: Integer>(
        self,
        a: &Layout<I>,
        b: &Layout<I>,
        repeat: impl FnOnce(&Layout<I>, &Layout<I>) -> Result<Layout<I>, LayoutError>,
    ) -> Result<Layout<I>, LayoutError> {
        let order = match self {
            Self::By(form) => {
                let logical = Layout::concat([a.clone(), repeat(a, b)?])?;
                return form.arrange(logical, &b.clone().into());
            }
            Self::Ranked(order) => order,
        };
        let rank = a.rank().max(b.rank());
        let (a, b) = (pad(a, rank), pad(b, rank));
        let copies = repeat(&a, &b)?;
        // An integer pairs with the other operand as a whole, and the repetitions of an integer are one mode even where they form a tuple.
        let is_whole = a.shape().is_leaf() || b.shape().is_leaf();
        let modes = |layout: &Layout<I>| match is_whole {
            true => vec![layout.clone()],
            false => layout.modes(),
        };
        let pairs = modes(&a)
            .into_iter()
            .zip(modes(&copies))
            .map(|(a, b)| match order {
                Order::Blocked => Layout::concat([a, b]),
                Order::Raked => Layout::concat([b, a]),
            });
        Layout::concat(pairs.collect::<Result<Vec<_>, _>>()?)
    }
}

/// The product that pairs the modes of A with the modes of its repetitions.
pub(crate) fn ranked_product<D: Compose>(
    d: &mut D,
    a: &Layout<D::Int>,
    b: &Layout<D::Int>,
    order: Order,
) -> Result<Layout<D::Int>, LayoutError> {
    Product::Ranked(order).arrange(a, b, |a, b| repetitions(d, a, b))
}

/// The layout with modes `1:0` appended up to this rank.
pub(crate) fn pad<I: Integer>(a: &Layout<I>, rank: usize) -> Layout<I> {
    if a.rank() >= rank {
        return a.clone();
    }
    let mut modes = a.modes();
    modes.resize(rank, Layout::unit());
    Layout::join(modes)
}

/// `(A, repetitions)`, grouped by `form`.
pub(crate) fn product_by<D: Compose>(
    d: &mut D,
    a: &Layout<D::Int>,
    tiler: &Tiler<D::Int>,
    form: Form,
) -> Result<Layout<D::Int>, LayoutError> {
    let name = [
        "logical_product",
        "zipped_product",
        "tiled_product",
        "flat_product",
    ][form as usize];
    tiler
        .apply(a, Others::Keep, &mut |mode, tile| {
            Layout::concat([mode.clone(), repetitions(d, mode, tile)?])
        })
        .and_then(|product| form.arrange(product, tiler))
        .during(name, [a, tiler])
}

/// Where the copies of A go: the rest of A, composed with B. The rest lists the free places. First come those below
/// each stride of A, as many as the part of A with smaller strides has room for as a whole; then, without end, the
/// multiples of the last stride of A times its extent.
///
/// The places below a stride, and the part of A with smaller strides, together reach less than that stride. So in
/// `(A, rest)` every stride exceeds the sum of `(extent - 1) * stride` over all smaller ones. Hence no two sums are
/// equal, and copies of an injective A are disjoint where B is injective.
fn repetitions<D: Compose>(
    d: &mut D,
    a: &Layout<D::Int>,
    b: &Layout<D::Int>,
) -> Result<Layout<D::Int>, LayoutError> {
    b.require_integral(1)?;
    let count = d.integer(&b.span().ok_or_else(overflow)?)?;
    let chain = Chain::of(d, a, Gaps::Roomy)?;
    let rest = endless(chain.gaps.clone(), &chain.block, &count)?;
    // The rest has no end, so an error is about B and the gaps of A.
    compose(d, &rest, b, Overhang::Ragged).or_else(|refusal| {
        let copies = widened_copies(d, a, &chain, b, &count).map(|[_, copies]| copies);
        copies.ok_or_else(|| refusal.during("composition", [rest.to_string(), b.to_string()]))
    })
}

/// The places with widened gaps, and the copies of A there; `None` if these are no layout or overlap.
pub(crate) fn widened_copies<D: Compose>(
    d: &mut D,
    a: &Layout<D::Int>,
    chain: &Chain<D::Int>,
    b: &Layout<D::Int>,
    count: &D::Int,
) -> Option<[Layout<D::Int>; 2]> {
    let places = endless(widened(chain, b)?, &chain.block, count).ok()?;
    let copies = compose(d, &places, b, Overhang::Ragged).ok()?;
    are_apart(a, &copies).then_some([places, copies])
}

/// The first places where copies of A go, at least `count` of them.
pub(crate) fn places(a: &Layout, count: i64) -> Result<Layout, LayoutError> {
    let chain = Chain::of(&mut Numbers, a, Gaps::Roomy)?;
    endless(chain.gaps, &chain.block, &count)
}

/// The places in the gaps, followed by `count` places at multiples of `block` behind them.
fn endless<I: Integer>(mut gaps: Modes<I>, block: &I, count: &I) -> Result<Layout<I>, LayoutError> {
    gaps.retain(|(extent, _)| !extent.is_one());
    gaps.push((count.clone(), block.clone().into()));
    Layout::from_flat(gaps).validated()
}

type Modes<I> = Vec<(I, ScaledBasis<I>)>;

/// The gaps, with the number of places in each rounded up to a multiple of the steps of the largest stride of B
/// that falls inside it; `None` unless all are numbers. The added places are not free, so no copy may be placed
/// there.
fn widened<I: Integer>(chain: &Chain<I>, b: &Layout<I>) -> Option<Modes<I>> {
    let strides = b
        .stride()
        .leaves()
        .map(|stride| stride.value().as_constant());
    let strides = strides.collect::<Option<Vec<_>>>()?;
    let (mut weight, mut gaps) = (1i64, Vec::new());
    for (room, stride) in &chain.gaps {
        let end = weight.checked_mul(room.as_constant()?)?;
        let steps = strides.iter().filter(|&&step| weight <= step && step < end);
        let step = steps.max().map_or(1, |step| step / weight);
        let room = ((room.as_constant()? - 1) / step + 1).checked_mul(step)?;
        weight = weight.checked_mul(room)?;
        gaps.push((room.into(), stride.clone()));
    }
    Some(gaps)
}

/// Whether no value occurs twice in the copies of A, apart from repetitions through strides 0; `false` unless all are
/// numbers.
fn are_apart<I: Integer>(a: &Layout<I>, copies: &Layout<I>) -> bool {
    let numbers = |(extent, stride): (&I, &ScaledBasis<I>)| {
        Some((extent.as_constant()?, stride.value().as_constant()?))
    };
    let modes = a.leaves().chain(copies.leaves()).map(numbers);
    let Some(mut modes) = modes.collect::<Option<Vec<_>>>() else {
        return false;
    };
    modes.retain(|&(extent, stride)| extent > 1 && stride != 0);
    let modes = modes
        .into_iter()
        .map(|(extent, stride)| (extent, stride.into()));
    let both = Layout::from_flat(modes.collect()).validated();
    both.is_ok_and(|both| is_injective(&both) == Some(true))
}
