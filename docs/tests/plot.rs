//! The plot of the README: ours over cuBLASLt, drawn from the tables of `docs/performance.md`. `UPDATE_EXPECT=1` draws it anew.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Pixels: the size of the picture, and where its axes are.
const SIZE: (f64, f64) = (760.0, 390.0);
const LEFT: f64 = 52.0;
const RIGHT: f64 = 745.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 345.0;
/// The ratios at the ends of the axis, which is logarithmic, and those with a line.
const ENDS: (f64, f64) = (0.6, 6.0);
const LINES: [f64; 8] = [0.6, 0.7, 0.8, 0.9, 1.0, 1.5, 2.0, 4.0];
/// So many of the slowest products are named.
const NAMED: usize = 6;

/// The tables of products of bf16, with what their points are called, and their colours.
const TABLES: [Table; 2] = [
    Table {
        name: "shapes of the benchmark",
        head: "| M × N × K | majors | ours | cuBLASLt | ratio | tile |",
        ratios: &[4],
        color: "#1b6ca8",
    },
    Table {
        name: "shapes between them",
        head: "| M × N × K | ratio | before | tile |",
        // Where the tile of the plan was not measured again, its ratio is the one before.
        ratios: &[1, 2],
        color: "#c8553d",
    },
];

struct Table {
    name: &'static str,
    head: &'static str,
    /// The columns of the ratio; the first one that is not empty counts.
    ratios: &'static [usize],
    color: &'static str,
}

struct Product<'a> {
    shape: &'a str,
    ratio: f64,
    table: &'static Table,
}

#[test]
fn the_plot_is_that_of_the_tables() {
    let page = std::fs::read_to_string(root().join("docs/performance.md")).unwrap();
    let mut products: Vec<Product> = TABLES
        .iter()
        .flat_map(|table| table.products(&page))
        .collect();
    products.sort_by(|a, b| a.ratio.total_cmp(&b.ratio));
    let count = |table: &Table| {
        products
            .iter()
            .filter(|product| product.table.name == table.name)
            .count()
    };
    assert!(
        TABLES.iter().all(|table| count(table) > 30),
        "a table was not found"
    );

    let drawn = draw(&products);
    let kept = root().join("docs/pictures/performance.svg");
    if std::env::var("UPDATE_EXPECT").is_ok_and(|update| update == "1") {
        std::fs::write(&kept, &drawn).unwrap();
    }
    let kept = std::fs::read_to_string(kept).unwrap_or_default();
    assert!(
        kept == drawn,
        "docs/pictures/performance.svg is another plot"
    );
}

impl Table {
    /// A row may have several shapes, with as many ratios.
    fn products<'a>(&'static self, page: &'a str) -> Vec<Product<'a>> {
        let (_, table) = page.split_once(self.head).expect(self.head);
        let rows = table
            .lines()
            .skip(2)
            .take_while(|line| line.starts_with('|'));
        let mut products = Vec::new();
        for row in rows {
            let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
            let ratios = self.ratios.iter().map(|column| cells[*column]);
            let ratios = ratios
                .into_iter()
                .find(|ratios| !ratios.is_empty())
                .expect(row);
            let (shapes, ratios): (Vec<&str>, Vec<&str>) =
                (cells[0].split(", ").collect(), ratios.split(", ").collect());
            assert_eq!(shapes.len(), ratios.len(), "{row}");
            products.extend(
                shapes
                    .into_iter()
                    .zip(ratios)
                    .map(|(shape, ratio)| Product {
                        shape,
                        ratio: ratio.parse().expect(row),
                        table: self,
                    }),
            );
        }
        products
    }
}

/// The products in the order of their ratios, from left to right.
fn draw(products: &[Product]) -> String {
    let y = |ratio: f64| BOTTOM - (BOTTOM - TOP) * (ratio / ENDS.0).ln() / (ENDS.1 / ENDS.0).ln();
    let x = |rank: usize| {
        LEFT + 8.0 + (RIGHT - LEFT - 16.0) * rank as f64 / (products.len() - 1) as f64
    };
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n",
        SIZE.0, SIZE.1
    );
    for line in LINES {
        let color = if line == 1.0 { "#000000" } else { "#d8d8d8" };
        let _ = writeln!(
            svg,
            "<path d=\"M{LEFT} {0:.1}H{RIGHT}\" stroke=\"{color}\"/>",
            y(line)
        );
    }
    // A white edge keeps the lines out of the words.
    let mut text = |x: f64, y: f64, anchor: &str, text: &str| {
        let _ = writeln!(
            svg,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" stroke=\"#ffffff\" stroke-width=\"3\" paint-order=\"stroke\">{text}</text>"
        );
    };
    text(
        LEFT,
        16.0,
        "start",
        "speed of this project / speed of cuBLASLt, bf16 into bf16, NVIDIA H100 80GB HBM3 (logarithmic)",
    );
    text(
        (LEFT + RIGHT) / 2.0,
        BOTTOM + 18.0,
        "middle",
        "products M × N × K in the order of the ratio, one point each",
    );
    for line in LINES {
        text(LEFT - 6.0, y(line) + 4.0, "end", &format!("{line}"));
    }
    let mut at = LEFT + 12.0;
    for table in &TABLES {
        let ratios: Vec<f64> = products
            .iter()
            .filter(|product| product.table.name == table.name)
            .map(|product| product.ratio)
            .collect();
        let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
        text(
            at,
            34.0,
            "start",
            &format!("{}: {}, geometric mean {mean:.2}", table.name, ratios.len()),
        );
        at += 330.0;
    }
    // The name of the slowest is the highest, so that no line crosses a name.
    let height = |rank: usize| y(1.25) - 16.0 * (NAMED - 1 - rank) as f64;
    for (rank, product) in products.iter().enumerate().take(NAMED) {
        let name = format!("{} {:.2}", product.shape, product.ratio);
        text(x(rank) + 4.0, height(rank), "start", &name);
    }
    let fastest = products.last().expect("a product");
    text(
        x(products.len() - 1) - 8.0,
        y(fastest.ratio) + 4.0,
        "end",
        &format!("{} {:.2}", fastest.shape, fastest.ratio),
    );
    for (rank, product) in products.iter().enumerate().take(NAMED) {
        let _ = writeln!(
            svg,
            "<path d=\"M{:.1} {:.1}V{:.1}\" stroke=\"#a0a0a0\"/>",
            x(rank),
            y(product.ratio),
            height(rank) - 9.0
        );
    }
    let mut at = LEFT + 4.0;
    for table in &TABLES {
        let _ = writeln!(
            svg,
            "<circle cx=\"{at}\" cy=\"30\" r=\"4\" fill=\"{}\"/>",
            table.color
        );
        at += 330.0;
    }
    for (rank, product) in products.iter().enumerate() {
        let _ = writeln!(
            svg,
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3.5\" fill=\"{}\"><title>{}: {:.3}</title></circle>",
            x(rank),
            y(product.ratio),
            product.table.color,
            product.shape,
            product.ratio
        );
    }
    svg + "</svg>\n"
}

fn root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap().to_owned()
}
