//! The products of `cute_kernels::gemm` beside cuBLASLt's, in one process: medians of interleaved runs, by CUDA graphs. Needs a Hopper GPU and
//! cuBLASLt; without them it says so and measures nothing.
//!
//! `cargo run --release -p cute-kernels --features all --example bench_gemm -- --types bf16,f16 --classes large,middle --svg gemm.svg`

mod captured;
mod compare;
mod cublaslt;
mod grouped;
mod ours;
mod random;
mod report;
mod row;
mod shapes;
mod single;

use std::error::Error;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use cute_runtime::Device;
use indicatif::{ProgressBar, ProgressStyle};
use lexopt::ValueExt;
use serde_json::{Value, json};
use shapes::{Class, Shape, TYPES, Types};

const USAGE: &str = "\
usage: bench_gemm [--types TYPE,…] [--classes CLASS,…] [--shapes FILE | --seed N] [--followed] [--tiles] [--json FILE] [--svg FILE]
  --types     types of A and B: bf16, f16, f32 (as tf32), e4m3, i8, or with that of D, such as bf16:f32; all unless given
  --classes   large, middle, majors, odd, batched, grouped, lists, few rows; all unless given
  --shapes    in place of classes, the shapes of a file: [BATCHESx]MxNxK[+PAD] [TN|NN|NT|TT] on each line, or
              GROUPSxMxNxK even|uneven|list, where M are the rows of all groups
  --seed      in place of classes, 64 random shapes, the same for each N
  --followed  products with a bias and GELU, into the type of A
  --tiles     measures every tile, prints the times, and takes the fastest
  --json      also writes the rows to this file
  --svg       also draws the ratios to this file";

/// The options of the command line.
#[derive(Default)]
struct Options {
    types: Option<String>,
    classes: Option<String>,
    shapes: Option<PathBuf>,
    seed: Option<u64>,
    followed: bool,
    tiles: bool,
    json: Option<PathBuf>,
    svg: Option<PathBuf>,
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench_gemm: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let Some(options) = options()? else {
        println!("{USAGE}");
        return Ok(());
    };
    let classes = classes(&options)?;
    let types = types(&options)?;
    let device = match Device::cuda(0) {
        Ok(device) => device,
        Err(error) => {
            println!("nothing is measured: {error}");
            return Ok(());
        }
    };
    if !cublaslt::is_present() {
        println!("nothing is measured: there is no cuBLASLt here to compare with");
        return Ok(());
    }
    let of_types = |shape: &&Shape| types.iter().filter(|types| shape.is_of(**types)).count();
    let shapes = classes.iter().flat_map(|class| &class.shapes);
    let products: usize = shapes.map(|shape| of_types(&shape)).sum();
    let style = ProgressStyle::with_template("{bar:40} {pos} of {len} products, {eta} left")?;
    let bar = ProgressBar::new(products as u64).with_style(style);
    println!("{}\nTFLOP/s, medians of interleaved runs", device.name());
    println!("{}", report::HEADING);
    let mut rows = Vec::new();
    for &types in &types {
        for class in &classes {
            for &shape in class.shapes.iter().filter(|shape| shape.is_of(types)) {
                let row = compare::compare(
                    &device,
                    &class.name,
                    shape,
                    types,
                    options.tiles,
                    options.followed,
                )?;
                bar.suspend(|| println!("{}", report::line(&row)));
                bar.inc(1);
                rows.push(row);
            }
        }
    }
    bar.finish_and_clear();
    print!("{}", report::means(&rows));
    if let Some(path) = options.json {
        let rows: Vec<Value> = rows.iter().map(row::Row::json).collect();
        let all = json!({ "device": device.name(), "rows": rows });
        fs::write(path, serde_json::to_string_pretty(&all)?)?;
    }
    if let Some(path) = options.svg {
        fs::write(path, report::svg(device.name(), &rows))?;
    }
    Ok(())
}

/// The options; `None` if help is asked for.
fn options() -> Result<Option<Options>, Box<dyn Error>> {
    use lexopt::Arg::{Long, Short};
    let mut arguments = lexopt::Parser::from_env();
    let mut options = Options::default();
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("types") => options.types = Some(arguments.value()?.string()?),
            Long("classes") => options.classes = Some(arguments.value()?.string()?),
            Long("shapes") => options.shapes = Some(arguments.value()?.into()),
            Long("seed") => options.seed = Some(arguments.value()?.parse()?),
            Long("followed") => options.followed = true,
            Long("tiles") => options.tiles = true,
            Long("json") => options.json = Some(arguments.value()?.into()),
            Long("svg") => options.svg = Some(arguments.value()?.into()),
            Long("help") | Short('h') => return Ok(None),
            other => return Err(format!("{}\n{USAGE}", other.unexpected()).into()),
        }
    }
    Ok(Some(options))
}

/// The classes to measure.
fn classes(options: &Options) -> Result<Vec<Class>, Box<dyn Error>> {
    if let Some(path) = &options.shapes {
        return Ok(vec![shapes::listed(&fs::read_to_string(path)?)?]);
    }
    if let Some(seed) = options.seed {
        return Ok(shapes::drawn(seed));
    }
    let all = shapes::classes()?;
    let Some(names) = &options.classes else {
        return Ok(all);
    };
    for name in names.split(',') {
        if !all.iter().any(|class| class.name == name) {
            return Err(format!("there is no class `{name}`\n{USAGE}").into());
        }
    }
    let is_named = |class: &Class| names.split(',').any(|name| name == class.name);
    Ok(all.into_iter().filter(is_named).collect())
}

/// The types to measure.
fn types(options: &Options) -> Result<Vec<Types>, Box<dyn Error>> {
    let Some(names) = &options.types else {
        return Ok(TYPES.to_vec());
    };
    let mut types = Vec::new();
    for name in names.split(',') {
        let is_named = |(input, output): &&Types| {
            input.to_string() == name || format!("{input}:{output}") == name
        };
        let of_name = TYPES.iter().filter(is_named);
        let before = types.len();
        types.extend(of_name);
        if types.len() == before {
            return Err(format!("there is no product of `{name}`\n{USAGE}").into());
        }
    }
    Ok(types)
}
