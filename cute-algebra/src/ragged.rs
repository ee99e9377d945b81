//! The forms of operations that round up where the strict forms refuse, as CuTe does. Tiles may extend past the
//! edge of the tiled layout, and the last mode of a layout continues past its end.
//!
//! The size is not preserved, and a kernel needs a predicate for coordinates past the edge.
//! ```
//! use cute_algebra::{Layout, logical_divide, ragged};
//! let (a, tile) = (Layout::new(10, 1)?, Layout::new(4, 1)?);
//! assert!(logical_divide(&a, &tile.clone().into()).is_err());
//! assert_eq!(ragged::logical_divide(&a, &tile.into())?.to_string(), "(4,3):(1,4)");
//! # Ok::<(), cute_algebra::LayoutError>(())
//! ```

use crate::complement::complement_in;
use crate::composition::compose_by;
use crate::coordinate::{crd2idx_in, idx2crd_in};
use crate::divide::{Form, divide};
use crate::domain::Numbers;
use crate::error::{During, LayoutError};
use crate::from_table::admitting;
use crate::layout::Layout;
use crate::overhang::Overhang;
use crate::recast::upcast_in;
use crate::tile_to_shape::tile;
use crate::tiler::Tiler;
use crate::tuple::{Coord, IntTuple, Shape};

/// The value at a coordinate. Past its end, the last leaf of a mode continues. A coordinate below 0 has a value where its
/// mode coalesces to a single leaf; otherwise it is refused.
/// ```
/// use cute_algebra::{Coord, Layout, ragged};
/// let a: Layout = "(4,(2,4)):(8,(1,2))".parse()?;
/// assert_eq!(ragged::crd2idx(&a, &Coord::from([Some(4), Some(9)]))?.to_string(), "41");
/// assert_eq!(ragged::crd2idx(&a, &Coord::from([Some(-1), Some(-3)]))?.to_string(), "-11");
/// assert!(ragged::crd2idx(&a, &Coord::Leaf(Some(-1))).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn crd2idx(a: &Layout, coord: &Coord) -> Result<IntTuple, LayoutError> {
    crd2idx_in(&mut Numbers, coord, a, Overhang::Ragged).during("crd2idx", [coord, a])
}

/// The natural coordinate in a shape, whose last mode continues past its end. An integer below 0 is refused where it would be
/// divided among several modes.
/// ```
/// use cute_algebra::{Shape, ragged};
/// assert_eq!(ragged::idx2crd(&72.into(), &Shape::from([6, 12]))?.to_string(), "(0,12)");
/// # Ok::<(), cute_algebra::LayoutError>(())
/// ```
pub fn idx2crd(coord: &IntTuple, shape: &Shape) -> Result<IntTuple, LayoutError> {
    idx2crd_in(&mut Numbers, coord, shape, Overhang::Ragged).during("idx2crd", [coord, shape])
}

/// `A(B(c))`, where the last mode of A continues past its end.
/// ```
/// use cute_algebra::{Layout, ragged};
/// let a: Layout = "(4,3):(1,8)".parse()?;
/// assert_eq!(ragged::composition(&a, &"(4,4):(1,4)".parse()?)?.to_string(), "(4,4):(1,8)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn composition(a: &Layout, tiler: &Tiler) -> Result<Layout, LayoutError> {
    compose_by(&mut Numbers, a, tiler, Overhang::Ragged).during("composition", [a, tiler])
}

/// The complement in the smallest target of at least `target` that has one.
/// ```
/// use cute_algebra::{Layout, ragged};
/// let a: Layout = "4:1".parse()?;
/// assert_eq!(ragged::complement(&a, 6)?.to_string(), "2:4");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn complement(a: &Layout, target: i64) -> Result<Layout, LayoutError> {
    let complement = complement_in(&mut Numbers, a, &target, Overhang::Ragged);
    let (rest, _) = complement.during("complement", [a, &target])?;
    Ok(rest)
}

/// `((tile, rest), …)`, with the number of tiles rounded up.
/// ```
/// use cute_algebra::{Layout, ragged};
/// let a: Layout = "10:1".parse()?;
/// assert_eq!(ragged::logical_divide(&a, &"4:1".parse()?)?.to_string(), "(4,3):(1,4)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn logical_divide(a: &Layout, tiler: &Tiler) -> Result<Layout, LayoutError> {
    divide(&mut Numbers, a, tiler, Form::Logical, Overhang::Ragged)
}

/// `((tile, …), (rest, …))`, with the number of tiles rounded up.
/// ```
/// use cute_algebra::{Layout, ragged};
/// let a: Layout = "(10,8):(1,10)".parse()?;
/// assert_eq!(ragged::zipped_divide(&a, &"<4,4>".parse()?)?.to_string(), "((4,4),(3,2)):((1,10),(4,40))");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn zipped_divide(a: &Layout, tiler: &Tiler) -> Result<Layout, LayoutError> {
    divide(&mut Numbers, a, tiler, Form::Zipped, Overhang::Ragged)
}

/// `((tile, …), rest, …)`, with the number of tiles rounded up.
/// ```
/// use cute_algebra::{Layout, ragged};
/// let a: Layout = "(10,8):(1,10)".parse()?;
/// assert_eq!(ragged::tiled_divide(&a, &"<4,4>".parse()?)?.to_string(), "((4,4),3,2):((1,10),4,40)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn tiled_divide(a: &Layout, tiler: &Tiler) -> Result<Layout, LayoutError> {
    divide(&mut Numbers, a, tiler, Form::Tiled, Overhang::Ragged)
}

/// `(tile, …, rest, …)`, with the number of tiles rounded up.
/// ```
/// use cute_algebra::{Layout, ragged};
/// let a: Layout = "(10,8):(1,10)".parse()?;
/// assert_eq!(ragged::flat_divide(&a, &"<4,4>".parse()?)?.to_string(), "(4,4,3,2):(1,10,4,40)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn flat_divide(a: &Layout, tiler: &Tiler) -> Result<Layout, LayoutError> {
    divide(&mut Numbers, a, tiler, Form::Flat, Overhang::Ragged)
}

/// The block repeated until its copies cover the shape.
/// ```
/// use cute_algebra::{Layout, Shape, ragged};
/// let block: Layout = "(4,2):(1,4)".parse()?;
/// assert_eq!(ragged::tile_to_shape(&block, &Shape::from([6, 4]), None)?.to_string(), "((4,2),(2,2)):((1,8),(4,16))");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn tile_to_shape(
    block: &Layout,
    shape: &Shape,
    order: Option<&IntTuple>,
) -> Result<Layout, LayoutError> {
    tile(&mut Numbers, block, shape, order, Overhang::Ragged)
}

/// The coalesced layout, with as few coordinates as possible, whose first values are these.
/// ```
/// use cute_algebra::ragged;
/// assert_eq!(ragged::from_table(&[0, 1, 10, 11, 20])?.to_string(), "(2,3):(1,10)");
/// # Ok::<(), cute_algebra::LayoutError>(())
/// ```
pub fn from_table(values: &[i64]) -> Result<Layout, LayoutError> {
    admitting(values, Overhang::Ragged)
}

/// The layout in units of `factor` elements; the elements of a unit need not all be present.
/// ```
/// use cute_algebra::{Layout, ragged};
/// let a: Layout = "(2,8):(1,4)".parse()?;
/// assert_eq!(ragged::upcast(&a, 4)?.to_string(), "(1,8):(1,1)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn upcast(a: &Layout, factor: i64) -> Result<Layout, LayoutError> {
    upcast_in(&mut Numbers, a, &factor, Overhang::Ragged).during("upcast", [a, &factor])
}
