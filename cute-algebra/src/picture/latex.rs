//! Pictures as LaTeX documents with TikZ.

use super::legend::{Legend, Swatch};
use super::{Panel, Picture};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::fmt::{Display, Formatter, Write};

/// The width of a character, the height of a line in a cell, and the white space around the text, in hundredths of a
/// millimetre.
const ADVANCE: usize = 165;
const LINE: usize = 320;
const PADDING: usize = 280;

/// The smallest width of a cell, in hundredths of a millimetre.
const MIN_CELL: usize = 700;

/// The distance between two grids, in cells.
const GAP: usize = 2;

const PREAMBLE: &str = r"\documentclass[tikz,border=2mm]{standalone}
\newcommand{\cell}[4]{\node[cell,fill=#3] at (#1.5,#2.5) {#4};}
";

impl Picture {
    /// The picture as a LaTeX document that needs the packages `standalone` and `tikz`.
    pub fn to_latex(&self) -> String {
        let (mut widest, mut most) = (0, 1);
        for panel in &self.panels {
            for lines in panel.cells.iter().map(|cell| self.lines(panel, cell)) {
                most = most.max(lines.len());
                widest = lines.iter().map(String::len).fold(widest, usize::max);
            }
        }
        let width = (widest * ADVANCE + PADDING).max(MIN_CELL);
        let height = most * LINE + PADDING;
        let colors = self.colors();
        let legend = colors.legend();
        let cells = self.panels.iter().flat_map(|panel| &panel.cells);
        let swatches = legend.swatches.iter().flatten().map(|swatch| swatch.fill);
        let mut fills: Vec<_> = cells
            .filter_map(|cell| colors.fill(cell))
            .chain(swatches)
            .collect();
        fills.sort_unstable();
        fills.dedup();

        let mut tex = String::from(PREAMBLE);
        for fill in &fills {
            let name = fill.to_string().to_uppercase();
            let _ = writeln!(tex, "\\definecolor{{c{fill}}}{{HTML}}{{{name}}}");
        }
        let _ = write!(
            tex,
            "\\begin{{document}}\\frenchspacing\n\
             \\begin{{tikzpicture}}[x={x}mm,y=-{y}mm,font=\\ttfamily\\footnotesize,line cap=rect,\n  \
             cell/.style={{draw=gray,line width=0.2pt,inner sep=0pt,minimum width={x}mm,minimum height={y}mm,align=center}},\n  \
             label/.style={{gray!50!black,font=\\ttfamily\\tiny}}]\n",
            x = Millimetres(width),
            y = Millimetres(height),
        );
        for panel in &self.panels {
            let (x, y) = self.corner(panel);
            let _ = writeln!(tex, "\\begin{{scope}}[shift={{({x},{y})}}]");
            for column in 0..panel.columns {
                let _ = writeln!(tex, "\\node[label,above] at ({column}.5,0) {{{column}}};");
            }
            let across = &panel.axes.across;
            let _ = writeln!(
                tex,
                "\\node[label,above right,inner xsep=0pt,yshift=2.5mm] at (0,0) {{{}}};",
                Escaped(across)
            );
            if let Some(down) = &panel.axes.down {
                let _ = writeln!(
                    tex,
                    "\\node[label,rotate=90,anchor=south east,inner xsep=0pt] at ([xshift=-5mm]0,0) {{{}}};",
                    Escaped(down)
                );
            }
            let rows = panel.axes.down.as_ref().map_or(0, |_| panel.rows);
            for row in 0..rows {
                let _ = writeln!(tex, "\\node[label,left] at (0,{row}.5) {{{row}}};");
            }
            for (index, cell) in panel.cells.iter().enumerate() {
                let (row, column) = (index / panel.columns, index % panel.columns);
                let fill = colors.fill(cell);
                let fill = fill.map_or("white".to_owned(), |fill| format!("c{fill}"));
                let text = self.lines(panel, cell).join("\\\\");
                let (fill, text) = match cell.is_faint {
                    true => (format!("{fill}!15"), format!("\\color{{gray}}{text}")),
                    false => (fill, text),
                };
                let _ = writeln!(tex, "\\cell{{{column}}}{{{row}}}{{{fill}}}{{{text}}}");
            }
            for line in panel.lines() {
                let ((x, y), (to_x, to_y)) = (line.from, line.to);
                let _ = writeln!(tex, "\\draw[line width=1pt] ({x},{y}) -- ({to_x},{to_y});");
            }
            if !panel.caption.is_empty() {
                let caption = panel.caption;
                let _ = writeln!(
                    tex,
                    "\\node[above right,inner xsep=0pt,yshift=5mm] at (0,0) {{\\textbf{{{caption}}}}};"
                );
            }
            tex.push_str("\\end{scope}\n");
        }
        let _ = write!(
            tex,
            "\\node[above right,font=\\ttfamily,inner xsep=0pt] at ([yshift=1mm]current bounding box.north west) {{{}}};\n\
             \\node[below right,font=\\ttfamily\\tiny,inner xsep=0pt,align=left] at (current bounding box.south west) {{{}}};\n\
             \\end{{tikzpicture}}\n\\end{{document}}\n",
            Escaped(&self.title),
            lines_of(&legend),
        );
        tex
    }

    /// The column and row at which the cells of a grid begin: after the grids in the slots before it.
    fn corner(&self, panel: &Panel) -> (usize, usize) {
        let before = |slot: fn(&Panel) -> (usize, usize)| {
            let (own, _) = slot(panel);
            let widest = |index| {
                let at = self.panels.iter().map(slot).filter(|&(at, _)| at == index);
                at.map(|(_, extent)| extent).max().unwrap_or(0)
            };
            (0..own).map(|index| widest(index) + GAP).sum()
        };
        (
            before(|panel| (panel.slot.1, panel.columns)),
            before(|panel| (panel.slot.0, panel.rows)),
        )
    }
}

/// The lines of a legend: its heading, its swatches and its notes.
fn lines_of(legend: &Legend) -> String {
    let swatches = legend.swatches.iter().map(|swatch| match swatch {
        Some(Swatch { fill, text }) => format!("\\colorbox{{c{fill}}}{{\\strut {text}}}"),
        None => "\\ldots".to_owned(),
    });
    let swatches: Vec<_> = swatches.collect();
    let mut lines = format!("{}\\\\{}", Escaped(&legend.heading), swatches.join(" "));
    for note in &legend.notes {
        let _ = write!(lines, "\\\\{}", Escaped(note));
    }
    lines
}

/// A length in hundredths of a millimetre, written in millimetres.
struct Millimetres(usize);

impl Display for Millimetres {
    fn fmt(&self, f: &mut Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}.{:02}", self.0 / 100, self.0 % 100)
    }
}

/// Text with LaTeX's special characters escaped.
struct Escaped<'a>(&'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> core::fmt::Result {
        self.0.chars().try_for_each(|character| match character {
            '#' | '$' | '%' | '&' | '_' | '{' | '}' => write!(f, "\\{character}"),
            '\\' => f.write_str("\\textbackslash{}"),
            '~' => f.write_str("\\textasciitilde{}"),
            '^' => f.write_str("\\textasciicircum{}"),
            '…' => f.write_str("\\ldots{}"),
            control if control.is_control() => f.write_char(' '),
            other => f.write_char(other),
        })
    }
}
