//! Layouts as tables, because people would rather look.

use crate::composed::ComposedLayout;
use crate::layout::Layout;
use crate::tuple::{Coord, Tuple};
use crate::value::Value;
use std::fmt::{Display, Write};

/// Most cells of a table.
pub const PRINT_LIMIT: i64 = 1 << 16;

/// The table that CuTe's `print_layout` prints: mode 0 runs down, mode 1 to the right.
///
/// Of more than two modes, all but the first run to the right; a layout of one mode is one row.
/// `None` for a value that is no layout, and over [`PRINT_LIMIT`] cells.
/// ```
/// use cute_algebra::{Layout, print_layout};
/// let table = print_layout(&Layout::new([2, 4], [1, 3])?.into()).unwrap();
/// assert_eq!(table, "\
/// (2,4):(1,3)
///        0    1    2    3\x20
///     +----+----+----+----+
///  0  |  0 |  3 |  6 |  9 |
///     +----+----+----+----+
///  1  |  1 |  4 |  7 | 10 |
///     +----+----+----+----+
/// ");
/// # Ok::<(), cute_algebra::LayoutError>(())
/// ```
pub fn print_layout(value: &Value) -> Option<String> {
    let (layout, cosize) = match value {
        Value::Layout(layout) => (
            layout,
            Some(layout.cosize()).filter(|_| layout.is_integral()),
        ),
        Value::Composed(composed) => (composed.layout(), composed.cosize()),
        _ => return None,
    };
    if layout.size() > PRINT_LIMIT {
        return None;
    }
    let columns = match layout.rank() {
        1 => layout.size(),
        _ => layout.size() / layout.mode(0)?.size(),
    };
    let rows = layout.size() / columns;
    let cells = (0..layout.size())
        .map(|index| cell(value, index))
        .collect::<Option<Vec<_>>>()?;
    let widest = cells
        .iter()
        .map(String::len)
        .chain(cosize.map(|cosize| cosize.to_string().len()))
        .max()?;
    Some(table(value, rows, columns, &cells, widest))
}

fn cell(value: &Value, index: i64) -> Option<String> {
    let coord: Coord = Tuple::Leaf(Some(index));
    match value {
        Value::Layout(layout) => Layout::crd2idx(layout, &coord)
            .ok()
            .map(|value| value.to_string()),
        Value::Composed(composed) => ComposedLayout::crd2idx(composed, &coord)
            .ok()
            .map(|value| value.to_string()),
        _ => None,
    }
}

/// Cells are in the order of 1-D coordinates: down each column.
fn table(title: &impl Display, rows: i64, columns: i64, cells: &[String], width: usize) -> String {
    let rule = format!(
        "    {}+\n",
        format!("+{:-<1$}", "", width + 2).repeat(usize::try_from(columns).unwrap_or(0))
    );
    let mut text = format!("{title}\n    ");
    for column in 0..columns {
        let _ = write!(text, "  {column:>width$} ");
    }
    text.push('\n');
    for row in 0..rows {
        text.push_str(&rule);
        let _ = write!(text, "{row:2}  ");
        for cell in cells
            .iter()
            .skip(usize::try_from(row).unwrap_or(0))
            .step_by(usize::try_from(rows).unwrap_or(1))
        {
            let _ = write!(text, "| {cell:>width$} ");
        }
        text.push_str("|\n");
    }
    text + &rule
}
