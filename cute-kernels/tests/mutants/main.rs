//! Breaks every shipped kernel in as many ways as somebody could have written it wrongly, and counts how many of these mutants
//! the emulator reports: not by a wrong result, which only a test with a reference finds, but by an error that says what is
//! wrong.
//!
//! ```text
//! cargo test --release -p cute-kernels --test mutants -- all [LAUNCH]
//! ```
//!
//! runs all mutants, or those of the launches whose names contain LAUNCH, and prints those that are missed. Without `all` it runs
//! a sample, in which nothing that is known to be found may be missed.

mod equivalent;
mod launches;
mod mutation;

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use cute_emulator::Program;
use cute_ptx::Module;
use cute_runtime::{Device, EmulatorOptions};
use rayon::prelude::*;

use equivalent::reason;
use launches::{LAUNCHES, Launch};
use mutation::{Class, Mutant, mutants};

/// Seeds of the schedules under which a mutant may be found that the first does not find.
const SEEDS: std::ops::Range<u64> = 0..4;
/// Instructions of one kind to which a rule is applied: of a run of all mutants, and of the sample.
const ALL: usize = 6;
const SAMPLE: usize = 1;
/// Every how many mutants one is in the sample.
const SAMPLED: usize = 23;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let all = arguments.first().is_some_and(|first| first == "all");
    let filter = arguments.get(1).filter(|_| all).map_or("", String::as_str);
    let launches = LAUNCHES
        .iter()
        .filter(|launch| launch.name.contains(filter));

    let mut cases = Vec::new();
    for launch in launches {
        for ptx in programs(launch) {
            let module = Arc::new(cute_ptx::parse(&ptx).expect("the emulator has parsed it"));
            let ptx = Arc::new(ptx);
            let steps = steps(launch);
            for mutant in mutants(&module, if all { ALL } else { SAMPLE }) {
                cases.push(Case {
                    launch,
                    ptx: ptx.clone(),
                    module: module.clone(),
                    steps,
                    mutant,
                });
            }
        }
    }
    if !all {
        cases = cases.into_iter().step_by(SAMPLED).collect();
    }
    let verdicts: Vec<Verdict> = cases.par_iter().map(Case::verdict).collect();
    report(&cases, &verdicts, all)
}

/// A mutant of a program of a launch.
struct Case {
    launch: &'static Launch,
    ptx: Arc<String>,
    module: Arc<Module>,
    /// A limit that the correct kernel stays far below.
    steps: u64,
    mutant: Mutant,
}

/// What became of a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    /// The module is not valid, so it is no mutant.
    Invalid,
    /// The emulator reports it under the first schedule.
    Reported,
    /// The emulator reports it under another schedule.
    ReportedLater,
    /// The result is wrong, and the emulator reports nothing.
    Wrong,
    /// The result is right under all schedules, and this is the reason.
    Equivalent(&'static str),
    /// The result is right under all schedules.
    Survived,
}

impl Case {
    fn verdict(&self) -> Verdict {
        let changed = self.mutant.apply(&self.module);
        if Program::load(&changed).is_err() {
            return Verdict::Invalid;
        }
        let mut wrong = false;
        for seed in SEEDS {
            let options = EmulatorOptions {
                step_limit: self.steps,
                ..EmulatorOptions::from_seed(seed)
            };
            let (original, changed) = (self.ptx.clone(), changed.clone());
            let broken = move |ptx: &str| match ptx == *original {
                true => changed.clone(),
                false => ptx.to_owned(),
            };
            let expected =
                (self.launch.run)(&Device::emulator_with(EmulatorOptions::from_seed(seed)));
            match (self.launch.run)(&Device::emulator_rewriting(options, broken)) {
                Err(_) if seed == SEEDS.start => return Verdict::Reported,
                Err(_) => return Verdict::ReportedLater,
                Ok(found) => wrong |= found != expected.expect("the launch is correct"),
            }
        }
        match reason(self.launch, &self.mutant) {
            _ if wrong => Verdict::Wrong,
            Some(reason) => Verdict::Equivalent(reason),
            None => Verdict::Survived,
        }
    }
}

/// The programs that a launch runs, each once.
fn programs(launch: &Launch) -> Vec<String> {
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let record = seen.clone();
    let recording = move |ptx: &str| {
        record
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(ptx.to_owned());
        ptx.to_owned()
    };
    let device = Device::emulator_rewriting(EmulatorOptions::default(), recording);
    (launch.run)(&device).expect("the launch is correct");
    let mut seen = std::mem::take(&mut *seen.lock().unwrap_or_else(PoisonError::into_inner));
    seen.sort();
    seen.dedup();
    seen
}

/// Four times the least power of two of warp instructions in which each launch ends.
fn steps(launch: &Launch) -> u64 {
    let suffices = |steps: &u64| {
        let options = EmulatorOptions {
            step_limit: *steps,
            ..EmulatorOptions::default()
        };
        (launch.run)(&Device::emulator_with(options)).is_ok()
    };
    let powers = (10..30).map(|bits| 1u64 << bits);
    4 * powers
        .clone()
        .find(suffices)
        .expect("the launch is correct")
}

/// Prints the table, and those that were missed.
fn report(cases: &[Case], verdicts: &[Verdict], all: bool) -> ExitCode {
    let mut missed = 0;
    let mut rows: BTreeMap<(Class, &str), [usize; 6]> = BTreeMap::new();
    for (case, verdict) in cases.iter().zip(verdicts) {
        let column = match verdict {
            Verdict::Invalid => 0,
            Verdict::Reported => 1,
            Verdict::ReportedLater => 2,
            Verdict::Wrong => 3,
            Verdict::Equivalent(_) => 4,
            Verdict::Survived => 5,
        };
        for rule in [case.mutant.rule, "all"] {
            rows.entry((case.mutant.class, rule)).or_default()[column] += 1;
        }
        if matches!(
            verdict,
            Verdict::Wrong | Verdict::Survived | Verdict::ReportedLater
        ) {
            missed += usize::from(case.mutant.class != Class::Address);
            println!("{verdict:?}: {}: {}", case.launch.name, case.mutant);
        }
    }
    println!(
        "\n| class | rule | mutants | equivalent | reported by seed 0 | and by seeds 1 to 3 | wrong result | right result | reported |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for ((class, rule), [_, first, later, wrong, equivalent, survived]) in rows {
        let different = first + later + wrong + survived;
        let share = 100.0 * (first + later) as f64 / different.max(1) as f64;
        let mutants = different + equivalent;
        println!(
            "| {class:?} | {rule} | {mutants} | {equivalent} | {first} | {later} | {wrong} | {survived} | {share:.1} % |"
        );
    }
    println!(
        "\ntest result: {} mutants, {missed} of synchronisation and control missed by the first schedule",
        cases.len()
    );
    match all || missed == 0 {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}
