//! Pictures as SVG.
//!
//! All coordinates are integers. Attributes are on the elements, since a style sheet would change the page around an
//! embedded picture. There are no empty lines, since Markdown would end the picture there.

use super::{Panel, Picture};
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::fmt::{Display, Formatter, Write};

/// The width of a character in cells, in labels and in the title, in tenths of a pixel.
const TEXT_ADVANCE: usize = 67;
const LABEL_ADVANCE: usize = 55;
const TITLE_ADVANCE: usize = 79;

/// The height of a line in cells, in the title and in labels, in pixels.
const TEXT_LINE: usize = 13;
const TITLE_LINE: usize = 18;
const LABEL_LINE: usize = 14;

/// The smallest width of a cell, and the white space around its text and around the picture, in pixels.
const MIN_CELL: usize = 26;
const CELL_PADDING: usize = 10;
const MARGIN: usize = 10;

/// The distance between two grids, in pixels.
const GAP: usize = 14;

/// The smallest width of the title in characters, and the largest number of its lines.
const MIN_TITLE: usize = 44;
const TITLE_LINES: usize = 4;

/// Sizes in pixels that are the same for all grids, so that the grids line up.
struct Metrics {
    cell_width: usize,
    cell_height: usize,
    /// The width of the labels at the left.
    label_width: usize,
    /// The height of the captions and labels at the top.
    label_height: usize,
}

impl Picture {
    /// The picture as an SVG element on a white background. A viewer shows a description of the cell under the pointer.
    pub fn to_svg(&self) -> String {
        let metrics = self.metrics();
        let slots = |slot: fn(&Panel) -> (usize, usize)| {
            // The largest number of cells in each row, or column, of grids.
            let mut extents: Vec<usize> = Vec::new();
            for (index, extent) in self.panels.iter().map(slot) {
                extents.resize(extents.len().max(index + 1), 0);
                extents[index] = extents[index].max(extent);
            }
            extents
        };
        let before = |extents: &[usize], index: usize, cell: usize, label: usize| {
            extents[..index]
                .iter()
                .map(|cells| cells * cell + label + GAP)
                .sum::<usize>()
        };
        let across = slots(|panel| (panel.slot.1, panel.columns));
        let down = slots(|panel| (panel.slot.0, panel.rows));
        let width_to = |index| before(&across, index, metrics.cell_width, metrics.label_width);
        let height_to = |index| before(&down, index, metrics.cell_height, metrics.label_height);
        let content = width_to(across.len()) - GAP;

        let legend = self.color_by.legend();
        let room = (content * 10 / TITLE_ADVANCE).max(MIN_TITLE);
        let title = wrapped(&self.title, room);
        let longest = title.iter().map(|line| line.chars().count()).max();
        let title_width = longest.unwrap_or(0) * TITLE_ADVANCE / 10;
        let legend_width = legend.chars().count() * LABEL_ADVANCE / 10;
        let width = content.max(title_width).max(legend_width) + 2 * MARGIN;
        let top = MARGIN + title.len() * TITLE_LINE + 4;
        let bottom = top + height_to(down.len());
        let height = bottom - GAP + LABEL_LINE + MARGIN + 4;

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
            let x = MARGIN + width_to(panel.slot.1);
            let y = top + height_to(panel.slot.0);
            self.write_panel(&mut svg, panel, &metrics, x, y);
        }
        let y = height - MARGIN;
        let _ = writeln!(
            svg,
            "<text x=\"{MARGIN}\" y=\"{y}\" font-size=\"9\" text-anchor=\"start\" fill=\"#444444\">{legend}</text>"
        );
        svg + "</svg>\n"
    }

    fn metrics(&self) -> Metrics {
        let cells = || self.panels.iter().flat_map(|panel| &panel.cells);
        let lines = cells().map(|cell| self.lines(cell));
        let (mut widest, mut most) = (0, 1);
        for lines in lines {
            most = most.max(lines.len());
            widest = lines.iter().map(String::len).fold(widest, usize::max);
        }
        let rows = self.panels.iter().map(|panel| panel.rows).max();
        let digits = rows.unwrap_or(1).saturating_sub(1).to_string().len();
        let has_captions = self.panels.iter().any(|panel| !panel.caption.is_empty());
        Metrics {
            cell_width: (widest * TEXT_ADVANCE / 10 + CELL_PADDING).max(MIN_CELL),
            cell_height: most * TEXT_LINE + CELL_PADDING,
            label_width: digits * LABEL_ADVANCE / 10 + 6,
            label_height: LABEL_LINE * (1 + usize::from(has_captions)),
        }
    }

    /// Writes a grid. Its caption and labels begin at (x, y), in pixels.
    fn write_panel(&self, svg: &mut String, panel: &Panel, metrics: &Metrics, x: usize, y: usize) {
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
        write(format_args!("<g font-size=\"9\" fill=\"#444444\">"));
        for column in 0..panel.columns {
            let (x, y) = (corner(column, 0).0 + cell_width / 2, top - 4);
            write(format_args!("<text x=\"{x}\" y=\"{y}\">{column}</text>"));
        }
        let label = left - 4;
        for row in 0..panel.rows {
            let y = corner(0, row).1 + cell_height / 2 + 3;
            write(format_args!(
                "<text x=\"{label}\" y=\"{y}\" text-anchor=\"end\">{row}</text>"
            ));
        }
        write(format_args!("</g>"));

        write(format_args!("<g stroke=\"#777777\" stroke-width=\"0.5\">"));
        for (index, fill) in self.fills(panel).into_iter().enumerate() {
            let (x, y) = corner(index % panel.columns, index / panel.columns);
            let fill = fill.map_or("ffffff".to_owned(), |fill| fill.to_string());
            let description = self.description(panel, index);
            let faint = if panel.cells[index].is_faint {
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
            let lines = self.lines(cell);
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
