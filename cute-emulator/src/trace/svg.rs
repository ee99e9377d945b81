//! A trace as a picture: steps run to the right, and each warp, barrier and copy has a row.
//!
//! All coordinates are whole pixels, so that equal traces give equal files. Attributes are on the elements, since a style sheet would
//! change the page around an embedded picture.

use super::{Event, Slice, Trace};
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter, Write};

/// The most rows of a picture.
const MOST_ROWS: usize = 24;

/// Sizes in pixels.
const WIDTH: usize = 900;
const MARGIN: usize = 10;
const ROW: usize = 20;
const BAR: usize = 16;
const LEGEND: usize = 22;
const HEADING: usize = 18;
/// Below the rows: the ticks with their numbers, and the name of the axis.
const AXIS: usize = 34;
/// The name of the axis of rows.
const ROWS: &str = "warp, barrier or copy";
/// The width of a character.
const ADVANCE: usize = 6;
/// The most characters of a row's label.
const LABEL: usize = 30;
/// The fewest characters of a name that is cut.
const LEAST: usize = 6;
/// The most ticks.
const TICKS: u64 = 10;

/// The names of CTAs, and of their rows.
type Names<'a> = BTreeMap<(u64, Option<u64>), &'a str>;

/// A row of the picture.
struct Row<'a> {
    cta: u64,
    label: String,
    /// In the order of time; they do not overlap.
    slices: Vec<&'a Slice>,
}

/// How a slice is painted, and what the legend says of it.
const PAINTS: [(&str, &str); 4] = [
    ("fill=\"#99ddff\" stroke=\"#4477aa\"", "turn of a warp"),
    (
        "fill=\"#ffffff\" stroke=\"#777777\" stroke-dasharray=\"3 2\"",
        "wait",
    ),
    (
        "fill=\"#eedd88\" stroke=\"#998822\"",
        "phase of an mbarrier",
    ),
    (
        "fill=\"#ffaabb\" stroke=\"#aa4466\"",
        "copy or wgmma, until it is performed",
    ),
];

impl Trace {
    /// The trace as an SVG element, 900 pixels wide, on a white background. Time, in steps, runs to the right. There is a row for each
    /// warp, with its turns and its waits; for each mbarrier, with its phases; and for copies and wgmma instructions, which share a
    /// row unless they overlap. A viewer shows the steps and the source location of the slice under the pointer.
    ///
    /// Equal traces give equal pictures. A picture has at most 24 rows, those of the first CTAs; a sentence in it says how many are
    /// left out. Where several slices would be in one pixel of a row, the first one is drawn. `Display` writes all rows and slices.
    pub fn to_svg(&self) -> String {
        let names: Names<'_> = (self.names.iter())
            .map(|name| ((name.cta, name.row), name.name.as_str()))
            .collect();
        let mut rows = self.rows(&names);
        let left_out = rows.len().saturating_sub(MOST_ROWS);
        rows.truncate(MOST_ROWS);
        let notes = self.notes(left_out);

        let several = rows.iter().any(|row| row.cta != rows[0].cta);
        let labels = rows.iter().map(|row| row.label.chars().count());
        let left = MARGIN + labels.max().unwrap_or(0).max(ROWS.len()) * ADVANCE + 8;
        let right = WIDTH - MARGIN;
        let steps = rows
            .iter()
            .flat_map(|row| &row.slices)
            .map(|slice| slice.end)
            .max();
        let scale = Scale {
            left,
            right,
            steps: steps.unwrap_or(0).max(1),
        };

        let top = MARGIN + LEGEND;
        let mut y = top;
        let mut body = String::new();
        let mut cta = None;
        for row in &rows {
            if several && cta != Some(row.cta) {
                let (x, base) = (MARGIN, y + 12);
                let name = names.get(&(row.cta, None)).unwrap_or(&"");
                line(
                    &mut body,
                    format_args!(
                        r#"<text x="{x}" y="{base}" font-weight="bold">{}</text>"#,
                        Escaped(name)
                    ),
                );
                y += HEADING;
            }
            cta = Some(row.cta);
            row.write(&mut body, &scale, y);
            y += ROW;
        }
        let height = y + AXIS + notes.len() * HEADING + MARGIN;

        let mut svg = String::new();
        line(
            &mut svg,
            format_args!(
                r#"<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="Timeline of warps, barriers and copies" font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="10">"#
            ),
        );
        line(
            &mut svg,
            format_args!(r##"<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>"##),
        );
        write_legend(&mut svg, left);
        scale.write(&mut svg, top, y);
        svg += &body;
        for (index, note) in notes.iter().enumerate() {
            let base = y + AXIS + index * HEADING + 12;
            line(
                &mut svg,
                format_args!(r#"<text x="{MARGIN}" y="{base}">{note}</text>"#),
            );
        }
        svg + "</svg>\n"
    }

    /// All rows, CTA by CTA: warps, mbarriers, and work that is under way.
    fn rows(&self, names: &Names<'_>) -> Vec<Row<'_>> {
        let mut in_rows: BTreeMap<(u64, u64), Vec<&Slice>> = BTreeMap::new();
        let mut under_way: BTreeMap<(u64, &str), Vec<&Slice>> = BTreeMap::new();
        for slice in &self.slices {
            match slice.event {
                Event::Turn(row) | Event::Wait(row) | Event::Phase(row) => {
                    in_rows.entry((slice.cta, row)).or_default().push(slice);
                }
                Event::UnderWay(kind) => {
                    under_way.entry((slice.cta, kind)).or_default().push(slice)
                }
            }
        }
        let mut rows = Vec::new();
        for ((cta, row), mut slices) in in_rows {
            slices.sort_by_key(|slice| (slice.start, slice.end));
            let label = short(names.get(&(cta, Some(row))).unwrap_or(&""), LABEL);
            rows.push(Row { cta, label, slices });
        }
        for ((cta, kind), slices) in under_way {
            for (index, slices) in apart(slices).into_iter().enumerate() {
                let label = match index {
                    0 => kind.to_owned(),
                    _ => format!("{kind} ({})", index + 1),
                };
                rows.push(Row { cta, label, slices });
            }
        }
        // A stable sort: the rows of a CTA stay in this order.
        rows.sort_by_key(|row| row.cta);
        rows
    }

    /// What is missing in the picture.
    fn notes(&self, left_out: usize) -> Vec<String> {
        let mut notes = Vec::new();
        if left_out > 0 {
            notes.push(format!(
                "{left_out} more rows are not drawn: a picture has at most {MOST_ROWS}."
            ));
        }
        if self.lost > 0 {
            notes.push(format!(
                "{} later slices are not recorded: a trace has at most {}.",
                self.lost,
                self.slices.len()
            ));
        }
        notes
    }
}

/// Slices in as few rows as need be, so that none overlaps another of its row.
fn apart(mut slices: Vec<&Slice>) -> Vec<Vec<&Slice>> {
    slices.sort_by_key(|slice| (slice.start, slice.end));
    let mut rows: Vec<Vec<&Slice>> = Vec::new();
    for slice in slices {
        let is_free =
            |row: &&mut Vec<&Slice>| row.last().is_none_or(|last| last.end <= slice.start);
        match rows.iter_mut().find(is_free) {
            Some(row) => row.push(slice),
            None => rows.push(vec![slice]),
        }
    }
    rows
}

impl Row<'_> {
    /// Writes the label and the slices. The row begins at `y`.
    fn write(&self, svg: &mut String, scale: &Scale, y: usize) {
        let (label, base) = (scale.left - 6, y + 12);
        line(
            svg,
            format_args!(
                r#"<text x="{label}" y="{base}" text-anchor="end">{}</text>"#,
                Escaped(&self.label)
            ),
        );
        // Pixels before this one are taken.
        let mut free = scale.left;
        for slice in &self.slices {
            let x = scale.pixel(slice.start).max(free);
            let end = scale.pixel(slice.end).max(scale.pixel(slice.start) + 1);
            if x >= end {
                continue;
            }
            free = end;
            let width = end - x;
            let paint = PAINTS[paint(slice.event)].0;
            let Slice {
                name,
                start,
                end,
                place,
                ..
            } = slice;
            let from = if place.is_empty() {
                String::new()
            } else {
                format!(", {place}")
            };
            let title = format!("{name}, steps {start} to {end}{from}");
            line(
                svg,
                format_args!(
                    r#"<rect x="{x}" y="{y}" width="{width}" height="{BAR}" {paint}><title>{}</title></rect>"#,
                    Escaped(&title)
                ),
            );
            let text = match slice.event {
                Event::Wait(_) => name
                    .trim_start_matches("waits: ")
                    .trim_start_matches("mbarrier "),
                _ => name,
            };
            let room = width.saturating_sub(4) / ADVANCE;
            // A few characters of a longer name say nothing.
            if text.chars().count() <= room || room >= LEAST {
                let (x, text) = (x + 3, short(text, room));
                line(
                    svg,
                    format_args!(
                        r#"<text x="{x}" y="{base}" pointer-events="none">{}</text>"#,
                        Escaped(&text)
                    ),
                );
            }
        }
    }
}

/// The index in [`PAINTS`].
fn paint(event: Event) -> usize {
    match event {
        Event::Turn(_) => 0,
        Event::Wait(_) => 1,
        Event::Phase(_) => 2,
        Event::UnderWay(_) => 3,
    }
}

/// The axis of time.
struct Scale {
    /// The pixel of step 0.
    left: usize,
    /// The pixel of the last step.
    right: usize,
    /// The last step.
    steps: u64,
}

impl Scale {
    fn pixel(&self, step: u64) -> usize {
        let width = (self.right - self.left) as u128;
        self.left + (u128::from(step) * width / u128::from(self.steps)) as usize
    }

    /// Writes the axis below `bottom`, with a line from `top` at each tick.
    fn write(&self, svg: &mut String, top: usize, bottom: usize) {
        let wide = |between: &u64| self.steps / between < TICKS;
        let tens = (0..20).map(|power| 10u64.pow(power));
        let between = tens
            .flat_map(|ten| [ten, 2 * ten, 5 * ten])
            .find(wide)
            .unwrap_or(self.steps);
        let base = bottom + 12;
        for step in (0..=self.steps / between).map(|tick| tick * between) {
            let x = self.pixel(step);
            line(
                svg,
                format_args!(r##"<path d="M{x} {top}V{bottom}" stroke="#dddddd"/>"##),
            );
            line(
                svg,
                format_args!(r#"<text x="{x}" y="{base}" text-anchor="middle">{step}</text>"#),
            );
        }
        let (x, base) = (self.left.midpoint(self.right), bottom + 26);
        line(
            svg,
            format_args!(
                r#"<text x="{x}" y="{base}" text-anchor="middle">time in steps: instructions of any warp</text>"#
            ),
        );
    }
}

fn write_legend(svg: &mut String, left: usize) {
    let base = MARGIN + 11;
    let mut x = left;
    line(
        svg,
        format_args!(r#"<text x="{MARGIN}" y="{base}">{ROWS}</text>"#),
    );
    for (paint, says) in PAINTS {
        line(
            svg,
            format_args!(r#"<rect x="{x}" y="{MARGIN}" width="20" height="14" {paint}/>"#),
        );
        let text = x + 26;
        line(
            svg,
            format_args!(r#"<text x="{text}" y="{base}">{says}</text>"#),
        );
        x = text + (says.len() + 3) * ADVANCE;
    }
}

fn line(svg: &mut String, text: fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _ = writeln!(svg, "{text}");
}

/// The text, cut to this many characters.
fn short(text: &str, room: usize) -> String {
    if text.chars().count() <= room {
        return text.to_owned();
    }
    let kept: String = text.chars().take(room.saturating_sub(1)).collect();
    kept + "…"
}

/// Text with XML's special characters escaped.
struct Escaped<'a>(&'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|character| match character {
            '&' => f.write_str("&amp;"),
            '<' => f.write_str("&lt;"),
            '>' => f.write_str("&gt;"),
            '"' => f.write_str("&quot;"),
            control if control.is_control() => f.write_char(' '),
            other => f.write_char(other),
        })
    }
}
