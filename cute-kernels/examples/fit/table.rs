//! The tiles that are worth compiling ahead, from measured times.

use std::collections::HashMap;

use cute_kernels::Tile;
use cute_kernels::lib::Config;
use cute_kernels::product::chip::Gpu;
use cute_kernels::product::model::Product;
use cute_kernels::product::space::space;
use cute_kernels::product::table::kernels::{TILES, TILES_BY_8};

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
    /// The expected and the measured time without tiles: of `Tile::Streamed`, or infinitely long.
    choice: (f64, f64),
    weight: f64,
}

/// Exchanges tiles of the table for others, one at a time, as long as the model's choice among them loses less, and prints the table of so
/// many tiles.
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
    let known = TILES.into_iter().chain(TILES_BY_8);
    let mut chosen: Vec<usize> = known
        .filter_map(|known| tiles.iter().position(|it| *it == known))
        .collect();
    let count = count.min(tiles.len());
    loop {
        let mut added = None;
        while chosen.len() <= count && chosen.len() < tiles.len() {
            added = best_of_others(&cases, &expected, &chosen);
            chosen.extend(added);
        }
        let mut removed = None;
        while chosen.len() > count {
            removed = least_missed(&cases, &expected, &chosen);
            chosen.retain(|it| Some(*it) != removed);
        }
        report(&cases[..measured], &expected, &chosen);
        if removed == added {
            break;
        }
    }
    let mut rows: Vec<String> = chosen.iter().map(|it| row(tiles[*it])).collect();
    rows.sort();
    println!("{}", rows.join("\n"));
}

/// The tile with which the choice loses least.
fn best_of_others(cases: &[Case], expected: &[Vec<f64>], chosen: &[usize]) -> Option<usize> {
    let choices: Vec<_> = cases
        .iter()
        .zip(expected)
        .map(|(case, expected)| choice(case, expected, chosen))
        .collect();
    let with = |tile: usize| -> f64 {
        let all = cases.iter().zip(expected).zip(&choices);
        all.map(|((case, expected), before)| {
            case.loss(after(case, *before, tile, expected[tile]).1)
        })
        .sum()
    };
    let others = (0..expected.first()?.len()).filter(|it| !chosen.contains(it));
    others
        .map(|it| (it, with(it)))
        .min_by(|x, y| x.1.total_cmp(&y.1))
        .map(|(tile, _)| tile)
}

/// The tile without which the choice loses least.
fn least_missed(cases: &[Case], expected: &[Vec<f64>], chosen: &[usize]) -> Option<usize> {
    let without = |tile: usize| -> f64 {
        let rest: Vec<usize> = chosen.iter().copied().filter(|it| *it != tile).collect();
        let all = cases.iter().zip(expected);
        all.map(|(case, expected)| case.loss(choice(case, expected, &rest).1))
            .sum()
    };
    chosen
        .iter()
        .map(|it| (*it, without(*it)))
        .min_by(|x, y| x.1.total_cmp(&y.1))
        .map(|(tile, _)| tile)
}

/// Prints how much the choice loses.
fn report(cases: &[Case], expected: &[Vec<f64>], chosen: &[usize]) {
    let losses: Vec<f64> = cases
        .iter()
        .zip(expected)
        .map(|(case, expected)| choice(case, expected, chosen).1 / case.fastest)
        .collect();
    let mean = losses.iter().map(|x| x.ln()).sum::<f64>() / losses.len() as f64;
    let worst = losses.iter().copied().fold(1.0, f64::max);
    println!(
        "{} tiles: {:.4}, the worst {worst:.3}",
        chosen.len(),
        mean.exp()
    );
}

impl Case {
    /// The weighted loss if the product takes so many microseconds.
    fn loss(&self, time: f64) -> f64 {
        let loss = (time / self.fastest).ln();
        self.weight * (loss + SQUARE * loss * loss)
    }
}

/// The expected and the measured time of the model's choice among some tiles.
fn choice(case: &Case, expected: &[f64], tiles: &[usize]) -> (f64, f64) {
    tiles.iter().fold(case.choice, |before, tile| {
        after(case, before, *tile, expected[*tile])
    })
}

/// The choice with one more tile.
fn after(case: &Case, before: (f64, f64), tile: usize, expected: f64) -> (f64, f64) {
    let unknown = (expected, expected * case.bias * UNKNOWN);
    let new = case.times.get(&tile).copied().unwrap_or(unknown);
    if new.0 < before.0 { new } else { before }
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
