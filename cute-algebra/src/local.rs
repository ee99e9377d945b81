//! The part of a tensor for one CTA or one thread: CuTe's `local_tile` and `local_partition`.

use crate::composition::Compose;
use crate::coordinate::{cosize_in, crd2crd_in, idx2crd_stride_in};
use crate::divide::{Form, divide};
use crate::domain::{Domain, Numbers, Sum, overflow};
use crate::error::{During, LayoutError, Place};
use crate::integer::{Integer, Leaf};
use crate::layout::Layout;
use crate::overhang::Overhang;
use crate::slice::slice_in;
use crate::tiler::Tiler;
use crate::tuple::{Coord, IntTuple, Tuple};
use alloc::vec;
use alloc::vec::Vec;

/// One tile of a layout, and the value of the layout at the start of the tile. The coordinate counts the tiles in each
/// mode. Where it has `_` or ends early, all tiles of the mode are kept as further modes of the result.
///
/// The conditions are those of [`zipped_divide`](crate::zipped_divide). A coordinate that is below 0 or not below the number
/// of tiles of its mode is refused.
/// ```
/// use cute_algebra::{Layout, local_tile};
/// let a = Layout::right([128, 64])?;
/// let (tile, offset) = local_tile(&a, &"<32,16>".parse()?, &"(1,_)".parse()?)?;
/// assert_eq!((tile.to_string(), offset), ("(32,16,4):(64,1,16)".to_owned(), 2048.into()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn local_tile(
    a: &Layout,
    tiler: &Tiler,
    coord: &Coord,
) -> Result<(Layout, IntTuple), LayoutError> {
    let d = &mut Numbers;
    let tiles = tiles_in(d, a, tiler, Overhang::Strict)?;
    slice_in(d, &tiles, &tile_coordinate(&tiles, coord)).map_err(|error| in_tiles(error, coord))
}

/// The part of a layout for thread `index`, and the value of the layout at its start. The threads are repeated over the
/// layout, each with one element at a time.
///
/// Refused where the shape of the threads does not divide the shape of the layout, where the threads are not compact, and
/// where there is no thread `index`.
/// ```
/// use cute_algebra::{Layout, local_partition};
/// let (a, threads) = (Layout::right([16, 32])?, Layout::right([4, 8])?);
/// let (mine, offset) = local_partition(&a, &threads, 9)?;
/// assert_eq!((mine.to_string(), offset), ("(4,4):(128,8)".to_owned(), 33.into()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn local_partition(
    a: &Layout,
    threads: &Layout,
    index: i64,
) -> Result<(Layout, IntTuple), LayoutError> {
    let d = &mut Numbers;
    let tiler = thread_tiler(d, threads)?;
    let tiles = tiles_in(d, a, &tiler, Overhang::Strict)?;
    let coord = thread_coordinate(d, &tiles, threads, &index)?;
    slice_in(d, &tiles, &coord).map_err(|error| error.blame(1))
}

/// The layout divided into `((tile, …), (rest, …))`.
pub(crate) fn tiles_in<D: Compose>(
    d: &mut D,
    a: &Layout<D::Int>,
    tiler: &Tiler<D::Int>,
    overhang: Overhang,
) -> Result<Layout<D::Int>, LayoutError> {
    divide(d, a, tiler, Form::Zipped, overhang)
}

/// The coordinate in the divided layout: `_` for each mode of the tile, and `coord` for the rest, with `_` for its missing
/// modes.
pub(crate) fn tile_coordinate<I: Integer>(
    tiles: &Layout<I>,
    coord: &Tuple<Option<I::Sum>>,
) -> Tuple<Option<I::Sum>> {
    let part = |mode: usize| tiles.shape().modes().get(mode);
    let tile = part(0).map_or(Tuple::Leaf(None), all_of);
    let rest = match part(1) {
        Some(rest) if !rest.is_leaf() => {
            let given = match coord {
                Tuple::Node(coords) => coords.clone(),
                leaf => vec![leaf.clone()],
            };
            let missing = rest.rank().saturating_sub(given.len());
            given
                .into_iter()
                .chain((0..missing).map(|_| Tuple::Leaf(None)))
                .collect()
        }
        _ => coord.clone(),
    };
    Tuple::Node(vec![tile, rest])
}

/// Turns an error of the slice at [`tile_coordinate`] into an error about operand 2, `coord`.
pub(crate) fn in_tiles<T: Leaf>(error: LayoutError, coord: &Tuple<Option<T>>) -> LayoutError {
    let path = error.place().path.0.get(1..).unwrap_or_default();
    match coord {
        Tuple::Leaf(_) => error.blame(2),
        Tuple::Node(_) => {
            let place = Place::operand(2).mode(path);
            error.relocate(|_| place)
        }
    }
}

/// The tiler with one extent for each mode of the threads.
pub(crate) fn thread_tiler<D: Domain>(
    d: &mut D,
    threads: &Layout<D::Int>,
) -> Result<Tiler<D::Int>, LayoutError> {
    let extents = sizes::<D>(threads)?.map(|extent| Some(extent.clone()));
    Tiler::of_coord(d, &extents).map_err(|error| error.blame(1))
}

/// The coordinate in the divided layout: thread `index` in the tile, mode by mode, and `_` for each mode of the rest.
pub(crate) fn thread_coordinate<D: Domain>(
    d: &mut D,
    tiles: &Layout<D::Int>,
    threads: &Layout<D::Int>,
    index: &Sum<D>,
) -> Result<Tuple<Option<Sum<D>>>, LayoutError> {
    let count = cosize_in(d, threads).map_err(|error| error.blame(1))?;
    let count = d.integer(&count).map_err(|error| error.blame(1))?;
    d.require_index("thread", index, &count, &Place::operand(2))?;
    let natural = idx2crd_stride_in(d, index, threads, Overhang::Ragged).map_err(|error| {
        match error.place().operand {
            0 => error.blame(2),
            _ => error.blame(1),
        }
    })?;
    let natural = match natural {
        leaf @ Tuple::Leaf(_) => Tuple::Node(vec![leaf]),
        node => node,
    };
    let shape: Tuple<_> = threads.shape().modes().iter().cloned().collect();
    let flat = crd2crd_in(d, &natural, &shape, &sizes::<D>(threads)?, Overhang::Ragged)
        .map_err(|error| error.blame(2))
        .during("local_partition", [threads, index])?;
    let rest = tiles
        .shape()
        .modes()
        .get(1)
        .map_or(Tuple::Leaf(None), all_of);
    Ok(Tuple::Node(vec![flat.to_coord(), rest]))
}

/// `_` for each mode of a shape.
fn all_of<I: Integer>(shape: &Tuple<I>) -> Tuple<Option<I::Sum>> {
    match shape {
        Tuple::Leaf(_) => Tuple::Leaf(None),
        Tuple::Node(modes) => modes.iter().map(|_| Tuple::Leaf(None)).collect(),
    }
}

/// The size of each mode.
fn sizes<D: Domain>(layout: &Layout<D::Int>) -> Result<Tuple<D::Int>, LayoutError> {
    let modes = layout.shape().modes().iter();
    let sizes = modes.map(|mode| mode.product().map(Tuple::Leaf).ok_or_else(overflow));
    sizes.collect::<Result<Vec<_>, _>>().map(Tuple::Node)
}
