//! Regrouping modes: the values stay, their coordinates move.

use crate::error::{During, ErrorKind, LayoutError, Place};
use crate::layout::Layout;
use crate::tuple::Shape;
use crate::value::Value;

/// The mode at `path`, as `get<0,1>(a)` of CuTe.
pub fn get(a: &Layout, path: &[i64]) -> Result<Layout, LayoutError> {
    let step = |mode: Layout, (depth, &index): (usize, &i64)| {
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
        [Value::from(a)]
            .into_iter()
            .chain(path.iter().map(|&index| index.into()))
    };
    path.iter()
        .enumerate()
        .try_fold(a.clone(), step)
        .map_err(|error| error.during("get", operands()))
}

/// The listed top-level modes, in that order.
pub fn select(a: &Layout, indices: &[i64]) -> Result<Layout, LayoutError> {
    let modes = indices
        .iter()
        .enumerate()
        .map(|(i, &index)| get(a, &[index]).map_err(|error| error.blame(i + 1)));
    Layout::concat(modes.collect::<Result<Vec<_>, _>>()?)
}

/// The top-level modes `begin..end`, at least one.
pub fn take(a: &Layout, begin: i64, end: i64) -> Result<Layout, LayoutError> {
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

/// The layout with its modes `begin..end` as one mode; an empty range changes nothing.
pub fn group(a: &Layout, begin: i64, end: i64) -> Result<Layout, LayoutError> {
    let range = checked_range(a, begin, end).during("group", [a, &begin, &end])?;
    if range.is_empty() {
        return Ok(a.clone());
    }
    let mut modes = a.modes();
    let grouped = Layout::concat(modes.drain(range.clone()))?;
    modes.insert(range.start, grouped);
    Layout::concat(modes)
}

/// The layout with all leaves as top-level modes; an integer mode stays one.
pub fn flatten(a: &Layout) -> Layout {
    if a.shape().is_leaf() {
        return a.clone();
    }
    Layout::join(
        a.flat_modes()
            .into_iter()
            .map(|(extent, stride)| Layout::leaf(extent, stride)),
    )
}

/// The leaves of A in the tree of `profile`: the opposite of [`flatten`].
pub fn unflatten(a: &Layout, profile: &Shape) -> Result<Layout, LayoutError> {
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

/// A with one more top-level mode at the end.
pub fn append(a: &Layout, mode: &Layout) -> Result<Layout, LayoutError> {
    Layout::concat([a.modes(), vec![mode.clone()]].concat()).during("append", [a, mode])
}

/// A with one more top-level mode at the beginning.
pub fn prepend(a: &Layout, mode: &Layout) -> Result<Layout, LayoutError> {
    Layout::concat([vec![mode.clone()], a.modes()].concat()).during("prepend", [a, mode])
}

/// A with copies of `mode` appended up to rank `rank`, which is at least A's.
pub fn append_to_rank(a: &Layout, rank: i64, mode: &Layout) -> Result<Layout, LayoutError> {
    let missing = missing_modes(a, rank).during("append", [a, &rank, mode])?;
    if missing == 0 {
        Ok(a.clone())
    } else {
        Layout::concat([a.modes(), vec![mode.clone(); missing]].concat())
    }
}

/// A with copies of `mode` prepended up to rank `rank`, which is at least A's.
pub fn prepend_to_rank(a: &Layout, rank: i64, mode: &Layout) -> Result<Layout, LayoutError> {
    let missing = missing_modes(a, rank).during("prepend", [a, &rank, mode])?;
    if missing == 0 {
        Ok(a.clone())
    } else {
        Layout::concat([vec![mode.clone(); missing], a.modes()].concat())
    }
}

/// A with top-level mode `index` replaced.
pub fn replace(a: &Layout, index: i64, mode: &Layout) -> Result<Layout, LayoutError> {
    get(a, &[index]).during("replace", [a, &index, mode])?;
    let mut modes = a.modes();
    modes[index as usize] = mode.clone();
    Layout::concat(modes)
}

/// The same strides under another shape with the same tree.
pub fn with_shape(a: &Layout, shape: &Shape) -> Result<Layout, LayoutError> {
    Layout::new(shape.clone(), a.stride().clone())
        .map_err(|error| error.blame(1))
        .during("with_shape", [a, shape])
}

/// `((a0, b0), (a1, b1), …)` of two layouts of one rank.
pub fn zip(a: &Layout, b: &Layout) -> Result<Layout, LayoutError> {
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

/// The transposed tree: `((a0, a1, …), (b0, b1, …))` becomes `((a0, b0), (a1, b1), …)`.
pub fn transpose_modes(a: &Layout) -> Result<Layout, LayoutError> {
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

fn missing_modes(a: &Layout, rank: i64) -> Result<usize, LayoutError> {
    let missing = usize::try_from(rank)
        .ok()
        .and_then(|rank| rank.checked_sub(a.rank()));
    // A rank over the limit of leaves is refused before that many copies are made.
    match missing.filter(|&missing| missing <= crate::MAX_LEAVES) {
        Some(missing) => Ok(missing),
        None => Err(ErrorKind::Rank {
            rank,
            found: a.rank(),
        }
        .at(Place::operand(1))),
    }
}

fn checked_range(a: &Layout, begin: i64, end: i64) -> Result<std::ops::Range<usize>, LayoutError> {
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
