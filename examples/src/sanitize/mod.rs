//! The command `sanitize`: runs kernels on the emulator under many schedules, and reports what is wrong with them.

mod case;
mod kernels;
mod progress;
mod ptx;
mod report;

use std::error::Error;
use std::ffi::OsString;
use std::io::Write;

use cute_runtime::EmulatorOptions;
use rayon::prelude::*;

use self::case::{Case, Outcome};
use self::progress::Progress;
use self::report::Report;
use crate::{Argument, Arguments};

const USAGE: &str = "\
Runs kernels on the emulator under many schedules, and reports what is wrong with them.

usage: sanitize [OPTIONS] KERNEL...
       sanitize [OPTIONS] LAUNCH.json...

  KERNEL           a kernel of cute-kernels, or all
  LAUNCH.json      a description of a launch of a PTX file, which docs/emulator.md explains
  --shape M,N,…    the shape of the problem, in place of the kernel's own list; may be repeated
  --schedules N    under how many schedules each shape runs (default: 20)
  --seed S         the seed of the first one (default: 0)
  --trace FILE     writes what the first run did when, for ui.perfetto.dev
  --json FILE      writes the report as JSON

The exit code is 0 if nothing is wrong, 1 if something is, and 2 if the command could not do its work.";

/// The options of the command line.
struct Options {
    subjects: Vec<String>,
    shapes: Vec<Vec<usize>>,
    schedules: u64,
    seed: u64,
    trace: Option<String>,
    json: Option<String>,
}

/// Runs the command with these arguments, without the name of the program, and returns the exit code.
pub fn main(
    arguments: impl IntoIterator<Item = OsString, IntoIter: 'static>,
    out: &mut impl Write,
) -> u8 {
    match run(arguments, out) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("sanitize: {error}");
            2
        }
    }
}

fn run(
    arguments: impl IntoIterator<Item = OsString, IntoIter: 'static>,
    out: &mut impl Write,
) -> Result<u8, Box<dyn Error>> {
    let Some(options) = options(Arguments::new(arguments))? else {
        let kernels: Vec<String> = kernels::list().collect();
        writeln!(
            out,
            "{USAGE}\n\nkernels and their shapes:\n{}",
            kernels.join("\n")
        )?;
        return Ok(0);
    };
    let mut cases = Vec::new();
    for subject in &options.subjects {
        match subject.ends_with(".json") {
            true => cases.push(ptx::case(subject)?),
            false => cases.extend(kernels::cases(subject, &options.shapes)?),
        }
    }
    let outcomes = outcomes(&cases, &options);
    if let (Some(file), Some((_, first))) = (&options.trace, outcomes.first()) {
        let trace = first.trace.as_ref().map(|trace| trace.to_string());
        write_file(file, &trace.unwrap_or_default())?;
    }
    let report = Report::new(&cases, &outcomes, options.schedules);
    if let Some(file) = &options.json {
        write_file(file, &format!("{:#}\n", report.to_json()))?;
    }
    write!(out, "{report}")?;
    Ok(u8::from(report.failed()))
}

/// The outcome of each case under each schedule, in order.
fn outcomes(cases: &[Case], options: &Options) -> Vec<(EmulatorOptions, Outcome)> {
    let runs: Vec<(&Case, EmulatorOptions)> = (cases.iter())
        .flat_map(|case| {
            let seeds = options.seed..options.seed.saturating_add(options.schedules);
            seeds.map(move |seed| (case, EmulatorOptions::from_seed(seed)))
        })
        .collect();
    let progress = Progress::new(runs.len() as u64);
    (runs.par_iter().enumerate())
        .map(|(i, (case, schedule))| {
            let with_trace = EmulatorOptions {
                trace: i == 0 && options.trace.is_some(),
                ..*schedule
            };
            let outcome = (case.run)(with_trace);
            progress.ran(case, &outcome);
            (*schedule, outcome)
        })
        .collect()
}

/// The options; `None` asks for help.
fn options(mut arguments: Arguments) -> Result<Option<Options>, Box<dyn Error>> {
    let mut options = Options {
        subjects: Vec::new(),
        shapes: Vec::new(),
        schedules: 20,
        seed: 0,
        trace: None,
        json: None,
    };
    while let Some(argument) = arguments.next_argument()? {
        match argument {
            Argument::Value(subject) => options.subjects.push(subject),
            Argument::Option(name) => match name.as_str() {
                "shape" => options.shapes.push(shape(&arguments.value::<String>()?)?),
                "schedules" => options.schedules = arguments.value()?,
                "seed" => options.seed = arguments.value()?,
                "trace" => options.trace = Some(arguments.value()?),
                "json" => options.json = Some(arguments.value()?),
                "help" => return Ok(None),
                other => return Err(format!("unknown option --{other}; --help lists them").into()),
            },
        }
    }
    if options.subjects.is_empty() {
        return Err("no kernel is named; --help lists them".into());
    }
    if options.schedules == 0 {
        return Err("--schedules must be at least 1".into());
    }
    Ok(Some(options))
}

fn shape(text: &str) -> Result<Vec<usize>, String> {
    let extents = text.split(',').map(|extent| extent.trim().parse());
    extents
        .collect::<Result<_, _>>()
        .map_err(|_| format!("expected extents such as 520,200,384, found `{text}`"))
}

fn write_file(file: &str, text: &str) -> Result<(), String> {
    std::fs::write(file, text).map_err(|error| format!("cannot write {file}: {error}"))
}
