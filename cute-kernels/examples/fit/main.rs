//! What the model of products knows, found on the GPU at hand: the times of tiles for random products, the constants of the chip that
//! explain them, and the tiles that are worth compiling ahead.
//!
//! `cargo run --release -p cute-kernels --features core,instantiate,serde --example fit -- measure times.jsonl`

mod chip;
mod measure;
#[path = "../bench_gemm/shapes.rs"]
#[allow(dead_code, reason = "the other program draws other shapes, too")]
mod shapes;
mod table;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use cute_runtime::Device;
use lexopt::ValueExt;

const USAGE: &str = "\
usage: fit measure [--seed N]… [--space] [--shapes N] FILE     measures tiles for random products, and adds the times to the file
       fit chip FILE…                                          fits the constants of a chip to these times, and prints them as Rust
       fit table [--tiles N] FILE…                             chooses tiles from these times, and prints them as Rust
       fit autotune                                            says how long `Plan::autotune` takes
  --seed      the seed of 64 random shapes; 1 to 4 unless given
  --space     also tiles that are not compiled ahead: the 64 of which the model expects the most
  --shapes    so many of the 64 shapes
  --tiles     so many tiles; 71 unless given";

/// The options of the command line.
#[derive(Default)]
struct Options {
    command: String,
    seeds: Vec<u64>,
    space: bool,
    shapes: Option<usize>,
    tiles: Option<usize>,
    files: Vec<PathBuf>,
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("fit: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let Some(options) = options()? else {
        println!("{USAGE}");
        return Ok(());
    };
    match (options.command.as_str(), &options.files[..]) {
        ("measure", [file]) => {
            let device = match Device::cuda(0) {
                Ok(device) => device,
                Err(error) => {
                    println!("nothing is measured: {error}");
                    return Ok(());
                }
            };
            let seeds = match &options.seeds[..] {
                [] => &[1, 2, 3, 4],
                seeds => seeds,
            };
            let shapes = options.shapes.unwrap_or(usize::MAX);
            measure::measure(&device, seeds, shapes, options.space, file)
        }
        ("autotune", []) => measure::autotune(),
        ("chip", [_, ..]) => chip::fit(&measure::read(&options.files)?),
        ("table", [_, ..]) => {
            let samples = measure::read(&options.files)?;
            table::choose(&samples, options.tiles.unwrap_or(71));
            Ok(())
        }
        _ => Err(USAGE.into()),
    }
}

/// The options; `None` if help is asked for.
fn options() -> Result<Option<Options>, Box<dyn Error>> {
    use lexopt::Arg::{Long, Short, Value};
    let mut arguments = lexopt::Parser::from_env();
    let mut options = Options::default();
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("seed") => options.seeds.push(arguments.value()?.parse()?),
            Long("space") => options.space = true,
            Long("shapes") => options.shapes = Some(arguments.value()?.parse()?),
            Long("tiles") => options.tiles = Some(arguments.value()?.parse()?),
            Long("help") | Short('h') => return Ok(None),
            Value(value) if options.command.is_empty() => options.command = value.string()?,
            Value(value) => options.files.push(value.into()),
            other => return Err(format!("{}\n{USAGE}", other.unexpected()).into()),
        }
    }
    Ok(Some(options))
}
