//! Fixing some coordinates and keeping others.

use crate::error::{During, ErrorKind, LayoutError, ModePath, Place};
use crate::layout::Layout;
use crate::tuple::{Coord, IntTuple, Tuple};

/// The modes where `coord` has `_`.
/// ```
/// use cute_algebra::{Coord, Layout, slice};
/// let a = Layout::new([4, 8], [8, 1])?;
/// assert_eq!(slice(&a, &Coord::from([Some(2), None]))?.to_string(), "(8):(1)");
/// # Ok::<(), cute_algebra::LayoutError>(())
/// ```
pub fn slice(a: &Layout, coord: &Coord) -> Result<Layout, LayoutError> {
    pick(a, coord, true).during("slice", [a, coord])
}

/// The modes where `coord` has an integer. The coordinate nests as the shape does, or is cut short.
/// ```
/// use cute_algebra::{Coord, Layout, dice};
/// let (a, coord) = (Layout::new([4, 8], [8, 1])?, Coord::from([Some(2), None]));
/// assert_eq!(dice(&a, &coord)?.to_string(), "(4):(8)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn dice(a: &Layout, coord: &Coord) -> Result<Layout, LayoutError> {
    pick(a, coord, false).during("dice", [a, coord])
}

/// The slice, and the value of A where `_` is 0: `A(c) = slice(c) + offset` for every c that agrees with `coord`.
///
/// A coordinate that does not fit A's shape is refused; past the end of a mode the offset goes on, as in
/// [`Layout::crd2idx`].
/// ```
/// use cute_algebra::{Coord, Layout, slice_and_offset};
/// let (a, coord) = (Layout::new([4, 8], [8, 1])?, Coord::from([Some(2), None]));
/// let (slice, offset) = slice_and_offset(&a, &coord)?;
/// assert_eq!((slice.to_string(), offset), ("(8):(1)".to_owned(), 16.into()));
/// assert_eq!(slice_and_offset(&a, &Coord::from([Some(5), None]))?.1, 40.into());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn slice_and_offset(a: &Layout, coord: &Coord) -> Result<(Layout, IntTuple), LayoutError> {
    let layout = slice(a, coord)?;
    let offset = a.crd2idx(&coord.map(|index| Some(index.unwrap_or(0))))?;
    Ok((layout, offset))
}

fn pick(a: &Layout, coord: &Coord, keep: bool) -> Result<Layout, LayoutError> {
    coord.check_limits().map_err(|error| error.blame(1))?;
    if coord == &Tuple::Leaf(None) && keep {
        return Ok(a.clone());
    }
    let mut picked = Vec::new();
    collect(a, coord, keep, &ModePath::default(), &mut picked)?;
    Layout::concat(picked)
}

/// The modes whose leaf of `coord` is `_` (`keep`) or an integer (not `keep`), in one flat list.
fn collect(
    a: &Layout,
    coord: &Coord,
    keep: bool,
    path: &ModePath,
    picked: &mut Vec<Layout>,
) -> Result<(), LayoutError> {
    let Tuple::Node(coords) = coord else {
        if (coord == &Tuple::Leaf(None)) == keep {
            picked.push(a.clone());
        }
        return Ok(());
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
