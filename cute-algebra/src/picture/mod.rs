//! Layouts as pictures: as CuTe's table, as TikZ and as SVG.
//!
//! A [`Picture`] is one or more grids of cells. What is drawn in a cell, and what its colour tells, is decided here;
//! the renderers only place it.

mod color;
mod error;
mod latex;
mod svg;
mod table;
#[cfg(test)]
mod tests;

pub use color::{ColorBy, ParseColorError};
pub use error::PictureError;
pub use table::print_layout;

use crate::composed::ComposedLayout;
use crate::hopper::atoms::{CopySide, MmaOperand, TiledCopy, TiledMma};
use crate::hopper::banks::BANKS;
use crate::layout::Layout;
use crate::swizzle::Swizzle;
use crate::tiling::Tiling;
use crate::tuple::{Coord, IntTuple, Shape, Tuple};
use crate::value::Value;
use color::Rgb;

/// Most cells of a picture: a tile of 256 × 256.
pub const PICTURE_LIMIT: i64 = 1 << 16;

/// Most pairs of thread and value of a picture. Many threads may hold the same cell.
pub const HOLDER_LIMIT: i64 = 1 << 22;

/// A picture of a layout, of who holds what, of tiles, or of a tiled operation.
///
/// The same layout gives the same text every time. Colours are told apart by colour-blind eyes, and everything they
/// tell is also written.
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
pub struct Picture {
    title: String,
    subject: Subject,
    panels: Vec<Panel>,
    color_by: ColorBy,
}

/// What a picture is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Subject {
    /// What a layout gives.
    Values,
    /// What a layout gives, in tiles.
    Tiles,
    /// Which thread holds which element.
    Threads,
}

/// One grid.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Panel {
    caption: &'static str,
    /// Where it is among other grids: row and column.
    slot: (usize, usize),
    rows: usize,
    columns: usize,
    /// Row by row.
    cells: Vec<Cell>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Cell {
    /// What the layout gives here.
    value: IntTuple,
    /// Who has it, if anyone.
    holder: Option<Holder>,
    /// A thick line runs between cells of different groups.
    group: (i64, i64),
}

/// A thread and which of its values, or a tile and the place in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Holder {
    outer: i64,
    inner: i64,
    /// How many more hold the same.
    others: i64,
}

/// A line along the edges of cells, from one (column, row) to another.
#[derive(Clone, Copy)]
struct Line {
    from: (usize, usize),
    to: (usize, usize),
}

impl Picture {
    /// What a layout gives: mode 0 runs down, the other modes to the right; one mode alone is one row. Thick lines part
    /// the outermost coordinates of nested modes.
    ///
    /// A shape stands for its layout with the leftmost mode fastest. A swizzle is drawn in units of the elements that
    /// it keeps together, over the bits that it reads and changes.
    pub fn new(value: impl Into<Value>) -> Result<Self, PictureError> {
        let value = value.into();
        let title = value.to_string();
        let data = drawable(value)?;
        let domain = domain(&data)?;
        let mut panel = Panel::of(&data)?;
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

    /// Which thread holds which element: a layout from (thread, value) to the elements of a tile that is stored as
    /// `data`, by 1-D coordinates of the tile. A shape stands for its layout with the leftmost mode fastest.
    pub fn thread_values(layout_tv: &Layout, data: impl Into<Value>) -> Result<Self, PictureError> {
        let data = drawable(data.into())?;
        let panel = Panel::held(layout_tv, &data, "", (0, 0))?;
        let title = format!("{layout_tv} on {}", domain(&data)?.shape());
        Ok(Self::of_threads(title, vec![panel]))
    }

    /// What a layout gives, with its tiles. Thick lines run between them; of the last tiles of a ragged tiling, only
    /// what is inside is drawn.
    /// ```
    /// use cute_algebra::{ColorBy, Picture, Tiling};
    /// let rows = "Sw<0,0,0> o 0 o (8,8):(8,1)".parse()?;
    /// let picture = Picture::tiling(&Tiling::new(&rows, &"<4:2,(2,2):(1,4)>".parse()?)?)?;
    /// assert!(picture.color_by(ColorBy::Rest)?.to_svg().contains("colour: rest"));
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
            // A coordinate counts, from left to right, what the shape of the whole counts.
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

    /// Which thread reads and which thread writes each element of the tile of a copy.
    pub fn tiled_copy(copy: &TiledCopy) -> Result<Self, PictureError> {
        let tile = drawable(copy.tile_shape().into())?;
        let source = copy.layout_tv(CopySide::Src)?;
        let destination = copy.layout_tv(CopySide::Dst)?;
        let mut panels = vec![Panel::held(&source, &tile, "source", (0, 0))?];
        let other = Panel::held(&destination, &tile, "destination", (0, 1))?;
        if panels[0].cells == other.cells {
            panels[0].caption = "source and destination";
        } else {
            panels.push(other);
        }
        let title = format!("tiled copy of {}", copy.tile_shape());
        Ok(Self::of_threads(title, panels))
    }

    /// Which thread holds each element of A, of B and of C: A to the left of C, and B, transposed, above it.
    pub fn tiled_mma(mma: &TiledMma) -> Result<Self, PictureError> {
        let [m, n, k] = mma.tile_shape();
        let panel = |operand: MmaOperand, caption, slot| {
            let tile: Shape = operand.modes().map(|mode| mma.tile_shape()[mode]).into();
            let layout_tv = mma.layout_tv(operand)?;
            Panel::held(&layout_tv, &drawable(tile.into())?, caption, slot)
        };
        let panels = vec![
            panel(MmaOperand::B, "B transposed", (0, 1))?.transposed(),
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

    /// The same picture in other colours, if it has what they should tell.
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
    fn lines(&self, cell: &Cell) -> Vec<String> {
        match (self.subject, cell.holder) {
            (Subject::Threads, None) => Vec::new(),
            (Subject::Threads, Some(holder)) => {
                let thread = match holder.others {
                    0 => format!("T{}", holder.outer),
                    others => format!("T{}+{others}", holder.outer),
                };
                vec![thread, format!("V{}", holder.inner)]
            }
            (Subject::Values | Subject::Tiles, _) => vec![cell.value.to_string()],
        }
    }

    /// Everything about a cell, in words.
    fn description(&self, panel: &Panel, index: usize) -> String {
        let cell = &panel.cells[index];
        let place = format!("({},{})", index / panel.columns, index % panel.columns);
        match (self.subject, cell.holder) {
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
        }
    }

    /// The colours of the cells; `None` for a cell that nobody holds.
    fn fills(&self, panel: &Panel) -> Vec<Option<Rgb>> {
        let ranked = |key: &dyn Fn(&Cell) -> Option<IntTuple>| {
            let cells = self.panels.iter().flat_map(|panel| &panel.cells);
            let mut known: Vec<_> = cells.filter_map(key).collect();
            known.sort_unstable();
            known.dedup();
            let fill = |cell: &Cell| {
                let rank = known.binary_search(&key(cell)?).ok()?;
                Some(color::ranked(rank, known.len()))
            };
            panel.cells.iter().map(fill).collect()
        };
        let by_holder = |key: fn(Holder) -> i64| {
            let fill = |cell: &Cell| Some(color::cycled(key(cell.holder?)));
            panel.cells.iter().map(fill).collect()
        };
        match (self.color_by, self.subject) {
            (ColorBy::Thread | ColorBy::Tile, _) => by_holder(|holder| holder.outer),
            (ColorBy::Rest, _) => by_holder(|holder| holder.inner),
            (ColorBy::Value, Subject::Threads) => {
                ranked(&|cell| Some(Tuple::Leaf(cell.holder?.inner)))
            }
            (ColorBy::Value, _) => ranked(&|cell| Some(cell.value.clone())),
            (ColorBy::Bank { bits }, _) => {
                let fill = |cell: &Cell| match cell.value {
                    Tuple::Leaf(value) if cell.holder.is_some() => {
                        Some(color::of_bank(bank(value, bits)))
                    }
                    _ => None,
                };
                panel.cells.iter().map(fill).collect()
            }
        }
    }
}

impl Panel {
    /// The cells of a layout, which nobody holds.
    fn of(data: &Value) -> Result<Self, PictureError> {
        let domain = domain(data)?;
        let cells = check_cells(domain.size())?;
        let rows = split(domain)[0].iter().product::<i64>() as usize;
        let columns = cells / rows.max(1);
        let cells = (0..rows)
            .flat_map(|row| (0..columns).map(move |column| row + column * rows))
            .map(|index| {
                Ok(Cell {
                    value: value_at(data, index as i64)?,
                    holder: None,
                    group: (0, 0),
                })
            })
            .collect::<Result<Vec<_>, PictureError>>()?;
        Ok(Self {
            caption: "",
            slot: (0, 0),
            rows,
            columns,
            cells,
        })
    }

    /// The cells of a tile, held by threads.
    fn held(
        layout_tv: &Layout,
        data: &Value,
        caption: &'static str,
        slot: (usize, usize),
    ) -> Result<Self, PictureError> {
        let mut panel = Self {
            caption,
            slot,
            ..Self::of(data)?
        };
        layout_tv.require_integral(0)?;
        if layout_tv.rank() != 2 {
            let found = layout_tv.rank();
            return Err(PictureError::Rank { found });
        }
        let pairs = check_holders(layout_tv)?;
        let threads = layout_tv.mode(0).map_or(1, |mode| mode.size());
        let held = (0..pairs).zip(layout_tv.values());
        panel.hold(held.map(|(pair, element)| (pair % threads, pair / threads, element)))?;
        Ok(panel)
    }

    /// Notes who holds each cell: (outer, inner, element).
    fn hold(&mut self, held: impl Iterator<Item = (i64, i64, i64)>) -> Result<(), PictureError> {
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
            // Elements are counted down the columns.
            let (row, column) = (index % self.rows, index / self.rows);
            match &mut self.cells[row * self.columns + column].holder {
                Some(holder) => holder.others += 1,
                none => {
                    *none = Some(Holder {
                        outer,
                        inner,
                        others: 0,
                    })
                }
            }
        }
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

    /// The lines between different groups, and around all.
    fn lines(&self) -> Vec<Line> {
        let group = |row: usize, column: usize| {
            let is_inside = row < self.rows && column < self.columns;
            is_inside.then(|| self.cells[row * self.columns + column].group)
        };
        // Along an edge, which parts of it are between two groups.
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

/// What can be drawn: a layout, with or without a swizzle.
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

/// A swizzle over the bits that it touches: the upper field down, the lower field with the bits between to the right.
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

/// The layout that says which coordinates there are.
fn domain(data: &Value) -> Result<&Layout, PictureError> {
    match data {
        Value::Layout(layout) => Ok(layout),
        Value::Composed(composed) => Ok(composed.layout()),
        _ => Err(PictureError::Kind { found: data.kind() }),
    }
}

fn value_at(data: &Value, index: i64) -> Result<IntTuple, PictureError> {
    let coord: Coord = Tuple::Leaf(Some(index));
    match data {
        Value::Layout(layout) => Ok(layout.crd2idx(&coord)?),
        Value::Composed(composed) => Ok(Tuple::Leaf(composed.crd2idx(&coord)?)),
        _ => Err(PictureError::Kind { found: data.kind() }),
    }
}

/// The extents of the leaves that run down and of those that run to the right.
fn split(layout: &Layout) -> [Vec<i64>; 2] {
    let leaves = |modes: &[Shape]| {
        modes
            .iter()
            .flat_map(|mode| mode.leaves().copied())
            .collect::<Vec<i64>>()
    };
    match layout.shape().modes() {
        [first, rest @ ..] if !rest.is_empty() => {
            [leaves(std::slice::from_ref(first)), leaves(rest)]
        }
        modes => [Vec::new(), leaves(modes)],
    }
}

/// How many neighbours share a coordinate in the outermost of several leaves; all, where there is one leaf.
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

/// Number of pairs of (thread, value) or of (place, tile).
fn check_holders(layout: &Layout) -> Result<i64, PictureError> {
    match layout.size() {
        pairs if pairs <= HOLDER_LIMIT => Ok(pairs),
        pairs => Err(PictureError::Holders {
            pairs,
            limit: HOLDER_LIMIT,
        }),
    }
}

/// The bank that an element begins in.
fn bank(index: i64, bits: u32) -> i64 {
    let word = (i128::from(index) * i128::from(bits)).div_euclid(32);
    word.rem_euclid(i128::from(BANKS)) as i64
}

/// `to_svg` for what has a picture.
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
    Swizzle: |swizzle: &Swizzle| Picture::new(*swizzle), "What it makes of the units that it permutes, as SVG: see [`Picture::new`].";
    TiledCopy: Picture::tiled_copy, "Who copies what, as SVG: see [`Picture::tiled_copy`].";
    TiledMma: Picture::tiled_mma, "Who holds what, as SVG: see [`Picture::tiled_mma`].";
}
