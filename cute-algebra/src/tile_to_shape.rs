//! A block repeated until it fills a shape.

use crate::composition::Compose;
use crate::construct::ordered;
use crate::domain::{Numbers, Question, overflow, quotient};
use crate::error::{During, ErrorKind, LayoutError, Place};
use crate::integer::Integer;
use crate::layout::Layout;
use crate::overhang::{Overhang, nearest_multiples};
use crate::product::{Order, pad, ranked_product};
use crate::tuple::{IntTuple, Shape, Tuple};
use alloc::string::ToString;
use alloc::vec::Vec;

/// The block repeated until it fills `shape`. `order` is the order in which the copies fill the modes; the default is
/// left to right. Each mode of the block must divide its mode of the shape. The copies are placed as in a
/// [product](crate::blocked_product), so a padded block is repeated with its padding.
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
    tile(&mut Numbers, block, shape, order, Overhang::Strict)
}

pub(crate) fn tile<D: Compose>(
    d: &mut D,
    block: &Layout<D::Int>,
    shape: &Tuple<D::Int>,
    order: Option<&IntTuple>,
    overhang: Overhang,
) -> Result<Layout<D::Int>, LayoutError> {
    let tiled = copies(d, block, shape, overhang).and_then(|copies| {
        let by_mode = || (0..copies.rank() as i64).map(Tuple::Leaf).collect();
        let order = order.cloned().unwrap_or_else(by_mode);
        let grid = ordered(d, &copies, &order)
            .during("make_ordered_layout", [&copies, &order])
            .map_err(|error| error.inside(2, &[]))?;
        let block = pad(block, shape.rank());
        ranked_product(d, &block, &grid, Order::Blocked).during("blocked_product", [&block, &grid])
    });
    match order {
        None => tiled.during("tile_to_shape", [block, shape]),
        Some(order) => tiled.during("tile_to_shape", [block, shape, order]),
    }
}

/// The number of blocks along each mode of the shape.
fn copies<D: Compose>(
    d: &mut D,
    block: &Layout<D::Int>,
    shape: &Tuple<D::Int>,
    overhang: Overhang,
) -> Result<Tuple<D::Int>, LayoutError> {
    d.require_shape(shape)
        .map_err(|error| error.inside(1, &[]))?;
    if block.rank() > shape.rank() {
        let (expected, found) = (block.shape().to_string(), shape.to_string());
        return Err(ErrorKind::Profile { expected, found }.at(Place::operand(1)));
    }
    let blocks = pad(block, shape.rank());
    let mut copies = Vec::new();
    for (i, (target, block)) in shape.modes().iter().zip(blocks.modes()).enumerate() {
        let place = Place::operand(1).mode([i]).shape();
        let target = target.product().ok_or_else(overflow)?;
        let block = block.shape().product().ok_or_else(overflow)?;
        copies.push(Tuple::Leaf(match overhang {
            Overhang::Ragged => d.ceiling(&target, &block, &place)?,
            Overhang::Strict => {
                let refusal = || {
                    let (block, target) = (block.as_constant()?, target.as_constant()?);
                    let nearest = nearest_multiples(target, block);
                    Some(ErrorKind::Target {
                        block,
                        target,
                        nearest,
                    })
                };
                d.require(Question::Divides(&block, &target), &place, &refusal)?;
                quotient(&target, &block)?
            }
        }));
    }
    Ok(match shape {
        Tuple::Leaf(_) => copies.remove(0),
        Tuple::Node(_) => Tuple::Node(copies),
    })
}
