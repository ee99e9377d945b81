//! Slices: some coordinates are fixed, and the others are kept.

use crate::coordinate::{crd2idx_in, require_inside, split};
use crate::domain::{Domain, Numbers, Sum, overflow};
use crate::error::{During, ErrorKind, LayoutError, ModePath, Place};
use crate::integer::{Integer, Leaf, Source};
use crate::layout::Layout;
use crate::overhang::Overhang;
use crate::tuple::{Coord, IntTuple, Tuple};
use alloc::string::ToString;
use alloc::vec::Vec;

/// The modes for which `coord` has `_`.
/// ```
/// use cute_algebra::{Coord, Layout, slice};
/// let a = Layout::new([4, 8], [8, 1])?;
/// assert_eq!(slice(&a, &Coord::from([Some(2), None]))?.to_string(), "(8):(1)");
/// # Ok::<(), cute_algebra::LayoutError>(())
/// ```
pub fn slice(a: &Layout, coord: &Coord) -> Result<Layout, LayoutError> {
    pick(&mut Numbers, a, coord, true).during("slice", [a, coord])
}

/// The modes for which `coord` has an integer. The coordinate nests as the shape does; an integer or `_` may stand
/// for a whole subtree.
/// ```
/// use cute_algebra::{Coord, Layout, dice};
/// let (a, coord) = (Layout::new([4, 8], [8, 1])?, Coord::from([Some(2), None]));
/// assert_eq!(dice(&a, &coord)?.to_string(), "(4):(8)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn dice(a: &Layout, coord: &Coord) -> Result<Layout, LayoutError> {
    pick(&mut Numbers, a, coord, false).during("dice", [a, coord])
}

/// The slice, and the value of A at `coord` with 0 for each `_`: `A(c) = slice(c) + offset` for every c that agrees
/// with `coord`.
///
/// Refused for a coordinate that does not nest as A's shape does, or is outside of its mode.
/// ```
/// use cute_algebra::{Coord, Layout, slice_and_offset};
/// let (a, coord) = (Layout::new([4, 8], [8, 1])?, Coord::from([Some(2), None]));
/// let (slice, offset) = slice_and_offset(&a, &coord)?;
/// assert_eq!((slice.to_string(), offset), ("(8):(1)".to_owned(), 16.into()));
/// assert!(slice_and_offset(&a, &Coord::from([Some(5), None])).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn slice_and_offset(a: &Layout, coord: &Coord) -> Result<(Layout, IntTuple), LayoutError> {
    slice_in(&mut Numbers, a, coord)
}

/// A slice and its offset.
type Sliced<D> = (Layout<<D as Domain>::Int>, Tuple<Sum<D>>);

pub(crate) fn slice_in<D: Domain>(
    d: &mut D,
    a: &Layout<D::Int>,
    coord: &Tuple<Option<Sum<D>>>,
) -> Result<Sliced<D>, LayoutError> {
    let sliced = pick(d, a, coord, true).during("slice", [a, coord])?;
    let origin = coord.map(|index| index.clone().unwrap_or_else(|| 0.into()));
    let sliced = move_bounds(d, a, sliced, &origin)?;
    let offset = crd2idx_in(d, &origin.to_coord(), a, Overhang::Strict)
        .map_err(|error| error.inside(1, &[]))
        .during("slice_and_offset", [a, coord])?;
    Ok((sliced, offset))
}

/// The modes for which `coord` has `_` (`keep`) or an integer (not `keep`), in one flat list. Its integers are inside of
/// their modes.
pub(crate) fn pick<D: Domain>(
    d: &mut D,
    a: &Layout<D::Int>,
    coord: &Tuple<Option<Sum<D>>>,
    keep: bool,
) -> Result<Layout<D::Int>, LayoutError> {
    coord.check_limits().map_err(|error| error.blame(1))?;
    require_inside(d, coord, a.shape(), &ModePath::default())
        .map_err(|error| error.inside(1, &[]))?;
    if matches!(coord, Tuple::Leaf(None)) && keep {
        return Ok(a.clone());
    }
    let mut picked = Vec::new();
    collect(a, coord, keep, &ModePath::default(), &mut picked)?;
    Layout::concat(picked)
}

fn collect<I: Integer, T: Leaf>(
    a: &Layout<I>,
    coord: &Tuple<Option<T>>,
    keep: bool,
    path: &ModePath,
    picked: &mut Vec<Layout<I>>,
) -> Result<(), LayoutError> {
    let coords = match coord {
        Tuple::Leaf(leaf) => {
            if leaf.is_none() == keep {
                picked.push(a.clone());
            }
            return Ok(());
        }
        Tuple::Node(coords) => coords,
    };
    if a.shape().is_leaf() || a.rank() != coords.len() {
        let (expected, found) = (a.shape().to_string(), coord.to_string());
        return Err(
            ErrorKind::Profile { expected, found }.at(Place::operand(1).mode(path.0.clone()))
        );
    }
    let modes = a.modes().into_iter().zip(coords).enumerate();
    modes
        .into_iter()
        .try_for_each(|(i, (mode, coord))| collect(&mode, coord, keep, &path.child(i), picked))
}

/// The slice of the result of a ragged division. The fixed coordinates have already moved by some distance towards
/// the edge, so each bound of the slice is lowered by that distance.
fn move_bounds<D: Domain>(
    d: &mut D,
    whole: &Layout<D::Int>,
    sliced: Layout<D::Int>,
    origin: &Tuple<Sum<D>>,
) -> Result<Layout<D::Int>, LayoutError> {
    let mut moved: Vec<(usize, usize)> = Vec::new();
    let sources = |layout: &Layout<D::Int>| -> Vec<usize> {
        let sources = layout.stride().leaves().flat_map(|stride| stride.sources());
        sources.map(|source| source.bound).collect()
    };
    let mut bounds = sources(whole);
    if bounds.is_empty() {
        return Ok(sliced);
    }
    bounds.sort_unstable();
    bounds.dedup();
    let digits = split(d, whole.shape(), origin, &ModePath::default())
        .map_err(|error| error.inside(1, &[]))?;
    for bound in bounds {
        let mut position: Sum<D> = 0.into();
        for (stride, digit) in whole.stride().leaves().zip(digits.leaves()) {
            for source in stride
                .sources()
                .iter()
                .filter(|source| source.bound == bound)
            {
                let step = source.stride.clone().into();
                let part = D::Int::multiply(digit, &step).ok_or_else(overflow)?;
                position = D::Int::plus(&position, &part).ok_or_else(overflow)?;
            }
        }
        if position != 0.into() {
            moved.push((bound, d.closer(bound, &position)?));
        }
    }
    let closer = |source: &Source<D::Int>| {
        let moved = moved.iter().find(|(bound, _)| *bound == source.bound);
        Source {
            bound: moved.map_or(source.bound, |(_, closer)| *closer),
            stride: source.stride.clone(),
        }
    };
    let leaves = sliced.leaves().map(|(extent, stride)| {
        let sources: Vec<_> = stride.sources().iter().map(closer).collect();
        Layout::leaf(extent.clone(), stride.clone().with_sources(sources))
    });
    Layout::replace_leaves(sliced.shape(), leaves.collect())
}
