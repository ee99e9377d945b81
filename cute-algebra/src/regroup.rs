//! Selecting, grouping, flattening and appending modes. Remaining modes keep their strides.

use crate::error::{During, ErrorKind, LayoutError, Place};
use crate::integer::Integer;
use crate::layout::Layout;
use crate::tuple::{Shape, Tuple};
use alloc::format;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;

/// The mode at `path`, as CuTe's `get<0,1>(a)`. A path that leads to no mode is refused.
/// ```
/// use cute_algebra::{Layout, get};
/// let a: Layout = "(2,(3,5),7):(1,(2,6),30)".parse()?;
/// assert_eq!(get(&a, &[1, 0])?.to_string(), "3:2");
/// assert!(get(&a, &[3]).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn get<I: Integer>(a: &Layout<I>, path: &[i64]) -> Result<Layout<I>, LayoutError> {
    let step = |mode: Layout<I>, (depth, &index): (usize, &i64)| {
        let found = usize::try_from(index)
            .ok()
            .and_then(|index| mode.mode(index));
        found.ok_or_else(|| {
            ErrorKind::NoMode {
                index,
                rank: mode.rank(),
            }
            .at(Place::operand(depth + 1))
        })
    };
    let operands = || {
        [a.to_string()]
            .into_iter()
            .chain(path.iter().map(i64::to_string))
    };
    path.iter()
        .enumerate()
        .try_fold(a.clone(), step)
        .map_err(|error| error.during("get", operands()))
}

/// The element of a tuple at a path, as CuTe's `get<0,1>(x)`. Element 0 of an integer is the integer itself.
pub(crate) fn element<T: Clone>(tuple: &Tuple<T>, path: &[i64]) -> Result<Tuple<T>, LayoutError> {
    let step = |at: &Tuple<T>, (depth, &index): (usize, &i64)| {
        let found = match (at, usize::try_from(index)) {
            (Tuple::Leaf(_), Ok(0)) => Some(at.clone()),
            (_, Ok(index)) => at.modes().get(index).cloned(),
            (_, Err(_)) => None,
        };
        let rank = at.rank();
        found.ok_or_else(|| ErrorKind::NoMode { index, rank }.at(Place::operand(depth + 1)))
    };
    let mut path = path.iter().enumerate();
    path.try_fold(tuple.clone(), |at, index| step(&at, index))
}

/// The top-level modes with these indices, in this order. A mode that does not exist is refused.
/// ```
/// use cute_algebra::{Layout, select};
/// let a: Layout = "(2,(3,5),7):(1,(2,6),30)".parse()?;
/// assert_eq!(select(&a, &[2, 0])?.to_string(), "(7,2):(30,1)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn select<I: Integer>(a: &Layout<I>, indices: &[i64]) -> Result<Layout<I>, LayoutError> {
    let modes = indices
        .iter()
        .enumerate()
        .map(|(i, &index)| get(a, &[index]).map_err(|error| error.blame(i + 1)));
    Layout::concat(modes.collect::<Result<Vec<_>, _>>()?)
}

/// The top-level modes `begin..end`. An empty range is refused.
/// ```
/// use cute_algebra::{Layout, take};
/// let a: Layout = "(2,(3,5),7):(1,(2,6),30)".parse()?;
/// assert_eq!(take(&a, 0, 2)?.to_string(), "(2,(3,5)):(1,(2,6))");
/// assert!(take(&a, 1, 1).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn take<I: Integer>(a: &Layout<I>, begin: i64, end: i64) -> Result<Layout<I>, LayoutError> {
    let range = checked_range(a, begin, end).and_then(|range| match range.is_empty() {
        true => Err(ErrorKind::Range {
            begin,
            end,
            rank: a.rank(),
        }
        .at(Place::operand(1))),
        false => Ok(range),
    });
    Layout::concat(a.modes().drain(range.during("take", [a, &begin, &end])?))
}

/// The layout with its top-level modes `begin..end` as one nested mode; an empty range changes nothing.
/// ```
/// use cute_algebra::{Layout, group};
/// let a: Layout = "(2,(3,5),7):(1,(2,6),30)".parse()?;
/// assert_eq!(group(&a, 1, 3)?.to_string(), "(2,((3,5),7)):(1,((2,6),30))");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn group<I: Integer>(a: &Layout<I>, begin: i64, end: i64) -> Result<Layout<I>, LayoutError> {
    let range = checked_range(a, begin, end).during("group", [a, &begin, &end])?;
    if range.is_empty() {
        return Ok(a.clone());
    }
    let mut modes = a.modes();
    let grouped = Layout::concat(modes.drain(range.clone()))?;
    modes.insert(range.start, grouped);
    Layout::concat(modes)
}

/// The layout with all leaves as top-level modes. An integer mode stays an integer mode.
/// ```
/// use cute_algebra::{Layout, flatten};
/// let a: Layout = "(2,(3,5),7):(1,(2,6),30)".parse()?;
/// assert_eq!(flatten(&a).to_string(), "(2,3,5,7):(1,2,6,30)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn flatten<I: Integer>(a: &Layout<I>) -> Layout<I> {
    if a.shape().is_leaf() {
        return a.clone();
    }
    Layout::join(
        a.flat_modes()
            .into_iter()
            .map(|(extent, stride)| Layout::leaf(extent, stride)),
    )
}

/// The leaves of A in the tree of `profile`: the opposite of [`flatten`]. Both must have the same number of leaves.
/// ```
/// use cute_algebra::{Layout, Shape, unflatten};
/// let a: Layout = "(2,3,5):(1,2,6)".parse()?;
/// let profile: Shape = [1.into(), Shape::from([1, 1])].into_iter().collect();
/// assert_eq!(unflatten(&a, &profile)?.to_string(), "(2,(3,5)):(1,(2,6))");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn unflatten<I: Integer>(a: &Layout<I>, profile: &Shape) -> Result<Layout<I>, LayoutError> {
    profile.check_limits().map_err(|error| error.blame(1))?;
    let leaves = a.flat_modes();
    if leaves.len() != profile.leaf_count() {
        let (expected, found) = (a.shape().to_string(), profile.to_string());
        return Err(ErrorKind::Profile { expected, found }.at(Place::operand(1)))
            .during("unflatten", [a, profile]);
    }
    let leaves = leaves
        .into_iter()
        .map(|(extent, stride)| Layout::leaf(extent, stride));
    Layout::replace_leaves(profile, leaves.collect())
}

/// A with `mode` as an additional last top-level mode.
/// ```
/// use cute_algebra::{Layout, append};
/// let a: Layout = "(3,4):(1,3)".parse()?;
/// let b: Layout = "5:12".parse()?;
/// assert_eq!(append(&a, &b)?.to_string(), "(3,4,5):(1,3,12)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn append<I: Integer>(a: &Layout<I>, mode: &Layout<I>) -> Result<Layout<I>, LayoutError> {
    Layout::concat([a.modes(), vec![mode.clone()]].concat()).during("append", [a, mode])
}

/// A with `mode` as an additional first top-level mode.
/// ```
/// use cute_algebra::{Layout, prepend};
/// let a: Layout = "(3,4):(1,3)".parse()?;
/// let b: Layout = "5:12".parse()?;
/// assert_eq!(prepend(&a, &b)?.to_string(), "(5,3,4):(12,1,3)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn prepend<I: Integer>(a: &Layout<I>, mode: &Layout<I>) -> Result<Layout<I>, LayoutError> {
    Layout::concat([vec![mode.clone()], a.modes()].concat()).during("prepend", [a, mode])
}

/// A with copies of `mode` appended until it has rank `rank`. A smaller rank than A's is refused.
/// ```
/// use cute_algebra::{Layout, append_to_rank};
/// let a: Layout = "(3,4):(1,3)".parse()?;
/// assert_eq!(append_to_rank(&a, 4, &Layout::new(1, 0)?)?.to_string(), "(3,4,1,1):(1,3,0,0)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn append_to_rank<I: Integer>(
    a: &Layout<I>,
    rank: i64,
    mode: &Layout<I>,
) -> Result<Layout<I>, LayoutError> {
    let missing = missing_modes(a, rank).during("append", [a, &rank, mode])?;
    if missing == 0 {
        Ok(a.clone())
    } else {
        Layout::concat([a.modes(), vec![mode.clone(); missing]].concat())
    }
}

/// A with copies of `mode` prepended until it has rank `rank`. A smaller rank than A's is refused.
/// ```
/// use cute_algebra::{Layout, prepend_to_rank};
/// let a: Layout = "(3,4):(1,3)".parse()?;
/// assert_eq!(prepend_to_rank(&a, 3, &Layout::new(1, 0)?)?.to_string(), "(1,3,4):(0,1,3)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn prepend_to_rank<I: Integer>(
    a: &Layout<I>,
    rank: i64,
    mode: &Layout<I>,
) -> Result<Layout<I>, LayoutError> {
    let missing = missing_modes(a, rank).during("prepend", [a, &rank, mode])?;
    if missing == 0 {
        Ok(a.clone())
    } else {
        Layout::concat([vec![mode.clone(); missing], a.modes()].concat())
    }
}

/// A with the top-level mode `index` replaced by `mode`. A mode that does not exist is refused.
/// ```
/// use cute_algebra::{Layout, replace};
/// let a: Layout = "(3,4):(1,3)".parse()?;
/// let b: Layout = "5:12".parse()?;
/// assert_eq!(replace(&a, 0, &b)?.to_string(), "(5,4):(12,3)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn replace<I: Integer>(
    a: &Layout<I>,
    index: i64,
    mode: &Layout<I>,
) -> Result<Layout<I>, LayoutError> {
    get(a, &[index]).during("replace", [a, &index, mode])?;
    let mut modes = a.modes();
    modes[index as usize] = mode.clone();
    Layout::concat(modes)
}

/// `((a0, b0), (a1, b1), …)` of two layouts with the same rank.
/// ```
/// use cute_algebra::{Layout, zip};
/// let a: Layout = "(3,4):(1,3)".parse()?;
/// let b: Layout = "(5,6):(12,60)".parse()?;
/// assert_eq!(zip(&a, &b)?.to_string(), "((3,5),(4,6)):((1,12),(3,60))");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn zip<I: Integer>(a: &Layout<I>, b: &Layout<I>) -> Result<Layout<I>, LayoutError> {
    if a.rank() != b.rank() || a.shape().is_leaf() != b.shape().is_leaf() {
        let (expected, found) = (a.shape().to_string(), b.shape().to_string());
        return Err(ErrorKind::Profile { expected, found }.at(Place::operand(1)))
            .during("zip", [a, b]);
    }
    if a.shape().is_leaf() {
        return Layout::concat([a.clone(), b.clone()]);
    }
    let pairs = a
        .modes()
        .into_iter()
        .zip(b.modes())
        .map(|(a, b)| Layout::concat([a, b]));
    Layout::concat(pairs.collect::<Result<Vec<_>, _>>()?)
}

/// The transposed tree: `((a0, a1, …), (b0, b1, …))` becomes `((a0, b0), (a1, b1), …)`. All modes must have the
/// same rank.
/// ```
/// use cute_algebra::{Layout, transpose_modes};
/// let a: Layout = "((3,4),(5,6)):((1,3),(12,60))".parse()?;
/// assert_eq!(transpose_modes(&a)?.to_string(), "((3,5),(4,6)):((1,12),(3,60))");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn transpose_modes<I: Integer>(a: &Layout<I>) -> Result<Layout<I>, LayoutError> {
    let modes = a.modes();
    let rank = modes.first().map_or(0, Layout::rank);
    if let Some(i) = modes
        .iter()
        .position(|mode| mode.shape().is_leaf() || mode.rank() != rank)
    {
        let (expected, found) = (
            format!("a tuple of {rank} modes"),
            modes[i].shape().to_string(),
        );
        return Err(ErrorKind::Profile { expected, found }.at(Place::operand(0).mode([i])))
            .during("zip", [a]);
    }
    let rows = (0..rank).map(|i| Layout::concat(modes.iter().filter_map(|mode| mode.mode(i))));
    Layout::concat(rows.collect::<Result<Vec<_>, _>>()?)
}

fn missing_modes<I: Integer>(a: &Layout<I>, rank: i64) -> Result<usize, LayoutError> {
    let missing = usize::try_from(rank)
        .ok()
        .and_then(|rank| rank.checked_sub(a.rank()));
    // The number of leaves is limited, so a larger rank is refused before its copies are made.
    match missing.filter(|&missing| missing <= crate::MAX_LEAVES) {
        Some(missing) => Ok(missing),
        None => Err(ErrorKind::Rank {
            rank,
            found: a.rank(),
        }
        .at(Place::operand(1))),
    }
}

fn checked_range<I: Integer>(
    a: &Layout<I>,
    begin: i64,
    end: i64,
) -> Result<core::ops::Range<usize>, LayoutError> {
    match (usize::try_from(begin), usize::try_from(end)) {
        (Ok(first), Ok(last)) if first <= last && last <= a.rank() => Ok(first..last),
        _ => Err(ErrorKind::Range {
            begin,
            end,
            rank: a.rank(),
        }
        .at(Place::operand(1))),
    }
}
