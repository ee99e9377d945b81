//! Breaks every shipped kernel in as many ways as somebody could have written it wrongly, and counts how many of these mutants
//! the emulator reports: not by a wrong result, which only a test with a reference finds, but by an error that says what is
//! wrong.
//!
//! ```text
//! cargo test --release -p cute-kernels --test mutants -- all [LAUNCH] [CLASS]
//! ```
//!
//! runs all mutants, or those of the launches whose names contain LAUNCH, or those of a class (`synchronisation`, `address` or
//! `control`) of these, and prints those that are missed. LAUNCH may be `""`, for all. Without `all` it runs
//! a sample, which fails if more than a tenth of the mutants of synchronisation and of control is missed.

mod equivalent;
mod flow;
mod launches;
mod mutation;
mod shadow;

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use cute_emulator::Program;
use cute_ptx::Module;
use cute_runtime::{Device, EmulatorOptions};
use rayon::prelude::*;

use equivalent::{by_probe, by_rule};
use launches::{LAUNCHES, Launch};
use mutation::{Class, Mutant, mutants};

/// Seeds of the schedules under which a mutant may be found that the first does not find.
const SEEDS: std::ops::Range<u64> = 0..4;
/// Instructions of one kind to which a rule is applied: of a run of all mutants, and of the sample.
const ALL: usize = 6;
const SAMPLE: usize = 1;
/// Every how many mutants one is in the sample, besides the first of each rule for each kernel.
const SAMPLED: usize = 5;
/// Of how many mutants of synchronisation and of control in the sample one may be missed.
const MISSED_OF: usize = 10;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let all = arguments.first().is_some_and(|first| first == "all");
    let filter = |at: usize| arguments.get(at).filter(|_| all).map_or("", String::as_str);
    let launches = LAUNCHES
        .iter()
        .filter(|launch| launch.name.contains(filter(1)));

    // The other launch of attention has the same kernel but for the mask.
    let launches: Vec<&Launch> = launches
        .filter(|launch| all || launch.name != "attention")
        .collect();

    let original: Vec<Original> = launches.par_iter().map(|it| Original::new(it)).collect();
    let mut cases = Vec::new();
    for original in original {
        let original = Arc::new(original);
        for ptx in &original.programs {
            let module = Arc::new(cute_ptx::parse(ptx).expect("the emulator has parsed it"));
            let ptx = Arc::new(ptx.clone());
            let mutants = mutants(&module, if all { ALL } else { SAMPLE }).into_iter();
            let in_class = |class: Class| class.to_string().contains(filter(2));
            for mutant in mutants.filter(|mutant| in_class(mutant.class)) {
                cases.push(Case {
                    original: original.clone(),
                    ptx: ptx.clone(),
                    module: module.clone(),
                    mutant,
                });
            }
        }
    }
    if !all {
        // Each rule on each kernel once, and of the others a sample.
        let mut seen = BTreeSet::new();
        let mut at = 0..;
        cases.retain(|case| {
            let is_new = seen.insert((case.original.launch.name, case.mutant.rule));
            at.next()
                .is_some_and(|at: usize| at.is_multiple_of(SAMPLED))
                || is_new
        });
        println!(
            "{} rules on {} kernels, together {} times",
            rules(&seen),
            kernels(&seen),
            seen.len()
        );
    }
    let start = Instant::now();
    let verdicts: Vec<Verdict> = cases.par_iter().map(Case::verdict).collect();
    report(&cases, &verdicts);
    result(&cases, &verdicts, all, start.elapsed())
}

/// How many rules, and how many launches, are in pairs of both.
fn rules(pairs: &BTreeSet<(&str, &str)>) -> usize {
    pairs
        .iter()
        .map(|(_, rule)| rule)
        .collect::<BTreeSet<_>>()
        .len()
}

fn kernels(pairs: &BTreeSet<(&str, &str)>) -> usize {
    pairs
        .iter()
        .map(|(launch, _)| launch)
        .collect::<BTreeSet<_>>()
        .len()
}

/// A launch of correct kernels.
struct Original {
    launch: &'static Launch,
    /// The programs that it runs, each once.
    programs: Vec<String>,
    result: Vec<u8>,
    /// A limit of warp instructions that it stays far below.
    steps: u64,
}

/// A mutant of a program of a launch.
struct Case {
    original: Arc<Original>,
    ptx: Arc<String>,
    module: Arc<Module>,
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
    /// It does what the kernel does, for this reason.
    Equivalent(&'static str),
    /// The result is right under all schedules, and no probe shows why.
    Survived,
}

impl Case {
    fn verdict(&self) -> Verdict {
        let changed = self.mutant.apply(&self.module);
        if Program::load(&changed).is_err() {
            return Verdict::Invalid;
        }
        if let Some(reason) = by_rule(&self.module, &self.mutant) {
            return Verdict::Equivalent(reason);
        }
        let mut wrong = false;
        for seed in SEEDS {
            match self.run(&changed, seed) {
                Err(_) if seed == SEEDS.start => return Verdict::Reported,
                Err(_) => return Verdict::ReportedLater,
                Ok(found) => wrong |= found != self.original.result,
            }
        }
        if wrong {
            return Verdict::Wrong;
        }
        let passes = |probe: &Module| {
            let probe = probe.to_string();
            SEEDS.into_iter().all(|seed| self.run(&probe, seed).is_ok())
        };
        match by_probe(&self.module, &self.mutant, passes) {
            Some(reason) => Verdict::Equivalent(reason),
            None => Verdict::Survived,
        }
    }

    /// The launch with another program instead of the kernel's.
    fn run(&self, program: &str, seed: u64) -> Result<Vec<u8>, cute_kernels::Error> {
        let options = EmulatorOptions {
            step_limit: self.original.steps,
            ..EmulatorOptions::from_seed(seed)
        };
        let (original, program) = (self.ptx.clone(), program.to_owned());
        let rewrite = move |ptx: &str| match ptx == *original {
            true => program.clone(),
            false => ptx.to_owned(),
        };
        (self.original.launch.run)(&Device::emulator_rewriting(options, rewrite))
    }
}

impl Original {
    fn new(launch: &'static Launch) -> Original {
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
        let result = (launch.run)(&device).expect("the launch is correct");
        let mut programs =
            std::mem::take(&mut *seen.lock().unwrap_or_else(PoisonError::into_inner));
        programs.sort();
        programs.dedup();
        Original {
            launch,
            programs,
            result,
            steps: steps(launch),
        }
    }
}

/// Four times the least power of two of warp instructions, from 2¹⁶, in which each kernel of the launch ends.
fn steps(launch: &Launch) -> u64 {
    let suffices = |steps: &u64| {
        let options = EmulatorOptions {
            step_limit: *steps,
            ..EmulatorOptions::default()
        };
        (launch.run)(&Device::emulator_with(options)).is_ok()
    };
    let mut powers = (16..30).map(|bits| 1u64 << bits);
    4 * powers.find(suffices).expect("the launch is correct")
}

/// Prints the table, and those that were missed.
fn report(cases: &[Case], verdicts: &[Verdict]) {
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
            println!(
                "{verdict:?}: {}: {}",
                case.original.launch.name, case.mutant
            );
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
            "| {class} | {rule} | {mutants} | {equivalent} | {first} | {later} | {wrong} | {survived} | {share:.1} % |"
        );
    }
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for verdict in verdicts {
        if let Verdict::Equivalent(reason) = verdict {
            *reasons.entry(reason).or_default() += 1;
        }
    }
    println!("\n| equivalent since | mutants |\n|---|---|");
    for (reason, mutants) in reasons {
        println!("| {reason} | {mutants} |");
    }
}

/// Prints the last line as a test runner does.
fn result(cases: &[Case], verdicts: &[Verdict], all: bool, time: Duration) -> ExitCode {
    let judged = cases.iter().zip(verdicts);
    let judged = judged.filter(|(case, _)| case.mutant.class != Class::Address);
    let (mut passed, mut missed) = (0, 0);
    for (_, verdict) in judged {
        match verdict {
            Verdict::Invalid => {}
            Verdict::Wrong | Verdict::Survived => missed += 1,
            Verdict::Reported | Verdict::ReportedLater | Verdict::Equivalent(_) => passed += 1,
        }
    }
    let fails = !all && missed * MISSED_OF > passed + missed;
    let (word, failed, code) = match fails {
        true => ("FAILED", missed, ExitCode::FAILURE),
        false => ("ok", 0, ExitCode::SUCCESS),
    };
    println!(
        "\ntest result: {word}. {passed} passed; {failed} failed; 0 ignored; 0 measured; 0 filtered out; finished in {:.2}s",
        time.as_secs_f64()
    );
    code
}
