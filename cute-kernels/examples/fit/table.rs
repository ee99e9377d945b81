//! The tiles that are worth compiling ahead, from measured times.

use std::collections::HashMap;

use cute_kernels::Tile;
use cute_kernels::lib::Config;
use cute_kernels::product::chip::Gpu;
use cute_kernels::product::model::Product;
use cute_kernels::product::space::space;

use crate::measure::Sample;
use crate::shapes;

/// A tile that was not measured for a product is taken to be so much slower than the model expects.
const UNKNOWN: f64 = 1.05;
/// The weight of the square of a loss beside the loss: a great one is worse than several small ones.
const SQUARE: f64 = 4.0;

/// Products that were not measured, and stand for those that will come: the seeds of 64 each, and the weight of one.
const OTHERS: (std::ops::Range<u64>, f64) = (1000..1032, 0.25);

/// A product.
struct Case {
    product: Product,
    /// By the number of a tile, the expected and the measured time, by itself or with K in parts, whichever the model prefers.
    times: HashMap<usize, (f64, f64)>,
    fastest: f64,
    /// Measured over expected time, in the middle.
    bias: f64,
    /// The expected and the measured time of the choice so far.
    choice: (f64, f64),
    weight: f64,
}

/// Chooses tiles one after another, each time the one with which the model's choice among them loses least, and prints them.
pub(crate) fn choose(samples: &[Sample], count: usize) {
    let (tiles, mut cases) = cases(samples);
    let measured = cases.len();
    println!("{measured} products, {} tiles", tiles.len());
    let gpu = samples.first().map_or(Gpu::H200, |it| it.gpu);
    cases.extend(others(&tiles, gpu));
    let expected: Vec<Vec<f64>> = cases
        .iter()
        .map(|case| tiles.iter().map(|it| case.product.time(*it)).collect())
        .collect();
    let mut chosen: Vec<usize> = Vec::new();
    while chosen.len() < count.min(tiles.len()) {
        let with = |tile: usize| -> f64 {
            let losses = cases.iter().zip(&expected).map(|(case, expected)| {
                let (_, time) = after(case, tile, expected[tile]);
                let loss = (time / case.fastest).ln();
                case.weight * (loss + SQUARE * loss * loss)
            });
            losses.sum()
        };
        let others = (0..tiles.len()).filter(|it| !chosen.contains(it));
        let Some((tile, _)) = others
            .map(|it| (it, with(it)))
            .min_by(|x, y| x.1.total_cmp(&y.1))
        else {
            break;
        };
        chosen.push(tile);
        for (case, expected) in cases.iter_mut().zip(&expected) {
            case.choice = after(case, tile, expected[tile]);
        }
        if chosen.len().is_multiple_of(5) || chosen.len() == count {
            let measured = &cases[..measured];
            let losses = measured.iter().map(|case| case.choice.1 / case.fastest);
            let losses: Vec<f64> = losses.collect();
            let mean = losses.iter().map(|x| x.ln()).sum::<f64>() / losses.len() as f64;
            let worst = losses.iter().copied().fold(1.0, f64::max);
            println!(
                "{} tiles: {:.4}, the worst {worst:.3}",
                chosen.len(),
                mean.exp()
            );
        }
    }
    let mut rows: Vec<String> = chosen.iter().map(|it| row(tiles[*it])).collect();
    rows.sort();
    println!("{}", rows.join("\n"));
}

/// The choice with one more tile.
fn after(case: &Case, tile: usize, expected: f64) -> (f64, f64) {
    let unknown = (expected, expected * case.bias * UNKNOWN);
    let new = case.times.get(&tile).copied().unwrap_or(unknown);
    if new.0 < case.choice.0 {
        new
    } else {
        case.choice
    }
}

fn cases(samples: &[Sample]) -> (Vec<Config>, Vec<Case>) {
    let mut tiles = space();
    let mut of: HashMap<[u32; 3], Case> = HashMap::new();
    for sample in samples {
        let case = of.entry(sample.shape).or_insert_with(|| Case {
            product: sample.product(),
            times: HashMap::new(),
            fastest: f64::INFINITY,
            bias: 1.0,
            choice: (f64::INFINITY, f64::INFINITY),
            weight: 1.0,
        });
        case.fastest = case.fastest.min(sample.time);
        let time = (sample.tile.time(&case.product), sample.time);
        let config = match sample.tile {
            Tile::Shared(config) | Tile::InParts(config, _) => config,
            _ => {
                case.choice = time;
                continue;
            }
        };
        let at = match tiles.iter().position(|it| *it == config) {
            Some(at) => at,
            None => {
                tiles.push(config);
                tiles.len() - 1
            }
        };
        let known = case.times.entry(at).or_insert(time);
        if time.0 < known.0 {
            *known = time;
        }
    }
    let mut cases: Vec<Case> = of.into_values().collect();
    for case in &mut cases {
        let mut ratios: Vec<f64> = case.times.values().map(|(x, y)| y / x).collect();
        ratios.sort_by(f64::total_cmp);
        case.bias = ratios.get(ratios.len() / 2).copied().unwrap_or(1.0);
    }
    (tiles, cases)
}

/// Products that were not measured, with the times that the model expects.
fn others(tiles: &[Config], gpu: Gpu) -> Vec<Case> {
    let (seeds, weight) = OTHERS;
    let shapes = seeds.flat_map(shapes::drawn).flat_map(|it| it.shapes);
    let cases = shapes.map(|shape| {
        let extents = [1, shape.m, shape.n, shape.k].map(|it| it as u32);
        let product = Product::of_bf16(extents, gpu);
        let times = tiles.iter().map(|it| product.time(*it));
        let mut fastest = times.fold(f64::INFINITY, f64::min);
        let mut choice = (f64::INFINITY, f64::INFINITY);
        if shape.m.min(shape.n) <= 16 {
            let time = Tile::Streamed.time(&product);
            (fastest, choice) = (fastest.min(time), (time, time));
        }
        Case {
            product,
            times: HashMap::new(),
            fastest,
            bias: 1.0 / UNKNOWN,
            choice,
            weight,
        }
    });
    cases.collect()
}

/// The row of a tile in the table.
fn row(tile: Config) -> String {
    let base = match (tile.pingpong, tile.by_columns) {
        (true, _) => "PINGPONG",
        (false, true) => "BY_COLUMNS",
        (false, false) => "BY_ROWS",
    };
    let swapped = if tile.swapped { "_SWAPPED" } else { "" };
    // Wgmma of integers has 8, 16, 24 and 32 columns, or a multiple of 16.
    let columns = if tile.by_columns {
        tile.bn / 2
    } else {
        tile.bn
    };
    let width = columns / columns.div_ceil(256);
    let is_for_all = width.is_multiple_of(16) || width <= 32;
    let table = if is_for_all { "TILES" } else { "TILES_BY_8" };
    let mut fields = format!("bm: {}, bn: {}, stages: {}", tile.bm, tile.bn, tile.stages);
    for (name, value, usual) in [
        ("group", tile.group, 8),
        ("cluster_m", tile.cluster_m, 1),
        ("cluster_n", tile.cluster_n, 1),
        ("split", tile.split, 1),
        ("d_bytes", tile.d_bytes, 256),
    ] {
        if value != usual {
            fields += &format!(", {name}: {value}");
        }
    }
    format!("{table}: Config {{ {fields}, ..{base}{swapped} }},")
}
