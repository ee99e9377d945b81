//! Layouts from shapes and from the order of other layouts.

use crate::coalesce::filter_zeros;
use crate::error::{During, ErrorKind, LayoutError, Place};
use crate::layout::{Layout, checked_shape, compact_stride};
use crate::product::tiled_product;
use crate::stride::{ScaledBasis, Stride};
use crate::tuple::{IntTuple, Shape, Tuple};

/// The compact layout of `shape` whose modes run in ascending order of the leaves of `order`; the leaves of a mode
/// that `order` does not take apart run from left to right. The order nests as the shape does, or is cut short.
/// ```
/// use cute_algebra::{Shape, make_ordered_layout};
/// let layout = make_ordered_layout(&Shape::from([2, 3, 4]), &[1, 0, 2].into())?;
/// assert_eq!(layout.to_string(), "(2,3,4):(3,1,6)");
/// # Ok::<(), cute_algebra::LayoutError>(())
/// ```
pub fn make_ordered_layout(shape: &Shape, order: &IntTuple) -> Result<Layout, LayoutError> {
    let shape = checked_shape(shape.clone())?;
    let ranking = ranked_by(&shape, order).during("make_ordered_layout", [&shape, order])?;
    compact(shape, ranking)
}

/// The leaves of a shape in the order of its modes, the first one fastest.
pub(crate) fn ranked_by(shape: &Shape, order: &IntTuple) -> Result<Vec<usize>, LayoutError> {
    order.check_limits().map_err(|error| error.blame(1))?;
    let mut keys = Vec::new();
    spread_order(shape, order, &mut Vec::new(), &mut keys)?;
    Ok(ranked(&keys))
}

fn ranked(keys: &[i64]) -> Vec<usize> {
    let mut ranking: Vec<_> = (0..keys.len()).collect();
    ranking.sort_by_key(|&i| keys[i]);
    ranking
}

/// The compact layout with the shape of A and its order of strides; modes with stride 0 keep it.
/// ```
/// use cute_algebra::{Layout, make_layout_like};
/// let a: Layout = "(4,8,2):(32,1,0)".parse()?;
/// assert_eq!(make_layout_like(&a)?.to_string(), "(4,8,2):(8,1,0)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn make_layout_like(a: &Layout) -> Result<Layout, LayoutError> {
    a.require_integral(0)?;
    let filtered = filter_zeros(a);
    let compacted = compact(filtered.shape().clone(), ranked(&stride_values(&filtered)))?;
    Ok(compacted.with_shape(a.shape().clone()))
}

/// The compact layout of a register fragment with the shape of A: the first mode contiguous, the others in A's order.
/// ```
/// use cute_algebra::{Layout, make_fragment_like};
/// let a: Layout = "(4,8,2):(32,1,8)".parse()?;
/// assert_eq!(make_fragment_like(&a)?.to_string(), "(4,8,2):(1,4,32)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn make_fragment_like(a: &Layout) -> Result<Layout, LayoutError> {
    a.require_integral(0)?;
    let [first, rest @ ..] = &a.modes()[..] else {
        return Layout::left(a.shape().clone());
    };
    if rest.is_empty() {
        return Layout::left(a.shape().clone());
    }
    let first = make_layout_like_left(first)?;
    let rest = Layout::join(rest.iter().cloned());
    let ordered = compact(rest.shape().clone(), ranked(&stride_values(&rest)))?;
    tiled_product(&first, &ordered.into())
}

fn make_layout_like_left(a: &Layout) -> Result<Layout, LayoutError> {
    let compacted = Layout::left(filter_zeros(a).shape().clone())?;
    Ok(compacted.with_shape(a.shape().clone()))
}

fn stride_values(a: &Layout) -> Vec<i64> {
    a.stride().leaves().map(ScaledBasis::value).collect()
}

/// Compact strides for the leaves of `shape` in that order, the first one fastest.
fn compact(shape: Shape, ranking: Vec<usize>) -> Result<Layout, LayoutError> {
    let extents: Vec<_> = shape.leaves().copied().collect();
    let mut strides = vec![ScaledBasis::from(0); extents.len()];
    let mut next = 1;
    for i in ranking {
        strides[i] = compact_stride(extents[i], &mut next);
    }
    let mut strides = strides.into_iter();
    let stride: Stride = shape.map(|_| strides.next().unwrap_or_else(|| 0.into()));
    Layout::new(shape, stride)
}

fn spread_order(
    shape: &Shape,
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
