//! The times of tiles for random products of bf16, as lines of JSON.

use std::collections::HashSet;
use std::error::Error;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use cute_kernels::gemm::made::kernels::gemm_of;
use cute_kernels::lib::Config;
use cute_kernels::product::chip::Gpu;
use cute_kernels::product::model::Product;
use cute_kernels::product::space::space;
use cute_kernels::reference::normal;
use cute_kernels::timing::median;
use cute_kernels::{Plan, Tile};
use cute_runtime::{Device, ElementType, Graph, Instantiate, Tensor, bf16};
use indicatif::ProgressBar;
use rayon::prelude::*;
use serde_json::{Value, json};

use crate::shapes;

/// Tiles that are not compiled ahead for a product: those of which the model expects the most.
const MADE: usize = 64;
/// A tile is measured if it is expected to take at most so many times as long as the fastest.
const SLOWEST: f64 = 2.0;
/// Microseconds of one timed run, at least, and the least and the most products of it.
const RUN: (f64, usize, usize) = (400.0, 3, 60);
/// Timed runs of a tile, after one that does not count.
const ROUNDS: usize = 5;
/// Bytes of all copies of A and B, at least: twice the L2 cache.
const COLD: usize = 100 << 20;

/// A product, a tile, and microseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    /// M, N and K.
    pub(crate) shape: [u32; 3],
    pub(crate) tile: Tile,
    pub(crate) time: f64,
    /// Where it was measured.
    pub(crate) gpu: Gpu,
}

impl Sample {
    /// What the model knows of the product.
    pub(crate) fn product(&self) -> Product {
        let [m, n, k] = self.shape;
        Product::of_bf16([1, m, n, k], self.gpu)
    }
}

/// Measures the tiles of random products of these seeds, and adds the times to a file.
pub(crate) fn measure(
    device: &Device,
    seeds: &[u64],
    most: usize,
    with_space: bool,
    file: &Path,
) -> Result<(), Box<dyn Error>> {
    let drawn = |seed: &u64| {
        let classes = shapes::drawn(*seed).into_iter();
        classes.flat_map(|it| it.shapes).take(most)
    };
    let shapes: Vec<[usize; 3]> = seeds
        .iter()
        .flat_map(drawn)
        .map(|it| [it.m, it.n, it.k])
        .collect();
    let wanted: Vec<Vec<Config>> = match with_space {
        true => shapes
            .iter()
            .map(|shape| expected(device, *shape))
            .collect::<Result<_, _>>()?,
        false => vec![Vec::new(); shapes.len()],
    };
    let made = made(device, &wanted);
    println!("{}: {} tiles are made", device.name(), made.len());
    let gpu = Gpu::of(device)?;
    let mut file = OpenOptions::new().create(true).append(true).open(file)?;
    let bar = ProgressBar::new(shapes.len() as u64);
    for (shape, wanted) in shapes.iter().zip(wanted) {
        let wanted = wanted.into_iter().filter(|it| made.contains(&name(*it)));
        for (tile, time) in times(device, *shape, wanted)? {
            let line = json!({
                "device": device.name(),
                "multiprocessors": gpu.multiprocessors,
                "clusters": gpu.clusters,
                "bandwidth": gpu.bandwidth,
                "shape": shape,
                "tile": tile,
                "us": time,
            });
            writeln!(file, "{line}")?;
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(())
}

/// Prints how long a plan takes to measure the tiles of a product, and to remember them.
pub(crate) fn autotune() -> Result<(), Box<dyn Error>> {
    let device = Device::default();
    let [m, n, k] = [1000, 4096, 4096];
    let matrix = |rows, columns| Tensor::<bf16, 2>::zeros(&device, [rows, columns]);
    let (a, b, mut d) = (matrix(m, k)?, matrix(n, k)?, matrix(m, n)?);
    for what in ["cold", "warm"] {
        let start = Instant::now();
        let plan = Plan::autotune(&device, &a.view(), &b.view(), &mut d.view_mut())?;
        let time = start.elapsed().as_secs_f64();
        println!(
            "{what}: {time:.3} s on {}, tiles of {}",
            device.name(),
            plan.tile()
        );
    }
    Ok(())
}

/// The samples of files.
pub(crate) fn read(files: &[PathBuf]) -> Result<Vec<Sample>, Box<dyn Error>> {
    let mut samples = Vec::new();
    for file in files {
        for line in fs::read_to_string(file)?.lines() {
            let line: Value = serde_json::from_str(line)?;
            samples.push(Sample {
                shape: serde_json::from_value(line["shape"].clone())?,
                tile: serde_json::from_value(line["tile"].clone())?,
                time: serde_json::from_value(line["us"].clone())?,
                gpu: Gpu {
                    multiprocessors: serde_json::from_value(line["multiprocessors"].clone())?,
                    clusters: serde_json::from_value(line["clusters"].clone())?,
                    bandwidth: serde_json::from_value(line["bandwidth"].clone())?,
                    ..Gpu::H200
                },
            });
        }
    }
    Ok(samples)
}

/// The tiles of the space of which the model expects the most.
fn expected(device: &Device, [m, n, k]: [usize; 3]) -> Result<Vec<Config>, Box<dyn Error>> {
    let extents = [1, m as u32, n as u32, k as u32];
    let product = Product::new::<bf16, bf16>(device, extents)?;
    let mut timed: Vec<(f64, Config)> = space()
        .into_iter()
        .map(|it| (product.time(it), it))
        .collect();
    timed.sort_by(|x, y| x.0.total_cmp(&y.0));
    Ok(timed.into_iter().take(MADE).map(|(_, it)| it).collect())
}

fn name(config: Config) -> String {
    format!("{config:?}")
}

/// Makes and compiles the kernels of these tiles. Those that spill registers are left out.
fn made(device: &Device, wanted: &[Vec<Config>]) -> HashSet<String> {
    let mut seen = HashSet::new();
    let all: Vec<Config> = wanted
        .iter()
        .flatten()
        .copied()
        .filter(|it| seen.insert(name(*it)))
        .collect();
    let compiled = all.into_par_iter().filter(|config| {
        let kernel = gemm_of {
            A: ElementType::BF16,
            B: ElementType::BF16,
            D: ElementType::BF16,
            CFG: *config,
        };
        let compiled = kernel.compile(device);
        compiled.is_ok_and(|it| it.spilled_bytes.is_none_or(|bytes| bytes == 0))
    });
    compiled.map(name).collect()
}

/// The microseconds of a product by the tiles that are compiled ahead and by these.
fn times(
    device: &Device,
    [m, n, k]: [usize; 3],
    made: impl Iterator<Item = Config>,
) -> Result<Vec<(Tile, f64)>, Box<dyn Error>> {
    let (a_step, b_step) = ((m * k).next_multiple_of(256), (n * k).next_multiple_of(256));
    let copies = COLD.div_ceil((a_step + b_step) * 2).min(RUN.2);
    let numbers = normal(1, 1 << 20);
    let filled = |len: usize| -> Vec<bf16> { numbers.iter().cycle().take(len).copied().collect() };
    let (a, b) = (
        device.upload(&filled(copies * a_step))?,
        device.upload(&filled(copies * b_step))?,
    );
    let mut d = device.zeros::<bf16>(m * n)?;
    let mut d = d.view_mut(0, [m, n], [n, 1])?;
    let of_a = |i: usize| a.view(i % copies * a_step, [m, k], [k, 1]);
    let of_b = |i: usize| b.view(i % copies * b_step, [n, k], [k, 1]);
    let plan = Plan::new(device, &of_a(0)?, &of_b(0)?, &d)?;
    let fastest = plan.candidates()[0].1;
    let near = plan
        .candidates()
        .iter()
        .filter(|(_, time)| *time <= SLOWEST * fastest);
    let mut tiles: Vec<Tile> = near.map(|(tile, _)| *tile).collect();
    for tile in made.map(Tile::Shared) {
        if !tiles.contains(&tile) {
            tiles.push(tile);
        }
    }
    let mut graph = |plan: &Plan, count: usize| -> Result<Graph, Box<dyn Error>> {
        device.capture(|| {
            (0..count).try_for_each(|i| Ok(plan.launch(device, &of_a(i)?, &of_b(i)?, &mut d)?))
        })
    };
    let mut graphs = Vec::new();
    for tile in tiles {
        let plan = plan.clone().with_tile(tile)?;
        let one = graph(&plan, 1)?;
        one.launch()?;
        let once = device.time(|| one.launch())?.as_secs_f64() * 1e6;
        let (run, least, most) = RUN;
        let count = ((run / once) as usize).clamp(least, most);
        graphs.push((tile, graph(&plan, count)?, count));
    }
    let mut runs = vec![Vec::new(); graphs.len()];
    for round in 0..=ROUNDS {
        for ((_, graph, _), runs) in graphs.iter().zip(&mut runs) {
            let time: Duration = device.time(|| graph.launch())?;
            if round > 0 {
                runs.push(time);
            }
        }
    }
    let graphs = graphs.into_iter().zip(runs);
    let times = graphs
        .map(|((tile, _, count), runs)| (tile, median(runs).as_secs_f64() * 1e6 / count as f64));
    Ok(times.collect())
}
