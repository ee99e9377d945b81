//! Compact layouts of a shape, in a given order or in the order of another layout.

use crate::ascending::order;
use crate::coalesce::filter_zeros_in;
use crate::composition::Compose;
use crate::divide::Form;
use crate::domain::{Domain, Numbers, product};
use crate::error::{During, ErrorKind, LayoutError, Place};
use crate::integer::Integer;
use crate::layout::Layout;
use crate::product::product_by;
use crate::stride::ScaledBasis;
use crate::tuple::{IntTuple, Shape, Tuple};
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;

impl Layout {
    /// The compact layout of `shape` whose leftmost mode is contiguous: CuTe's `LayoutLeft`.
    pub fn left(shape: impl Into<Shape>) -> Result<Self, LayoutError> {
        compact_left(&mut Numbers, &shape.into())
    }

    /// The compact layout of `shape` whose rightmost mode is contiguous: CuTe's `LayoutRight`.
    pub fn right(shape: impl Into<Shape>) -> Result<Self, LayoutError> {
        compact_right(&mut Numbers, &shape.into())
    }

    /// The layout that maps each coordinate of `shape` to itself: its values are coordinates, not integers.
    pub fn identity(shape: impl Into<Shape>) -> Result<Self, LayoutError> {
        identity(&mut Numbers, &shape.into())
    }
}

/// The compact layout of `shape` whose modes have strides in ascending order of the leaves of `order`. A leaf of
/// `order` may stand for a mode with several leaves; these are ordered from left to right.
/// ```
/// use cute_algebra::{Shape, make_ordered_layout};
/// let layout = make_ordered_layout(&Shape::from([2, 3, 4]), &[1, 0, 2].into())?;
/// assert_eq!(layout.to_string(), "(2,3,4):(3,1,6)");
/// # Ok::<(), cute_algebra::LayoutError>(())
/// ```
pub fn make_ordered_layout(shape: &Shape, order: &IntTuple) -> Result<Layout, LayoutError> {
    ordered(&mut Numbers, shape, order).during("make_ordered_layout", [shape, order])
}

/// The compact layout with the shape of A, its strides in the order of A's strides. A stride 0 stays 0.
/// ```
/// use cute_algebra::{Layout, make_layout_like};
/// let a: Layout = "(4,8,2):(32,1,0)".parse()?;
/// assert_eq!(make_layout_like(&a)?.to_string(), "(4,8,2):(8,1,0)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn make_layout_like(a: &Layout) -> Result<Layout, LayoutError> {
    layout_like(&mut Numbers, a)
}

/// The compact layout of a register fragment with the shape of A: the first mode is contiguous, and the others
/// follow in the order of A's strides.
/// ```
/// use cute_algebra::{Layout, make_fragment_like};
/// let a: Layout = "(4,8,2):(32,1,8)".parse()?;
/// assert_eq!(make_fragment_like(&a)?.to_string(), "(4,8,2):(1,4,32)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn make_fragment_like(a: &Layout) -> Result<Layout, LayoutError> {
    fragment_like(&mut Numbers, a)
}

pub(crate) fn compact_left<D: Domain>(
    d: &mut D,
    shape: &Tuple<D::Int>,
) -> Result<Layout<D::Int>, LayoutError> {
    compact(d, shape, 0..shape.leaf_count())
}

pub(crate) fn compact_right<D: Domain>(
    d: &mut D,
    shape: &Tuple<D::Int>,
) -> Result<Layout<D::Int>, LayoutError> {
    compact(d, shape, (0..shape.leaf_count()).rev())
}

pub(crate) fn identity<D: Domain>(
    d: &mut D,
    shape: &Tuple<D::Int>,
) -> Result<Layout<D::Int>, LayoutError> {
    d.require_shape(shape)?;
    let mut paths = shape.leaf_paths().into_iter();
    let stride = shape.map(|_| {
        let path = paths.next().unwrap_or_default();
        ScaledBasis::along(D::Int::ONE, path)
    });
    Layout::from_parts(shape.clone(), stride)
}

pub(crate) fn ordered<D: Domain>(
    d: &mut D,
    shape: &Tuple<D::Int>,
    order: &IntTuple,
) -> Result<Layout<D::Int>, LayoutError> {
    d.require_shape(shape)?;
    order.check_limits().map_err(|error| error.blame(1))?;
    let mut keys = Vec::new();
    spread_order(shape, order, &mut Vec::new(), &mut keys)?;
    let mut ranking: Vec<_> = (0..keys.len()).collect();
    ranking.sort_by_key(|&i| keys[i]);
    compact(d, shape, ranking)
}

pub(crate) fn layout_like<D: Domain>(
    d: &mut D,
    a: &Layout<D::Int>,
) -> Result<Layout<D::Int>, LayoutError> {
    a.require_integral(0)?;
    let filtered = filter_zeros_in(d, a)?;
    let ranking = order(d, &filtered)?;
    Ok(compact(d, filtered.shape(), ranking)?.reshaped(a.shape().clone()))
}

pub(crate) fn fragment_like<D: Compose>(
    d: &mut D,
    a: &Layout<D::Int>,
) -> Result<Layout<D::Int>, LayoutError> {
    a.require_integral(0)?;
    let modes = a.modes();
    let [first, rest @ ..] = &modes[..] else {
        return compact_left(d, a.shape());
    };
    if rest.is_empty() {
        return compact_left(d, a.shape());
    }
    let filtered = filter_zeros_in(d, first)?;
    let first = compact_left(d, filtered.shape())?.reshaped(first.shape().clone());
    let rest = Layout::join(rest.iter().cloned());
    let ranking = order(d, &rest)?;
    let ordered = compact(d, rest.shape(), ranking)?;
    product_by(d, &first, &ordered.into(), Form::Tiled)
}

/// Compact strides for the leaves of `shape`, where `ranking` lists the leaves from the smallest stride to the
/// largest.
fn compact<D: Domain>(
    d: &mut D,
    shape: &Tuple<D::Int>,
    ranking: impl IntoIterator<Item = usize>,
) -> Result<Layout<D::Int>, LayoutError> {
    d.require_shape(shape)?;
    let extents: Vec<_> = shape.leaves().collect();
    let mut strides = vec![D::Int::ZERO; extents.len()];
    let mut next = D::Int::ONE;
    for i in ranking {
        // CuTe gives modes of size 1 stride 0.
        if !extents[i].is_one() {
            let after = product(&next, extents[i])?;
            strides[i] = core::mem::replace(&mut next, after);
        }
    }
    let mut strides = strides.into_iter();
    let stride = shape.map(|_| strides.next().unwrap_or(D::Int::ZERO).into());
    Layout::from_parts(shape.clone(), stride)
}

fn spread_order<I: Integer>(
    shape: &Tuple<I>,
    order: &IntTuple,
    path: &mut Vec<usize>,
    keys: &mut Vec<i64>,
) -> Result<(), LayoutError> {
    match (shape, order) {
        (shape, Tuple::Leaf(key)) => keys.extend(shape.leaves().map(|_| *key)),
        (Tuple::Node(modes), Tuple::Node(orders)) if modes.len() == orders.len() => {
            for (i, (mode, order)) in modes.iter().zip(orders).enumerate() {
                path.push(i);
                spread_order(mode, order, path, keys)?;
                path.pop();
            }
        }
        _ => {
            let (expected, found) = (shape.to_string(), order.to_string());
            return Err(
                ErrorKind::Profile { expected, found }.at(Place::operand(1).mode(path.clone()))
            );
        }
    }
    Ok(())
}
