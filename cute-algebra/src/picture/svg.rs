//! Pictures as SVG.
//!
//! All coordinates are integers. Attributes are on the elements, since a style sheet would change the page around an
//! embedded picture. There are no empty lines, since Markdown would end the picture there.

use super::legend::{Colors, Legend};
use super::{Panel, Picture};
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::fmt::{Display, Formatter, Write};

/// The width of a character in text, in the numbers of rows and columns, and in the title, in tenths of a pixel. Some viewers
/// round it to whole pixels.
const TEXT_ADVANCE: usize = 70;
const LABEL_ADVANCE: usize = 60;
const TITLE_ADVANCE: usize = 80;

/// The height of a line in cells, in the title and elsewhere, in pixels.
const TEXT_LINE: usize = 13;
const TITLE_LINE: usize = 18;
const LABEL_LINE: usize = 14;

/// The smallest width of a cell, and the white space around its text and around the picture, in pixels.
const MIN_CELL: usize = 26;
const CELL_PADDING: usize = 10;
const MARGIN: usize = 10;

/// The distance between two grids, in pixels.
const GAP: usize = 14;

/// The height of a swatch and the distance between two, in pixels, and how many a row may have in a narrow picture.
const SWATCH: usize = 16;
const SWATCH_GAP: usize = 4;
const MIN_SWATCHES: usize = 8;

/// The smallest width of the title in characters, and the largest number of its lines.
const MIN_TITLE: usize = 44;
const TITLE_LINES: usize = 4;

/// Sizes in pixels that are the same for all grids, so that the grids line up.
struct Metrics {
    cell_width: usize,
    cell_height: usize,
    /// The width of the name and of the numbers at the left.
    label_width: usize,
    /// The height of the caption, of the name and of the numbers at the top.
    label_height: usize,
}

impl Metrics {
    /// The width and the height of a grid with its labels.
    fn extent(&self, panel: &Panel) -> (usize, usize) {
        let down = panel.axes.down.as_deref().unwrap_or("");
        let columns = panel.columns * self.cell_width;
        let rows = panel.rows * self.cell_height;
        (
            self.label_width + columns.max(text_width(&panel.axes.across)),
            self.label_height + rows.max(text_width(down)),
        )
    }
}

impl Picture {
    /// The picture as an SVG element on a white background. A viewer shows a description of the cell under the pointer.
    pub fn to_svg(&self) -> String {
        let metrics = self.metrics();
        let colors = self.colors();
        let slots = |slot: &dyn Fn(&Panel) -> (usize, usize)| {
            // The largest extent in each row, or column, of grids.
            let mut extents: Vec<usize> = Vec::new();
            for (index, extent) in self.panels.iter().map(slot) {
                extents.resize(extents.len().max(index + 1), 0);
                extents[index] = extents[index].max(extent);
            }
            extents
        };
        let across = slots(&|panel| (panel.slot.1, metrics.extent(panel).0));
        let down = slots(&|panel| (panel.slot.0, metrics.extent(panel).1));
        let before = |extents: &[usize]| extents.iter().map(|extent| extent + GAP).sum::<usize>();
        let content = before(&across) - GAP;

        let room = (content * 10 / TITLE_ADVANCE).max(MIN_TITLE);
        let title = wrapped(&self.title, room);
        let longest = title.iter().map(|line| line.chars().count()).max();
        let title_width = longest.unwrap_or(0) * TITLE_ADVANCE / 10;
        let legend = Rows::new(colors.legend(), content);
        let width = content.max(title_width).max(legend.width()) + 2 * MARGIN;
        let top = MARGIN + title.len() * TITLE_LINE + 4;
        let bottom = top + before(&down);
        let height = bottom + legend.height() + MARGIN;

        let mut svg = String::new();
        let mut write = |line: core::fmt::Arguments<'_>| {
            let _ = writeln!(svg, "{line}");
        };
        write(format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{}\" \
             font-family=\"DejaVu Sans Mono, Menlo, Consolas, monospace\" text-anchor=\"middle\">",
            Escaped(&self.title)
        ));
        write(format_args!(
            "<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>"
        ));
        write(format_args!(
            "<g font-size=\"13\" text-anchor=\"start\" fill=\"#000000\">"
        ));
        for (line, text) in title.iter().enumerate() {
            let y = MARGIN + line * TITLE_LINE + 12;
            write(format_args!(
                "<text x=\"{MARGIN}\" y=\"{y}\">{}</text>",
                Escaped(text)
            ));
        }
        write(format_args!("</g>"));
        for panel in &self.panels {
            let x = MARGIN + before(&across[..panel.slot.1]);
            let y = top + before(&down[..panel.slot.0]);
            self.write_panel(&mut svg, panel, &colors, &metrics, x, y);
        }
        legend.write(&mut svg, bottom);
        svg + "</svg>\n"
    }

    fn metrics(&self) -> Metrics {
        let (mut widest, mut most) = (0, 1);
        for panel in &self.panels {
            for lines in panel.cells.iter().map(|cell| self.lines(panel, cell)) {
                most = most.max(lines.len());
                widest = lines.iter().map(String::len).fold(widest, usize::max);
            }
        }
        let rows = self.panels.iter().map(|panel| panel.rows).max();
        let digits = rows.unwrap_or(1).saturating_sub(1).to_string().len();
        let has_rows = self.panels.iter().any(|panel| panel.axes.down.is_some());
        let has_captions = self.panels.iter().any(|panel| !panel.caption.is_empty());
        Metrics {
            cell_width: (widest * TEXT_ADVANCE / 10 + CELL_PADDING).max(MIN_CELL),
            cell_height: most * TEXT_LINE + CELL_PADDING,
            label_width: match has_rows {
                true => LABEL_LINE + digits * LABEL_ADVANCE / 10 + 6,
                false => 1,
            },
            label_height: LABEL_LINE * (2 + usize::from(has_captions)),
        }
    }

    /// Writes a grid. Its caption and labels begin at (x, y), in pixels.
    fn write_panel(
        &self,
        svg: &mut String,
        panel: &Panel,
        colors: &Colors<'_>,
        metrics: &Metrics,
        x: usize,
        y: usize,
    ) {
        let Metrics {
            cell_width,
            cell_height,
            label_width,
            label_height,
        } = *metrics;
        let (left, top) = (x + label_width, y + label_height);
        let corner =
            |column: usize, row: usize| (left + column * cell_width, top + row * cell_height);
        let mut write = |line: core::fmt::Arguments<'_>| {
            let _ = writeln!(svg, "{line}");
        };
        if !panel.caption.is_empty() {
            let y = y + 10;
            write(format_args!(
                "<text x=\"{left}\" y=\"{y}\" font-size=\"11\" font-weight=\"bold\" text-anchor=\"start\">{}</text>",
                panel.caption
            ));
        }
        write(format_args!("<g font-size=\"11\" fill=\"#444444\">"));
        let line = top - LABEL_LINE - 4;
        write(format_args!(
            "<text x=\"{left}\" y=\"{line}\" text-anchor=\"start\">{}</text>",
            panel.axes.across
        ));
        if let Some(down) = &panel.axes.down {
            let x = x + 9;
            write(format_args!(
                "<text x=\"{x}\" y=\"{top}\" text-anchor=\"end\" transform=\"rotate(-90 {x} {top})\">{down}</text>"
            ));
        }
        write(format_args!("</g>"));
        write(format_args!("<g font-size=\"9\" fill=\"#444444\">"));
        for column in 0..panel.columns {
            let (x, y) = (corner(column, 0).0 + cell_width / 2, top - 4);
            write(format_args!("<text x=\"{x}\" y=\"{y}\">{column}</text>"));
        }
        let label = left - 4;
        let rows = panel.axes.down.as_ref().map_or(0, |_| panel.rows);
        for row in 0..rows {
            let y = corner(0, row).1 + cell_height / 2 + 3;
            write(format_args!(
                "<text x=\"{label}\" y=\"{y}\" text-anchor=\"end\">{row}</text>"
            ));
        }
        write(format_args!("</g>"));

        write(format_args!("<g stroke=\"#777777\" stroke-width=\"0.5\">"));
        for (index, cell) in panel.cells.iter().enumerate() {
            let (x, y) = corner(index % panel.columns, index / panel.columns);
            let fill = colors.fill(cell);
            let fill = fill.map_or("ffffff".to_owned(), |fill| fill.to_string());
            let description = self.description(panel, index);
            let faint = if cell.is_faint {
                " fill-opacity=\"0.15\""
            } else {
                ""
            };
            write(format_args!(
                "<rect x=\"{x}\" y=\"{y}\" width=\"{cell_width}\" height=\"{cell_height}\" \
                 fill=\"#{fill}\"{faint}><title>{description}</title></rect>"
            ));
        }
        write(format_args!("</g>"));

        write(format_args!(
            "<g font-size=\"11\" fill=\"#000000\" pointer-events=\"none\">"
        ));
        for (index, cell) in panel.cells.iter().enumerate() {
            let (x, y) = corner(index % panel.columns, index / panel.columns);
            let lines = self.lines(panel, cell);
            let x = x + cell_width / 2;
            let first = y + (cell_height - lines.len() * TEXT_LINE) / 2 + 10;
            for (line, text) in lines.iter().enumerate() {
                let y = first + line * TEXT_LINE;
                let faint = if cell.is_faint {
                    " opacity=\"0.35\""
                } else {
                    ""
                };
                write(format_args!(
                    "<text x=\"{x}\" y=\"{y}\"{faint}>{text}</text>"
                ));
            }
        }
        write(format_args!("</g>"));

        let mut path = String::new();
        for line in panel.lines() {
            let (from, to) = (
                corner(line.from.0, line.from.1),
                corner(line.to.0, line.to.1),
            );
            let _ = write!(path, "M{} {}L{} {}", from.0, from.1, to.0, to.1);
        }
        write(format_args!(
            "<path d=\"{path}\" fill=\"none\" stroke=\"#000000\" stroke-width=\"2\" stroke-linecap=\"square\" \
             pointer-events=\"none\"/>"
        ));
    }
}

/// A legend whose swatches are in rows of equal length.
struct Rows {
    legend: Legend,
    swatch_width: usize,
    /// The number of swatches in a row.
    row: usize,
}

impl Rows {
    /// The rows of a legend under grids that have this width.
    fn new(legend: Legend, content: usize) -> Self {
        let swatches = legend.swatches.iter().flatten();
        let widest = swatches.map(|swatch| text_width(&swatch.text)).max();
        let swatch_width = (widest.unwrap_or(0) + CELL_PADDING).max(MIN_CELL);
        Self {
            legend,
            swatch_width,
            row: ((content + SWATCH_GAP) / (swatch_width + SWATCH_GAP)).max(MIN_SWATCHES),
        }
    }

    fn width(&self) -> usize {
        let Legend {
            heading,
            swatches,
            notes,
        } = &self.legend;
        let texts = notes.iter().chain([heading]).map(|text| text_width(text));
        let row = swatches.len().min(self.row);
        texts.fold(row * (self.swatch_width + SWATCH_GAP), usize::max)
    }

    fn height(&self) -> usize {
        let rows = self.legend.swatches.len().div_ceil(self.row);
        (1 + self.legend.notes.len()) * LABEL_LINE + rows * (SWATCH + SWATCH_GAP)
    }

    /// Writes the legend, which begins at y, in pixels.
    fn write(&self, svg: &mut String, y: usize) {
        let Legend {
            heading,
            swatches,
            notes,
        } = &self.legend;
        let mut write = |line: core::fmt::Arguments<'_>| {
            let _ = writeln!(svg, "{line}");
        };
        write(format_args!("<g font-size=\"11\" fill=\"#000000\">"));
        let mut text = |y: usize, text: &str| {
            write(format_args!(
                "<text x=\"{MARGIN}\" y=\"{y}\" text-anchor=\"start\">{text}</text>"
            ));
        };
        text(y + 8, heading);
        let first = y + self.height() - notes.len() * LABEL_LINE;
        for (line, note) in notes.iter().enumerate() {
            text(first + line * LABEL_LINE + 8, note);
        }
        for (index, swatch) in swatches.iter().enumerate() {
            let (row, column) = (index / self.row, index % self.row);
            let width = self.swatch_width;
            let x = MARGIN + column * (width + SWATCH_GAP);
            let y = y + LABEL_LINE + row * (SWATCH + SWATCH_GAP);
            let text = match swatch {
                Some(swatch) => {
                    let fill = swatch.fill;
                    write(format_args!(
                        "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{SWATCH}\" \
                         fill=\"#{fill}\" stroke=\"#777777\" stroke-width=\"0.5\"/>"
                    ));
                    &swatch.text
                }
                None => "…",
            };
            let (x, y) = (x + width / 2, y + 12);
            write(format_args!("<text x=\"{x}\" y=\"{y}\">{text}</text>"));
        }
        write(format_args!("</g>"));
    }
}

/// The width of text of the usual size in pixels.
fn text_width(text: &str) -> usize {
    text.chars().count() * TEXT_ADVANCE / 10
}

/// The title in lines of at most `room` characters. It ends with an ellipsis if it would have too many lines.
fn wrapped(title: &str, room: usize) -> Vec<String> {
    let characters: Vec<char> = title.chars().collect();
    let mut lines: Vec<String> = characters
        .chunks(room)
        .map(|line| line.iter().collect())
        .collect();
    if lines.len() > TITLE_LINES {
        lines.truncate(TITLE_LINES);
        if let Some(last) = lines.last_mut() {
            last.pop();
            last.push('…');
        }
    }
    lines
}

/// Text with XML's special characters escaped.
struct Escaped<'a>(&'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> core::fmt::Result {
        self.0.chars().try_for_each(|character| match character {
            '&' => f.write_str("&amp;"),
            '<' => f.write_str("&lt;"),
            '>' => f.write_str("&gt;"),
            '"' => f.write_str("&quot;"),
            // XML cannot represent most control characters.
            control if control.is_control() => f.write_char(' '),
            other => f.write_char(other),
        })
    }
}
