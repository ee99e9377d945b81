//! The constants of a chip, by least squares over measured times.

use std::collections::HashMap;
use std::error::Error;

use cute_kernels::Tile;
use cute_kernels::product::chip::Chip;
use cute_kernels::product::model::Product;

use crate::measure::Sample;

/// How far a tile is from the fastest of its product, as a share of the time, where it counts e times less.
const NEAR: f64 = 0.2;
/// The weight of an error that all tiles of a product have in common: it changes no choice.
const COMMON: f64 = 0.35;
/// An error is counted by its square up to this one, and then by itself.
const ROBUST: f64 = 0.08;
/// Rounds over all constants, and the first step of each, as a share of it.
const ROUNDS: usize = 60;
const STEP: f64 = 0.1;

/// A sample with what the model needs.
struct Known {
    product: Product,
    sample: Sample,
    /// The number of the sample's product.
    group: usize,
    weight: f64,
}

/// Fits the constants, and prints them.
pub(crate) fn fit(samples: &[Sample]) -> Result<(), Box<dyn Error>> {
    let (known, groups) = prepared(samples);
    if known.is_empty() {
        return Err("there are no times of tiles in shared memory".into());
    }
    let mut chip = known[0].product.gpu.chip;
    let mut least = loss(&chip, &known, groups);
    let mut steps = vec![STEP; numbers(&mut chip).len()];
    for _ in 0..ROUNDS {
        for (i, step) in steps.iter_mut().enumerate() {
            let tried = [1.0 + *step, 1.0 - *step].map(|factor| {
                let mut other = chip;
                *numbers(&mut other)[i] *= factor;
                (loss(&other, &known, groups), other)
            });
            let best = tried.into_iter().min_by(|x, y| x.0.total_cmp(&y.0));
            match best {
                Some((loss, other)) if loss < least => {
                    (least, chip, *step) = (loss, other, *step * 1.3)
                }
                _ => *step *= 0.5,
            }
        }
    }
    println!("{} times of {groups} products", known.len());
    println!("{chip:#?}");
    report(&chip, &known, groups);
    Ok(())
}

fn prepared(samples: &[Sample]) -> (Vec<Known>, usize) {
    let mut groups = HashMap::new();
    let mut fastest: Vec<f64> = Vec::new();
    for sample in samples {
        let next = groups.len();
        let group = *groups.entry(sample.shape).or_insert(next);
        match fastest.get_mut(group) {
            Some(least) => *least = least.min(sample.time),
            None => fastest.push(sample.time),
        }
    }
    let known = samples.iter().filter_map(|sample| {
        let group = groups[&sample.shape];
        let behind = sample.time / fastest[group] - 1.0;
        (sample.tile != Tile::Streamed && behind < 1.0).then(|| Known {
            product: sample.product(),
            sample: *sample,
            group,
            weight: (-behind / NEAR).exp(),
        })
    });
    (known.collect(), groups.len())
}

/// The expected microseconds of a sample.
fn expected(chip: &Chip, known: &Known) -> f64 {
    let mut product = known.product;
    product.gpu.chip = *chip;
    known.sample.tile.time(&product)
}

/// The weighted sum of the errors of the logarithms.
fn loss(chip: &Chip, known: &[Known], groups: usize) -> f64 {
    // No product is faster than the memory.
    if chip.memory > 1.0 {
        return f64::INFINITY;
    }
    let errors: Vec<f64> = known
        .iter()
        .map(|it| (expected(chip, it) / it.sample.time).ln())
        .collect();
    let mut means = vec![(0.0, 0.0); groups];
    for (it, error) in known.iter().zip(&errors) {
        let (sum, weight) = &mut means[it.group];
        *sum += error * it.weight;
        *weight += it.weight;
    }
    let robust = |error: f64| ROBUST * ROBUST * ((1.0 + (error / ROBUST).powi(2)).sqrt() - 1.0);
    let each = known.iter().zip(&errors).map(|(it, error)| {
        let (sum, weight) = means[it.group];
        let mean = sum / weight;
        it.weight * (robust(error - mean) + COMMON * COMMON * robust(mean))
    });
    each.sum()
}

/// How much slower the chosen tiles are than the fastest.
fn report(chip: &Chip, known: &[Known], groups: usize) {
    let mut of = vec![(f64::INFINITY, f64::INFINITY, f64::INFINITY); groups];
    for it in known {
        let time = expected(chip, it);
        let (least, chosen, fastest) = &mut of[it.group];
        if time < *least {
            (*least, *chosen) = (time, it.sample.time);
        }
        *fastest = fastest.min(it.sample.time);
    }
    let losses: Vec<f64> = of
        .iter()
        .filter(|it| it.2.is_finite())
        .map(|(_, chosen, fastest)| chosen / fastest)
        .collect();
    let mean = losses.iter().map(|x| x.ln()).sum::<f64>() / losses.len() as f64;
    let worst = losses.iter().copied().fold(1.0, f64::max);
    println!(
        "the chosen tiles take {:.4} times as long as the fastest, the worst {worst:.3}",
        mean.exp()
    );
}

/// The constants of products with tiles in shared memory.
fn numbers(chip: &mut Chip) -> Vec<&mut f64> {
    let Chip {
        start,
        cluster,
        clock,
        alone,
        stage,
        port,
        l2,
        shared,
        outside,
        concentrated,
        odd,
        straddling,
        pairs,
        sync,
        shallow,
        fill,
        writes,
        turn,
        store,
        exchange,
        memory,
        add,
        function: _,
        streamed: _,
        streamed_memory: _,
    } = chip;
    let single = [
        start,
        clock,
        alone,
        l2,
        outside,
        concentrated,
        pairs,
        shallow,
        fill,
        writes,
        memory,
    ];
    let several = cluster.iter_mut().chain(stage).chain(port).chain(turn);
    let several = several.chain(shared).chain(sync);
    let several = several.chain(store).chain(exchange).chain(add);
    let rows = [straddling, odd].into_iter();
    let rows = rows.flat_map(|it| [&mut it.requests, &mut it.port, &mut it.merged]);
    single.into_iter().chain(several).chain(rows).collect()
}
