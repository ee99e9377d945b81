//! Tensors as text.

use std::fmt;

use super::layout::{extent, modes, text};
use super::{HostLayout, HostTensor};

/// Most rows, and most columns, of a table.
const SIDE_LIMIT: i64 = 16;

/// Most values of a list.
const LIST_LIMIT: i64 = 64;

/// Writes the layout and then the elements: as a table whose rows are mode 0 if there are two modes, else as a list.
pub(super) fn write<E, L: HostLayout>(
    f: &mut fmt::Formatter<'_>,
    tensor: HostTensor<'_, E, L>,
    show: impl Fn(&E) -> String,
) -> fmt::Result {
    let layout = tensor.layout();
    f.write_str(&text(&layout))?;
    // A coordinate past the edge of a ragged tile has no element.
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
