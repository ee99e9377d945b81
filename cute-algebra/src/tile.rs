//! A block repeated over a shape.

use crate::composition::{Overhang, nearest_multiples};
use crate::construct::make_ordered_layout;
use crate::error::{ErrorKind, LayoutError, Place};
use crate::layout::{Layout, checked_shape};
use crate::product::{blocked_product, pad};
use crate::tuple::{IntTuple, Shape, Tuple};

/// The block repeated until it fills `shape`, its copies compact in the order of the modes that `order` gives (left
/// to right without one). The block divides the shape mode by mode, and has a [`complement`](crate::complement_within).
/// ```
/// use cute_algebra::{Layout, Shape, tile_to_shape};
/// let atom = Layout::new([8, 64], [64, 1])?;
/// let tile = tile_to_shape(&atom, &Shape::from([128, 64]), None)?;
/// assert_eq!(tile.to_string(), "((8,16),(64,1)):((64,512),(1,0))");
/// # Ok::<(), cute_algebra::LayoutError>(())
/// ```
pub fn tile_to_shape(
    block: &Layout,
    shape: &Shape,
    order: Option<&IntTuple>,
) -> Result<Layout, LayoutError> {
    tile(block, shape, order, Overhang::Strict)
}

pub(crate) fn tile(
    block: &Layout,
    shape: &Shape,
    order: Option<&IntTuple>,
    overhang: Overhang,
) -> Result<Layout, LayoutError> {
    let operands = [
        Some(block.into()),
        Some(shape.into()),
        order.map(Into::into),
    ];
    copies(block, shape, overhang)
        .and_then(|copies| {
            let order = order
                .cloned()
                .unwrap_or_else(|| (0..copies.rank() as i64).map(Tuple::Leaf).collect());
            let grid =
                make_ordered_layout(&copies, &order).map_err(|error| error.inside(2, &[]))?;
            blocked_product(&pad(block, shape.rank()), &grid)
        })
        .map_err(|error| error.during("tile_to_shape", operands.into_iter().flatten()))
}

/// How many blocks fit along each mode of the shape.
fn copies(block: &Layout, shape: &Shape, overhang: Overhang) -> Result<Shape, LayoutError> {
    let shape = checked_shape(shape.clone()).map_err(|error| error.inside(1, &[]))?;
    if block.rank() > shape.rank() {
        let (expected, found) = (block.shape().to_string(), shape.to_string());
        return Err(ErrorKind::Profile { expected, found }.at(Place::operand(1)));
    }
    let blocks = pad(block, shape.rank());
    let extents =
        shape
            .modes()
            .iter()
            .zip(blocks.modes())
            .enumerate()
            .map(|(i, (target, block))| {
                let (target, block) = (target.product().unwrap_or(i64::MAX), block.size());
                if target % block != 0 && overhang == Overhang::Strict {
                    let nearest = nearest_multiples(target, block);
                    return Err(ErrorKind::Target {
                        block,
                        target,
                        nearest,
                    }
                    .at(Place::operand(1).mode([i]).shape()));
                }
                Ok(Tuple::Leaf((target - 1) / block + 1))
            });
    let extents = extents.collect::<Result<Vec<_>, _>>()?;
    Ok(match shape {
        Tuple::Leaf(_) => extents.into_iter().next().unwrap_or(Tuple::Leaf(1)),
        Tuple::Node(_) => Tuple::Node(extents),
    })
}
