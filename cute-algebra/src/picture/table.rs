//! Layouts as text tables, in CuTe's format.

use super::{Panel, Picture, PictureError};
use crate::tuple::Coord;
use crate::value::Value;
use alloc::format;
use alloc::string::String;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::fmt::{Display, Write};

/// The table of CuTe's `print_layout`: mode 0 runs down, mode 1 to the right.
///
/// If there are more than two modes, all but the first run to the right. A layout with a single mode is one row.
/// ```
/// use cute_algebra::{Layout, print_layout};
/// let table = print_layout(Layout::new([2, 4], [1, 3])?)?;
/// assert_eq!(table, "\
/// (2,4):(1,3)
///        0    1    2    3\x20
///     +----+----+----+----+
///  0  |  0 |  3 |  6 |  9 |
///     +----+----+----+----+
///  1  |  1 |  4 |  7 | 10 |
///     +----+----+----+----+
/// ");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn print_layout(value: impl Into<Value>) -> Result<String, PictureError> {
    let value = value.into();
    let room = room(&value);
    Ok(tabled(value)?.to_table(room))
}

/// The same table, in which only the elements of a slice are filled in. The coordinate has `_` where all elements of a
/// mode are in the slice. Errors are those of [`Picture::highlight`].
/// ```
/// use cute_algebra::{Layout, print_slice};
/// let table = print_slice(Layout::new([2, 4], [1, 3])?, &"(1,_)".parse()?)?;
/// assert!(!table.contains("|  6 |") && table.contains("|  7 |"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn print_slice(value: impl Into<Value>, coord: &Coord) -> Result<String, PictureError> {
    let value = value.into();
    let room = room(&value);
    Ok(tabled(value)?.highlight(coord)?.to_table(room))
}

/// The picture of a value, under its text as CuTe prints it.
fn tabled(value: Value) -> Result<Picture, PictureError> {
    let title = value.to_string();
    Ok(Picture::new(value)?.titled(title))
}

/// The width of a column: as in CuTe, the width of the cosize in decimal.
fn room(value: &Value) -> usize {
    let cosize = match value {
        Value::Layout(layout) if layout.is_integral() => Some(layout.cosize()),
        Value::Composed(composed) => composed.cosize_bound(),
        _ => None,
    };
    cosize.map_or(0, |cosize| cosize.to_string().len())
}

impl Picture {
    fn to_table(&self, room: usize) -> String {
        let panels = self.panels.iter();
        panels
            .map(|panel| table(&self.title, panel, room))
            .collect()
    }
}

fn table(title: &impl Display, panel: &Panel, room: usize) -> String {
    let cells: Vec<String> = panel
        .cells
        .iter()
        .map(|cell| match cell.is_faint {
            true => String::new(),
            false => cell.value.to_string(),
        })
        .collect();
    let width = cells.iter().map(String::len).max().unwrap_or(0).max(room);
    let rule = format!(
        "    {}+\n",
        format!("+{:-<1$}", "", width + 2).repeat(panel.columns)
    );
    let mut text = format!("{title}\n    ");
    for column in 0..panel.columns {
        let _ = write!(text, "  {column:>width$} ");
    }
    text.push('\n');
    for (row, cells) in cells.chunks(panel.columns).enumerate() {
        text.push_str(&rule);
        let _ = write!(text, "{row:2}  ");
        for cell in cells {
            let _ = write!(text, "| {cell:>width$} ");
        }
        text.push_str("|\n");
    }
    text + &rule
}
