//! The report of the rows: means, and a plot.

use std::fmt::Write;

use crate::row::{Measured, Row, WRONG};

/// A ratio below this is slow.
const SLOW: f64 = 0.9;

/// The geometric mean of the ratios of some rows, and how many have one.
fn mean<'r>(rows: impl Iterator<Item = &'r Row>) -> Option<(f64, usize)> {
    let logarithms: Vec<f64> = rows.filter_map(Row::ratio).map(f64::ln).collect();
    let count = logarithms.len();
    (count > 0).then(|| ((logarithms.iter().sum::<f64>() / count as f64).exp(), count))
}

/// Heading and text of each row of the table.
pub(crate) const HEADING: &str = "               M x N x K         A, B     D     ours cuBLASLt  ratio     error its error  tile";

/// A row of the table, and a line for each tile that was measured.
pub(crate) fn line(row: &Row) -> String {
    let shape = format!("{} {}", row.shape, row.shape.majors());
    let (input, output) = row.types;
    let Measured {
        tile,
        tiles,
        ours,
        theirs,
    } = &row.measured;
    let (theirs, error) = match theirs {
        Some(side) => (format!("{:.1}", side.speed), format!("{:.2e}", side.error)),
        None => ("none".to_owned(), String::new()),
    };
    let ratio = row
        .ratio()
        .map_or(String::new(), |ratio| format!("{ratio:.3}"));
    let mut line = format!(
        "{shape:>24} {input:>12} {output:>5} {:>8.1} {theirs:>8} {ratio:>6} {:>9.2e} {error:>9}  {tile}",
        ours.speed, ours.error,
    );
    for (tile, expected, measured) in tiles {
        let _ = write!(
            line,
            "\n{measured:>35.1} us, expected {expected:.1}: {tile}"
        );
    }
    line
}

/// A line for each class of each type, in the order of the rows.
pub(crate) fn means(rows: &[Row]) -> String {
    let mut text = String::new();
    let mut groups: Vec<(&str, _)> = Vec::new();
    for row in rows {
        let group = (row.class.as_str(), row.types);
        if !groups.contains(&group) {
            groups.push(group);
        }
    }
    for (class, types) in groups {
        let of_group = rows
            .iter()
            .filter(|row| row.class == class && row.types == types);
        let least = of_group
            .clone()
            .filter_map(Row::ratio)
            .fold(f64::INFINITY, f64::min);
        let slow = of_group
            .clone()
            .filter_map(Row::ratio)
            .filter(|it| *it < SLOW);
        let slow = slow.count();
        let wrong = of_group.clone().filter(|row| row.is_wrong()).count();
        if let Some((mean, count)) = mean(of_group) {
            let (input, output) = types;
            let _ = writeln!(
                text,
                "{class}, {input} to {output}: geometric mean of {count} ratios {mean:.3}, the least {least:.3}, {slow} below {SLOW}"
            );
        }
        if wrong > 0 {
            let _ = writeln!(
                text,
                "{class}: {wrong} errors are more than {WRONG} times those of cuBLASLt"
            );
        }
    }
    text
}

/// Pixels of the plot: the width of the names, the width of the ratios, and the height of a row.
const PLOT: (f64, f64, f64) = (330.0, 520.0, 18.0);
/// The ratios at both ends of the axis. Others are drawn there.
const AXIS: (f64, f64) = (0.5, 1.5);

/// The ratios as a plot: a row for each product, and a bar from 1, to the right if ours is faster.
pub(crate) fn svg(device: &str, rows: &[Row]) -> String {
    let (names, width, height) = PLOT;
    let at =
        |ratio: f64| names + (ratio.clamp(AXIS.0, AXIS.1) - AXIS.0) / (AXIS.1 - AXIS.0) * width;
    let total = height * (rows.len() as f64 + 4.0);
    let (bottom, middle) = (height * (rows.len() as f64 + 2.5), names + width / 2.0);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{total}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"{middle}\" y=\"{height}\" text-anchor=\"middle\" font-weight=\"bold\">Speed over that of cuBLASLt, {device}</text>\n",
        names + width + 60.0,
    );
    for tenths in 5..=15 {
        let (ratio, colour) = (
            f64::from(tenths) / 10.0,
            if tenths == 10 { "#444" } else { "#ddd" },
        );
        let x = at(ratio);
        let _ = writeln!(
            svg,
            "<line x1=\"{x}\" x2=\"{x}\" y1=\"{}\" y2=\"{bottom}\" stroke=\"{colour}\"/>\n\
             <text x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{ratio:.1}</text>",
            height * 1.5,
            bottom + height,
        );
    }
    for (i, row) in rows.iter().enumerate() {
        let y = height * (i as f64 + 2.0);
        let (input, output) = row.types;
        let name = format!(
            "{}: {} {}, {input} to {output}",
            row.class,
            row.shape,
            row.shape.majors()
        );
        let _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{name}</text>",
            names - 6.0,
            y + 4.0,
        );
        if let Some(ratio) = row.ratio() {
            let (from, to) = (at(ratio.min(1.0)), at(ratio.max(1.0)));
            let colour = if ratio < 1.0 { "#c44e52" } else { "#4c72b0" };
            let _ = writeln!(
                svg,
                "<rect x=\"{from}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{colour}\"/>\n\
                 <text x=\"{}\" y=\"{}\">{ratio:.2}</text>",
                y - height / 3.0,
                to - from,
                height * 2.0 / 3.0,
                names + width + 8.0,
                y + 4.0,
            );
        }
    }
    svg.push_str("</svg>\n");
    svg
}
