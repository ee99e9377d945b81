//! A layout from a table of its values.

use crate::error::{ErrorKind, LayoutError, Place};
use crate::layout::Layout;
use crate::overhang::Overhang;
use alloc::vec::Vec;

/// The layout with exactly these values at 0, 1, 2, …, coalesced, in time linear in their number.
///
/// No search is needed: only one coalesced layout is possible. The first value off the line from 0 gives its first
/// extent.
/// ```
/// use cute_algebra::{ErrorKind, from_table};
/// assert_eq!(from_table(&[0, 2, 1, 3])?.to_string(), "(2,2):(2,1)");
/// assert!(matches!(from_table(&[0, 1, 3, 2]).unwrap_err().kind(), ErrorKind::NotALayout { position: 3, .. }));
/// # Ok::<(), cute_algebra::LayoutError>(())
/// ```
pub fn from_table(values: &[i64]) -> Result<Layout, LayoutError> {
    admitting(values, Overhang::Strict)
}

/// The layout with these values. In the ragged form they may be only the first of its values.
pub(crate) fn admitting(values: &[i64], overhang: Overhang) -> Result<Layout, LayoutError> {
    match values.first() {
        Some(0) => {}
        Some(&found) => return Err(not_a_layout(0, found, 0)),
        None => return Err(ErrorKind::Extent { extent: "0".into() }.at(Place::default())),
    }
    let mut modes = Vec::new();
    let mut size = 1;
    while size < values.len() {
        let rest = match overhang {
            Overhang::Strict => values.len() / size,
            Overhang::Ragged => values.len().div_ceil(size),
        };
        let stride = values[size];
        let line = |k: usize| i64::try_from(k).ok().and_then(|k| k.checked_mul(stride));
        let turn = (2..rest)
            .find(|&k| Some(values[k * size]) != line(k))
            .unwrap_or(rest);
        // If this extent does not divide the number of values, take the longest one: the comparison below then
        // reports the first value that differs.
        let extent = if overhang == Overhang::Ragged || rest.is_multiple_of(turn) {
            turn
        } else {
            rest
        };
        modes.push((extent as i64, stride.into()));
        size *= extent;
    }
    let layout = Layout::from_flat(modes).validated()?;
    let differs = layout
        .values()
        .zip(values)
        .position(|(expected, &found)| expected != found);
    match differs {
        None => Ok(layout),
        Some(position) => Err(not_a_layout(
            position,
            values[position],
            layout.at(position as i64).unwrap_or(0),
        )),
    }
}

fn not_a_layout(position: usize, found: i64, expected: i64) -> LayoutError {
    ErrorKind::NotALayout {
        position: position as i64,
        found,
        expected,
    }
    .at(Place::default())
}
