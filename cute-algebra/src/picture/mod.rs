//! Layouts as pictures: as CuTe's table, as TikZ and as SVG.
//!
//! A [`Picture`] is one or more grids of cells. This module decides the text and the colour of each cell. The renderers
//! decide only where a cell is drawn.

mod axes;
mod color;
mod error;
mod latex;
mod legend;
mod sharing;
mod svg;
mod table;
#[cfg(test)]
mod tests;

pub use color::{ColorBy, ParseColorError};
pub use error::PictureError;
pub use table::{print_layout, print_slice};

use crate::composed::ComposedLayout;
use crate::hopper::atoms::{CopySide, MmaOperand, TiledCopy, TiledMma};
use crate::hopper::banks::BANKS;
use crate::layout::Layout;
use crate::slice::slice_and_offset;
use crate::swizzle::Swizzle;
use crate::tiling::Tiling;
use crate::tuple::{Coord, IntTuple, Shape, Tuple};
use crate::value::Value;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;
use axes::Axes;
use sharing::{Holders, Sharing};

/// The largest number of cells in a grid of a picture, as in a tile of 256 × 256.
pub const PICTURE_LIMIT: i64 = 1 << 16;

/// The largest number of (thread, value) pairs in a picture. It can exceed the number of cells, since several threads may
/// hold the same element.
pub const HOLDER_LIMIT: i64 = 1 << 22;

/// A picture of a layout, of its tiles, of the elements that threads hold, or of a tiled operation.
///
/// The same layout gives the same text every time. The axes have names, and a legend has a swatch of each colour, or of
/// the first few and the last.
/// ```
/// use cute_algebra::{ColorBy, Layout, Picture};
/// let picture = Picture::new(Layout::right([4, 8])?)?;
/// assert!(picture.to_svg().starts_with("<svg"));
/// assert!(picture.to_latex().starts_with("\\documentclass"));
///
/// // Which thread of ldmatrix holds which element.
/// let tv = "((4,8),2):((16,1),8)".parse()?;
/// let held = Picture::thread_values(&tv, Layout::left([8, 8])?)?.color_by(ColorBy::Thread)?;
/// assert!(held.to_svg().contains("T31"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
#[doc = include_str!("../../docs/thread_values.svg")]
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Picture {
    title: String,
    subject: Subject,
    panels: Vec<Panel>,
    color_by: ColorBy,
}

/// The subject of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize),
    serde(rename_all = "lowercase")
)]
enum Subject {
    /// The values of a layout.
    Values,
    /// The values of a layout, and its tiles.
    Tiles,
    /// The thread of each element.
    Threads,
}

/// One grid of cells.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
struct Panel {
    caption: &'static str,
    /// The row and the column of this grid among the grids of the picture.
    slot: (usize, usize),
    rows: usize,
    columns: usize,
    /// The cells row by row.
    cells: Vec<Cell>,
    /// The shape of the cells' coordinates.
    shape: Shape,
    axes: Axes,
    sharing: Sharing,
}

#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
struct Cell {
    /// The value of the layout at this coordinate.
    value: IntTuple,
    /// The thread or the tile that holds this cell, if there is one.
    holder: Option<Holder>,
    /// Neighbouring cells of different groups are separated by a thick line.
    group: (i64, i64),
    /// Whether the cell is outside of the highlighted slice.
    is_faint: bool,
}

/// For threads: `outer` is the thread, `inner` the index of its value. For tiles: `outer` is the tile, `inner` the
/// position in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
struct Holder {
    outer: i64,
    inner: i64,
    /// How many other holders this cell has.
    others: i64,
}

/// A line along the edges of cells, from one (column, row) to another.
#[derive(Clone, Copy)]
struct Line {
    from: (usize, usize),
    to: (usize, usize),
}

impl Picture {
    /// The values of a layout. Mode 0 runs down and the other modes to the right; a layout with a single mode is one row.
    /// Thick lines separate the outermost coordinates of nested modes.
    ///
    /// A shape stands for its compact layout, in which the leftmost mode varies fastest. A swizzle `Sw<B,M,S>` is drawn
    /// in units of 2^M elements, over the bits that it reads or changes.
    pub fn new(value: impl Into<Value>) -> Result<Self, PictureError> {
        let value = value.into();
        let title = title_of(&value);
        let units = match &value {
            Value::Swizzle(swizzle) => Some(swizzle.base()),
            _ => None,
        };
        let data = drawable(value)?;
        let domain = domain(&data)?;
        let mut panel = Panel::of(&data)?;
        if let Some(base @ 1..) = units {
            panel.axes = Axes::new("row i", format!("unit j of 2^{base} elements"));
        }
        let [down, right] = split(domain);
        for (index, cell) in panel.cells.iter_mut().enumerate() {
            let row = (index / panel.columns) as i64;
            let column = (index % panel.columns) as i64;
            cell.group = (row / outermost(&down), column / outermost(&right));
            cell.holder = Some(Holder {
                outer: column,
                inner: row,
                others: 0,
            });
        }
        Ok(Self {
            title,
            subject: Subject::Values,
            panels: vec![panel],
            color_by: ColorBy::Value,
        })
    }

    /// The thread that holds each element of a tile. `layout_tv` maps (thread, value) to coordinates of the tile, either 1-D
    /// or of its rank, and `data` maps these coordinates to values in memory. The values decide the banks. A shape stands for its compact
    /// layout, in which the leftmost mode varies fastest.
    pub fn thread_values(layout_tv: &Layout, data: impl Into<Value>) -> Result<Self, PictureError> {
        let data = drawable(data.into())?;
        let panel = Panel::held(layout_tv, &data, None, "", (0, 0))?;
        let title = format!("{layout_tv} on {}", domain(&data)?.shape());
        Ok(Self::of_threads(title, vec![panel]))
    }

    /// The values of a layout, with thick lines between its tiles. The last tiles of a ragged tiling are drawn only as
    /// far as they are inside the layout.
    /// ```
    /// use cute_algebra::{ColorBy, Picture, Tiling};
    /// let rows = "Sw<0,0,0> o 0 o (8,8):(8,1)".parse()?;
    /// let picture = Picture::tiling(&Tiling::new(&rows, &"<4:2,(2,2):(1,4)>".parse()?)?)?;
    /// assert!(picture.color_by(ColorBy::Rest)?.to_svg().contains("colour: place in the tile"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn tiling(tiling: &Tiling) -> Result<Self, PictureError> {
        let whole = tiling.whole();
        let data = whole.as_layout().map_or(whole.into(), Value::from);
        let mut panel = Panel::of(&data)?;
        let layout = tiling.layout().layout();
        let pairs = check_holders(layout)?;
        let places = layout.mode(0).map_or(1, |tile| tile.size());
        let inside = (0..pairs).filter(|&pair| tiling.contains(pair));
        let axes = tiling.axes();
        panel.hold(inside.map(|pair| {
            // The 1-D coordinate of the element in the whole layout. Its leftmost digit varies fastest.
            let digits = tiling.coordinate(pair).into_iter().zip(&axes);
            let (element, _) = digits.fold((0, 1), |(sum, weight), (digit, axis)| {
                (sum + digit * weight, weight * axis.extent)
            });
            (pair / places, pair % places, element)
        }))?;
        for cell in &mut panel.cells {
            cell.group = (cell.holder.map_or(-1, |holder| holder.outer), 0);
        }
        Ok(Self {
            title: format!("{data} as {layout}"),
            subject: Subject::Tiles,
            panels: vec![panel],
            color_by: ColorBy::Tile,
        })
    }

    /// The thread that reads and the thread that writes each element of the tile of a copy, in two grids. Thick lines
    /// separate the atoms.
    pub fn tiled_copy(copy: &TiledCopy) -> Result<Self, PictureError> {
        let tile = drawable(copy.tile_shape().into())?;
        let source = copy.layout_tv(CopySide::Src)?;
        let destination = copy.layout_tv(CopySide::Dst)?;
        let atom = |side| Some(atom_of(copy.atom().layout(side)));
        let (reads, writes) = (atom(CopySide::Src), atom(CopySide::Dst));
        let mut panels = vec![Panel::held(&source, &tile, reads, "source", (0, 0))?];
        let other = Panel::held(&destination, &tile, writes, "destination", (0, 1))?;
        if panels[0].cells == other.cells {
            panels[0].caption = "source and destination";
        } else {
            panels.push(other);
        }
        let title = format!("tiled copy of {}", copy.tile_shape());
        Ok(Self::of_threads(title, panels))
    }

    /// The thread that holds each element of A, B and C, in three grids: A is to the left of C, and B, transposed, above
    /// C. Thick lines separate the atoms.
    pub fn tiled_mma(mma: &TiledMma) -> Result<Self, PictureError> {
        let [m, n, k] = mma.tile_shape();
        let panel = |operand: MmaOperand, caption, slot| {
            let tile: Shape = operand.modes().map(|mode| mma.tile_shape()[mode]).into();
            let layout_tv = mma.layout_tv(operand)?;
            let atom = Some(atom_of(mma.atom().layout(operand)));
            let mut panel = Panel::held(&layout_tv, &drawable(tile.into())?, atom, caption, slot)?;
            let mut modes = operand.modes();
            if operand == MmaOperand::B {
                panel = panel.transposed();
                modes.reverse();
            }
            let [down, across] = modes.map(|mode| ["m", "n", "k"][mode]);
            panel.axes = Axes::new(format!("row {down}"), format!("column {across}"));
            Ok::<_, PictureError>(panel)
        };
        let panels = vec![
            panel(MmaOperand::B, "B transposed", (0, 1))?,
            panel(MmaOperand::A, "A", (1, 0))?,
            panel(MmaOperand::C, "C", (1, 1))?,
        ];
        check_cells(panels.iter().map(|panel| panel.cells.len() as i64).sum())?;
        Ok(Self::of_threads(
            format!("tiled MMA of {m} x {n} x {k}"),
            panels,
        ))
    }

    fn of_threads(title: String, panels: Vec<Panel>) -> Self {
        Self {
            title,
            subject: Subject::Threads,
            panels,
            color_by: ColorBy::Thread,
        }
    }

    /// The same picture under another title.
    pub fn titled(self, title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            ..self
        }
    }

    /// The same picture with colours of another meaning. An error where the picture has nothing of this kind: colours by
    /// thread, for instance, need a picture of threads.
    pub fn color_by(self, by: ColorBy) -> Result<Self, PictureError> {
        if self.can_tell(by) {
            return Ok(Self {
                color_by: by,
                ..self
            });
        }
        let legal = ColorBy::ALL.into_iter().filter(|&by| self.can_tell(by));
        let legal: Vec<_> = legal.map(|by| by.to_string()).collect();
        Err(PictureError::Color {
            by,
            picture: match self.subject {
                Subject::Values | Subject::Tiles => "a layout",
                Subject::Threads => "threads",
            },
            legal: legal.join(", "),
        })
    }

    /// The same picture with a slice highlighted and the other elements faint. `_` in the coordinate selects all elements of
    /// a mode.
    ///
    /// An error for a coordinate that does not nest as the shape does or is outside of it, and for a picture of several
    /// grids.
    /// ```
    /// use cute_algebra::{Layout, Picture};
    /// let row = Picture::new(Layout::right([4, 8])?)?.highlight(&"(2,_)".parse()?)?;
    /// assert!(row.to_svg().contains("opacity"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn highlight(mut self, coord: &Coord) -> Result<Self, PictureError> {
        let grids = self.panels.len();
        let [panel] = &mut self.panels[..] else {
            return Err(PictureError::Grids { grids });
        };
        if !contains(&panel.shape, coord) {
            return Err(PictureError::OutsideShape {
                coord: coord.to_string(),
                shape: panel.shape.to_string(),
            });
        }
        let elements = Layout::left(panel.shape.clone())?;
        let (slice, first) = slice_and_offset(&elements, coord)?;
        let first: i64 = first.leaves().sum();
        let mut is_inside = vec![false; panel.cells.len()];
        for element in slice.values() {
            let index = (first + element) as usize;
            is_inside[index % panel.rows * panel.columns + index / panel.rows] = true;
        }
        for (cell, is_inside) in panel.cells.iter_mut().zip(is_inside) {
            cell.is_faint = !is_inside;
        }
        self.title = format!("{}, slice {coord}", self.title);
        Ok(self)
    }

    fn can_tell(&self, by: ColorBy) -> bool {
        match by {
            ColorBy::Value => true,
            ColorBy::Thread => self.subject == Subject::Threads,
            ColorBy::Bank { .. } => self.is_integral(),
            ColorBy::Tile | ColorBy::Rest => self.subject != Subject::Threads,
        }
    }

    fn is_integral(&self) -> bool {
        let mut cells = self.panels.iter().flat_map(|panel| &panel.cells);
        cells.all(|cell| cell.value.is_leaf())
    }

    /// The lines of text in a cell.
    fn lines(&self, panel: &Panel, cell: &Cell) -> Vec<String> {
        let mut lines = match (self.subject, cell.holder) {
            (Subject::Threads, None) => Vec::new(),
            (Subject::Threads, Some(holder)) => vec![
                format!("T{}{}", holder.outer, panel.sharing.mark(holder.others)),
                format!("V{}", holder.inner),
            ],
            (Subject::Values | Subject::Tiles, _) => vec![cell.value.to_string()],
        };
        lines.extend(self.bank(cell).map(|bank| format!("b{bank}")));
        lines
    }

    /// The description of a cell. An SVG viewer shows it when the pointer is on the cell.
    fn description(&self, panel: &Panel, index: usize) -> String {
        let cell = &panel.cells[index];
        let place = format!("({},{})", index / panel.columns, index % panel.columns);
        let bank = self.bank(cell);
        let bank = bank.map_or(String::new(), |bank| format!(", bank {bank}"));
        let held = match (self.subject, cell.holder) {
            (Subject::Values, _) | (_, None) => format!("{place}: {}", cell.value),
            (Subject::Tiles, Some(holder)) => format!(
                "{place}: {}, place {} of tile {}",
                cell.value, holder.inner, holder.outer
            ),
            (Subject::Threads, Some(holder)) => {
                let others = match holder.others {
                    0 => String::new(),
                    1 => " and 1 other".to_owned(),
                    others => format!(" and {others} others"),
                };
                format!(
                    "{place}: element {}, value {} of thread {}{others}",
                    cell.value, holder.inner, holder.outer
                )
            }
        };
        held + &bank
    }
}

impl Panel {
    /// The cells of a layout, without holders.
    fn of(data: &Value) -> Result<Self, PictureError> {
        let domain = domain(data)?;
        let cells = check_cells(domain.size())?;
        let rows = split(domain)[0].iter().product::<i64>() as usize;
        let columns = cells / rows.max(1);
        let values = values(data)?;
        let cells = (0..rows)
            .flat_map(|row| values.iter().skip(row).step_by(rows))
            .map(|value| Cell {
                value: value.clone(),
                holder: None,
                group: (0, 0),
                is_faint: false,
            })
            .collect();
        Ok(Self {
            caption: "",
            slot: (0, 0),
            rows,
            columns,
            cells,
            shape: domain.shape().clone(),
            axes: Axes::of(domain.shape()),
            sharing: Sharing::default(),
        })
    }

    /// The cells of a tile, held by threads. Each of the atoms has so many threads and values.
    fn held(
        layout_tv: &Layout,
        data: &Value,
        atom: Option<[i64; 2]>,
        caption: &'static str,
        slot: (usize, usize),
    ) -> Result<Self, PictureError> {
        let mut panel = Self {
            caption,
            slot,
            axes: Axes::of_tile(domain(data)?.shape()),
            ..Self::of(data)?
        };
        if layout_tv.rank() != 2 {
            let found = layout_tv.rank();
            return Err(PictureError::Rank { found });
        }
        let pairs = check_holders(layout_tv)?;
        let threads = layout_tv.mode(0).map_or(1, |mode| mode.size());
        let held = (0..pairs).map(|pair| (pair % threads, pair / threads));
        let held: Vec<_> = match layout_tv.is_integral() {
            true => (held.zip(layout_tv.values()))
                .map(|((thread, value), element)| (thread, value, element))
                .collect(),
            false => (held.zip(values(&layout_tv.into())?))
                .map(|((thread, value), coord)| {
                    Ok((thread, value, panel.element(thread, value, &coord)?))
                })
                .collect::<Result<_, PictureError>>()?,
        };
        panel.hold(held.into_iter())?;
        if let Some([threads, values]) = atom {
            for cell in &mut panel.cells {
                let atom = |holder: Holder| (holder.outer / threads, holder.inner / values);
                cell.group = cell.holder.map_or((-1, -1), atom);
            }
        }
        Ok(panel)
    }

    /// The 1-D coordinate of the element that a thread has at a coordinate.
    fn element(&self, thread: i64, value: i64, at: &IntTuple) -> Result<i64, PictureError> {
        let coord = at.to_coord();
        if !nests(&self.shape, at) {
            return Err(PictureError::Nesting {
                coord: at.clone(),
                shape: self.shape.clone(),
            });
        }
        if !contains(&self.shape, &coord) {
            return Err(PictureError::OutsideTile {
                thread,
                value,
                coord: at.to_string(),
                shape: self.shape.to_string(),
            });
        }
        let element = Layout::left(self.shape.clone())?.crd2idx(&coord)?;
        Ok(element.leaves().sum())
    }

    /// Enters the holders of the cells, given as (outer, inner, element).
    fn hold(&mut self, held: impl Iterator<Item = (i64, i64, i64)>) -> Result<(), PictureError> {
        let mut holders = Holders::default();
        for (outer, inner, element) in held {
            let index = usize::try_from(element)
                .ok()
                .filter(|&element| element < self.cells.len());
            let Some(index) = index else {
                return Err(PictureError::Outside {
                    thread: outer,
                    value: inner,
                    element,
                    cells: self.cells.len() as i64,
                });
            };
            // The 1-D coordinate of an element counts down the columns.
            let (row, column) = (index % self.rows, index / self.rows);
            match &mut self.cells[row * self.columns + column].holder {
                Some(holder) => {
                    holders.add(holder.others, (outer - holder.outer, inner - holder.inner));
                    holder.others += 1;
                }
                none => {
                    *none = Some(Holder {
                        outer,
                        inner,
                        others: 0,
                    })
                }
            }
        }
        let held = self.cells.iter().filter_map(|cell| cell.holder);
        self.sharing = holders.sharing(held.map(|holder| holder.others));
        Ok(())
    }

    fn transposed(self) -> Self {
        let by_columns =
            (0..self.columns).flat_map(|column| (0..self.rows).map(move |row| (row, column)));
        let cells = by_columns
            .map(|(row, column)| self.cells[row * self.columns + column].clone())
            .collect();
        Self {
            rows: self.columns,
            columns: self.rows,
            cells,
            ..self
        }
    }

    /// The thick lines between different groups, and around the grid.
    fn lines(&self) -> Vec<Line> {
        let group = |row: usize, column: usize| {
            let is_inside = row < self.rows && column < self.columns;
            let cell = is_inside.then(|| &self.cells[row * self.columns + column]);
            cell.map(|cell| (cell.group, cell.is_faint))
        };
        // The intervals of an edge along which `is_thick` holds.
        let runs = |length: usize, is_thick: &dyn Fn(usize) -> bool| {
            let mut runs: Vec<(usize, usize)> = Vec::new();
            for at in (0..length).filter(|&at| is_thick(at)) {
                match runs.last_mut() {
                    Some((_, end)) if *end == at => *end = at + 1,
                    _ => runs.push((at, at + 1)),
                }
            }
            runs
        };
        let mut lines = Vec::new();
        for row in 0..=self.rows {
            let is_thick = |column| row == 0 || group(row - 1, column) != group(row, column);
            for (start, end) in runs(self.columns, &is_thick) {
                lines.push(Line {
                    from: (start, row),
                    to: (end, row),
                });
            }
        }
        for column in 0..=self.columns {
            let is_thick = |row| column == 0 || group(row, column - 1) != group(row, column);
            for (start, end) in runs(self.rows, &is_thick) {
                lines.push(Line {
                    from: (column, start),
                    to: (column, end),
                });
            }
        }
        lines
    }
}

/// Whether each integer of a coordinate is inside of its mode. Where both nest differently, a slice gives the error.
fn contains(shape: &Shape, coord: &Coord) -> bool {
    match (coord, shape) {
        (Tuple::Leaf(None), _) => true,
        (Tuple::Leaf(Some(index)), mode) => {
            mode.product().is_some_and(|size| (0..size).contains(index))
        }
        (Tuple::Node(coords), Tuple::Node(modes)) => modes
            .iter()
            .zip(coords)
            .all(|(mode, coord)| contains(mode, coord)),
        _ => true,
    }
}

/// Whether a coordinate nests as the shape, or less deep.
fn nests(shape: &Shape, coord: &IntTuple) -> bool {
    match (coord, shape) {
        (Tuple::Leaf(_), _) => true,
        (Tuple::Node(coords), Tuple::Node(modes)) => {
            coords.len() == modes.len()
                && modes
                    .iter()
                    .zip(coords)
                    .all(|(mode, coord)| nests(mode, coord))
        }
        (Tuple::Node(_), Tuple::Leaf(_)) => false,
    }
}

/// The numbers of threads and values of an atom, from its layout of (thread, value).
fn atom_of(layout_tv: &Layout) -> [i64; 2] {
    [0, 1].map(|mode| layout_tv.mode(mode).map_or(1, |mode| mode.size()))
}

/// The text of a value, without an offset of 0 between a swizzle and its layout.
fn title_of(value: &Value) -> String {
    match value {
        Value::Composed(composed) if composed.offset() == 0 => {
            format!("{} o {}", composed.swizzle(), composed.layout())
        }
        _ => value.to_string(),
    }
}

/// The value as a layout, with or without a swizzle; an error for values that have no picture.
fn drawable(value: Value) -> Result<Value, PictureError> {
    Ok(match value {
        Value::Layout(_) | Value::Composed(_) => value,
        Value::Int(extent) => Layout::left(extent)?.into(),
        Value::Tuple(shape) => Layout::left(shape)?.into(),
        Value::Swizzle(swizzle) => table_of(swizzle)?.into(),
        _ => {
            return Err(PictureError::Kind {
                found: value.kind(),
            });
        }
    })
}

/// A swizzle as a layout over the bits that it touches. The upper field runs down; the lower field, and the bits between
/// the fields, run to the right.
fn table_of(swizzle: Swizzle) -> Result<ComposedLayout, PictureError> {
    let (bits, distance) = (swizzle.bits(), swizzle.shift().unsigned_abs());
    let cells = 1i64.checked_shl(bits + distance).filter(|&cells| cells > 0);
    check_cells(cells.ok_or(PictureError::Cells {
        cells: None,
        limit: PICTURE_LIMIT,
    })?)?;
    let units = Swizzle::new(bits, 0, swizzle.shift())?;
    let (rows, columns) = (1 << bits, 1 << distance);
    Ok(ComposedLayout::new(
        units,
        0,
        Layout::new([rows, columns], [columns, 1])?,
    )?)
}

/// The layout without its swizzle, if any. Its shape gives the coordinates.
fn domain(data: &Value) -> Result<&Layout, PictureError> {
    match data {
        Value::Layout(layout) => Ok(layout),
        Value::Composed(composed) => Ok(composed.layout()),
        _ => Err(PictureError::Kind { found: data.kind() }),
    }
}

/// The values at 0, 1, 2, … up to the size.
fn values(data: &Value) -> Result<Vec<IntTuple>, PictureError> {
    match data {
        Value::Layout(layout) if layout.is_integral() => {
            Ok(layout.values().map(Tuple::Leaf).collect())
        }
        Value::Layout(layout) => {
            let coords = (0..layout.size()).map(|index| Tuple::Leaf(Some(index)));
            Ok(coords
                .map(|coord| layout.crd2idx(&coord))
                .collect::<Result<_, _>>()?)
        }
        Value::Composed(composed) => Ok(composed.values().map(Tuple::Leaf).collect()),
        _ => Err(PictureError::Kind { found: data.kind() }),
    }
}

/// The extents of the leaves that run down, and the extents of those that run to the right.
fn split(layout: &Layout) -> [Vec<i64>; 2] {
    let leaves = |modes: &[Shape]| {
        modes
            .iter()
            .flat_map(|mode| mode.leaves().copied())
            .collect::<Vec<i64>>()
    };
    match layout.shape().modes() {
        [first, rest @ ..] if !rest.is_empty() => {
            [leaves(core::slice::from_ref(first)), leaves(rest)]
        }
        modes => [Vec::new(), leaves(modes)],
    }
}

/// How many neighbours have the same coordinate in the outermost leaf: the product of the inner extents. `i64::MAX` where
/// only one leaf has an extent above 1, so that there are no groups.
fn outermost(extents: &[i64]) -> i64 {
    let several: Vec<i64> = extents
        .iter()
        .copied()
        .filter(|&extent| extent > 1)
        .collect();
    match &several[..] {
        [inner @ .., _] if !inner.is_empty() => inner.iter().product(),
        _ => i64::MAX,
    }
}

fn check_cells(cells: i64) -> Result<usize, PictureError> {
    match usize::try_from(cells) {
        Ok(count) if cells <= PICTURE_LIMIT => Ok(count),
        _ => Err(PictureError::Cells {
            cells: Some(cells),
            limit: PICTURE_LIMIT,
        }),
    }
}

/// The number of (thread, value) or (position, tile) pairs; an error where there are too many.
fn check_holders(layout: &Layout) -> Result<i64, PictureError> {
    match layout.size() {
        pairs if pairs <= HOLDER_LIMIT => Ok(pairs),
        pairs => Err(PictureError::Holders {
            pairs,
            limit: HOLDER_LIMIT,
        }),
    }
}

/// The bank of shared memory in which an element begins. A bank is 32 bits wide.
fn bank(index: i64, bits: u32) -> i64 {
    let word = (i128::from(index) * i128::from(bits)).div_euclid(32);
    word.rem_euclid(i128::from(BANKS)) as i64
}

/// Implements `to_svg` for types that have a picture.
macro_rules! to_svg {
    ($($kind:ty: $picture:expr, $doc:literal;)*) => {$(
        impl $kind {
            #[doc = $doc]
            pub fn to_svg(&self) -> Result<String, PictureError> {
                Ok($picture(self)?.to_svg())
            }
        }
    )*};
}

to_svg! {
    Layout: Picture::new, "Its values as SVG: see [`Picture::new`].";
    ComposedLayout: Picture::new, "Its values as SVG: see [`Picture::new`].";
    Swizzle: |swizzle: &Swizzle| Picture::new(*swizzle), "The units that it permutes, with their new places, as SVG: see [`Picture::new`].";
    TiledCopy: Picture::tiled_copy, "The threads that read and write each element, as SVG: see [`Picture::tiled_copy`].";
    TiledMma: Picture::tiled_mma, "The threads that hold each element of A, B and C, as SVG: see [`Picture::tiled_mma`].";
}
