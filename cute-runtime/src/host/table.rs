//! Tensors as text.

use std::fmt;

use super::layout::{extent, modes, text};
use super::{HostLayout, HostTensor};

/// Most rows and most columns that are shown.
const SIDE_LIMIT: i64 = 16;

/// Most values that are shown where there are no rows.
const LIST_LIMIT: i64 = 64;

/// The layout, and what is there: a table with mode 0 down where there are two modes, else a list.
pub(super) fn write<E, L: HostLayout>(
    f: &mut fmt::Formatter<'_>,
    tensor: HostTensor<'_, E, L>,
    show: impl Fn(&E) -> String,
) -> fmt::Result {
    let layout = tensor.layout();
    f.write_str(&text(&layout))?;
    // Past the edge there is nothing.
    let show = |coord: i64| tensor.get(coord).map_or_else(|| "-".into(), &show);
    let sizes: Vec<_> = modes(&layout)
        .map(|(_, leaves)| extent(&layout, leaves))
        .collect();
    let &[rows, columns] = sizes.as_slice() else {
        let more = if tensor.size() > LIST_LIMIT {
            ", …"
        } else {
            ""
        };
        let shown: Vec<_> = (0..tensor.size().min(LIST_LIMIT)).map(show).collect();
        return write!(f, " [{}{more}]", shown.join(", "));
    };
    let shown = columns.min(SIDE_LIMIT);
    let cells: Vec<Vec<String>> = (0..rows.min(SIDE_LIMIT))
        .map(|row| (0..shown).map(|column| show(row + rows * column)).collect())
        .collect();
    let width = cells
        .iter()
        .flatten()
        .map(|cell| cell.chars().count())
        .max();
    let width = width.unwrap_or(0) + 1;
    for row in &cells {
        f.write_str("\n")?;
        row.iter()
            .try_for_each(|cell| write!(f, "{cell:>width$}"))?;
        f.write_str(if columns > shown { " …" } else { "" })?;
    }
    f.write_str(if rows > SIDE_LIMIT { "\n …" } else { "" })
}
