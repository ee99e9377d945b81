//! Products: a layout repeated as another one says.

use crate::complement::complement_endless;
use crate::composition::{Compose, compose};
use crate::divide::Form;
use crate::domain::{Numbers, overflow};
use crate::error::{During, LayoutError};
use crate::integer::Integer;
use crate::layout::Layout;
use crate::overhang::Overhang;
use crate::tiler::{Others, Tiler};

/// `(A, repetitions)`: the second mode places copies of A, one for each coordinate of the tiler, in its order, each
/// in the next part of A's complement; mode by mode, where the tiler has modes. Copies of an injective A are disjoint.
///
/// A must have a [`complement`](crate::complement), and that a [`composition`](crate::composition) with the tiler.
/// ```
/// use cute_algebra::{Layout, logical_product};
/// let a = Layout::new([2, 2], [4, 1])?;
/// let tiled = logical_product(&a, &Layout::new(6, 1)?.into());
/// assert_eq!(tiled?.to_string(), "((2,2),(2,3)):((4,1),(2,8))");
/// # Ok::<(), cute_algebra::LayoutError>(())
/// ```
pub fn logical_product(a: &Layout, tiler: &Tiler) -> Result<Layout, LayoutError> {
    product_by(&mut Numbers, a, tiler, Form::Logical)
}

/// `((A, …), (repetitions, …))`: the modes of [`logical_product`] in another order.
///
/// The condition is that of [`logical_product`].
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

/// `((A, …), repetitions, …)`: the modes of [`logical_product`] in another order.
///
/// The condition is that of [`logical_product`].
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

/// `(A, …, repetitions, …)`: the modes of [`logical_product`] in another order.
///
/// The condition is that of [`logical_product`].
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

/// The product with each mode of A beside the mode of B that repeats it: `((A0, B0), (A1, B1), …)`.
///
/// The condition is that of [`logical_product`].
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

/// The product with the repetitions fastest: `((B0, A0), (B1, A1), …)`.
///
/// The condition is that of [`logical_product`].
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

/// Whether the elements of a block stay together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// They do.
    Blocked,
    /// Those of the blocks alternate.
    Raked,
}

/// The modes of both side by side, once modes `1:0` make their ranks equal: those of A, and those of the repetitions of A.
pub(crate) fn ranked_product<D: Compose>(
    d: &mut D,
    a: &Layout<D::Int>,
    b: &Layout<D::Int>,
    order: Order,
) -> Result<Layout<D::Int>, LayoutError> {
    let rank = a.rank().max(b.rank());
    let (a, b) = (pad(a, rank), pad(b, rank));
    let copies = repetitions(d, &a, &b)?;
    // An integer mode of B stays one mode, even where its copies need a tuple.
    let copies = if b.shape().is_leaf() {
        vec![copies]
    } else {
        copies.modes()
    };
    let pairs = a.modes().into_iter().zip(copies).map(|(a, b)| match order {
        Order::Blocked => Layout::concat([a, b]),
        Order::Raked => Layout::concat([b, a]),
    });
    Layout::concat(pairs.collect::<Result<Vec<_>, _>>()?)
}

/// The layout with modes `1:0` added up to a rank.
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

/// Where the copies of A go: the rest of A, without end, composed with B.
fn repetitions<D: Compose>(
    d: &mut D,
    a: &Layout<D::Int>,
    b: &Layout<D::Int>,
) -> Result<Layout<D::Int>, LayoutError> {
    b.require_integral(1)?;
    let count = d.integer(&b.span().ok_or_else(overflow)?)?;
    let rest = complement_endless(d, a, count).during("complement", [a])?;
    // The rest has no end, so what can fail is B against the holes of A.
    compose(d, &rest, b, Overhang::Ragged).during("composition", [&rest, b])
}
