//! Complements of swizzled tiles, with which layouts are divided.

use crate::coalesce::filter;
use crate::complement::{complement_in, holes};
use crate::composed::ComposedLayout;
use crate::domain::{Numbers, overflow};
use crate::error::{ErrorKind, LayoutError, Place};
use crate::layout::Layout;
use crate::overhang::Overhang;
use crate::swizzle::Swizzle;
use crate::swizzled_product::leaves_alone;
use alloc::format;
use alloc::string::{String, ToString};

/// The complement of a swizzled tile in `size`, or in the smallest size that has one. It is the complement of the layout underneath, if
/// the swizzle permutes the numbers below the size and leaves the values of the complement alone.
pub(crate) fn complement_of_swizzled(
    tile: &ComposedLayout,
    size: Option<i64>,
    overhang: Overhang,
) -> Result<Layout, LayoutError> {
    tile_and_rest(tile, size, overhang).map(|(_, rest)| rest)
}

/// `(tile, rest)` as one swizzled layout, with the values below `size`, each as often as in `(tile, rest)` without the swizzle.
pub(crate) fn with_rest(tile: &ComposedLayout, size: i64) -> Result<ComposedLayout, LayoutError> {
    let (swizzle, rest) = tile_and_rest(tile, Some(size), Overhang::Strict)?;
    let both = Layout::concat([tile.layout().clone(), rest])?;
    ComposedLayout::new(swizzle, 0, both)
}

/// A swizzle that acts on the tile in `(tile, rest)` as the tile's own swizzle does, and the rest.
fn tile_and_rest(
    tile: &ComposedLayout,
    size: Option<i64>,
    overhang: Overhang,
) -> Result<(Swizzle, Layout), LayoutError> {
    let rest = match size {
        Some(size) => complement_in(&mut Numbers, tile.layout(), &size, overhang)?.0,
        None => holes(&mut Numbers, tile.layout())?,
    };
    let size = filter(tile.layout()).size().checked_mul(rest.size());
    let size = size.ok_or_else(overflow)?;
    let swizzle = tile.read_part();
    let refused = |because: String| {
        let kind = ErrorKind::SwizzledTile {
            swizzle: tile.swizzle().to_string(),
            rest: rest.to_string(),
            because,
        };
        kind.at(Place::operand(0))
    };
    if tile.offset() != 0 {
        let because = format!("the tile begins at {}", tile.offset());
        return Err(refused(because));
    }
    if !swizzle.keeps(size, size) {
        let because = format!("the swizzle moves numbers below {size} to larger ones");
        return Err(refused(because));
    }
    let [tile, gaps] =
        [tile.layout(), &rest].map(|layout| ComposedLayout::try_from(layout.clone()));
    match leaves_alone(swizzle, &gaps?, &tile?) {
        true => Ok((swizzle, rest)),
        false => Err(refused(
            "the swizzle reads or changes bits of the rest".into(),
        )),
    }
}
