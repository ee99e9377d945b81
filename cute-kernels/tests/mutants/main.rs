//! Breaks every shipped kernel in as many ways as somebody could have written it wrongly, and counts how many of these mutants
//! the emulator reports: not by a wrong result, which only a test with a reference finds, but by an error that says what is
//! wrong.
//!
//! ```text
//! cargo test --release -p cute-kernels --test mutants -- all [LAUNCH] [CLASS]
//! ```
//!
//! runs all mutants, or those of the launches whose names contain LAUNCH, or those of a class (`synchronisation`, `address` or
//! `control`) of these, and prints those that are missed. LAUNCH may be `""`, for all. `CUTE_NIGHTLY=1` means `all`, too. Otherwise a
//! covering set runs, in which each rule makes a mutant of each kernel that it changes, and a sample of the others.
//!
//! The program fails if more than a tenth of the mutants of synchronisation and of control is missed, unless LAUNCH or CLASS is given,
//! and if some rule has made no mutant of a kernel that it changes.

mod equivalent;
mod flow;
mod launches;
mod mutation;
mod shadow;
#[path = "../support/whole.rs"]
mod whole;

use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use cute_emulator::Program;
use cute_ptx::Module;
use cute_runtime::{Device, EmulatorOptions};
use rayon::prelude::*;

use equivalent::{by_probe, by_rule};
use launches::{LAUNCHES, Launch};
use mutation::{Class, Mutant, RULE_COUNT, entry, mutants};

/// Seeds of the schedules under which a mutant may be found that the first does not find.
const SEEDS: std::ops::Range<u64> = 0..4;
/// Instructions of one kind to which a rule is applied.
const MOST: usize = 6;
/// Of the mutants of first instructions of a kind, every how many one is in the sample.
const SAMPLED: usize = 5;
/// Of how many mutants of synchronisation and of control one may be missed.
const MISSED_OF: usize = 10;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let named = arguments.first().is_some_and(|first| first == "all");
    let filters = arguments.get(1..).filter(|_| named).unwrap_or_default();
    let filter = |at: usize| filters.get(at).map_or("", String::as_str);
    let launches = LAUNCHES.iter();
    let launches = launches.filter(|launch| launch.name.contains(filter(0)));
    let launches: Vec<&Launch> = launches.collect();

    let original: Vec<Original> = launches.par_iter().map(|it| Original::new(it)).collect();
    let mut all = Vec::new();
    for original in original {
        let original = Arc::new(original);
        for ptx in &original.programs {
            let module = Arc::new(cute_ptx::parse(ptx).expect("the emulator has parsed it"));
            let ptx = Arc::new(ptx.clone());
            let mutants = mutants(&module, MOST).into_iter();
            let in_class = |class: Class| class.to_string().contains(filter(1));
            for mutant in mutants.filter(|mutant| in_class(mutant.class)) {
                all.push(Case {
                    original: original.clone(),
                    ptx: ptx.clone(),
                    module: module.clone(),
                    mutant,
                });
            }
        }
    }
    let start = Instant::now();
    let cases = match named || whole::whole() {
        true => all.iter().collect(),
        false => covering(&all),
    };
    let verdicts: Vec<Verdict> = cases.par_iter().map(|case| case.verdict()).collect();
    report(&cases, &verdicts);
    let covered = covers(&all, &cases, &verdicts);
    let passed = covered && found_most(&cases, &verdicts);
    // Of some launches or of one class, more may be missed.
    let passed = passed || filters.iter().any(|filter| !filter.is_empty());
    result(&cases, &verdicts, passed, start.elapsed());
    match passed {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

/// For each rule and each kernel the first valid mutant, and a sample of those of first instructions of a kind.
fn covering(all: &[Case]) -> Vec<&Case> {
    let mut pairs: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (i, case) in all.iter().enumerate() {
        pairs.entry(case.pair()).or_default().push(i);
    }
    let pairs = pairs.into_par_iter();
    let valid = pairs.filter_map(|(_, cases)| cases.into_iter().find(|&i| all[i].is_valid()));
    let mut chosen: BTreeSet<usize> = valid.collect();
    let firsts = (0..all.len()).filter(|&i| all[i].mutant.is_first);
    chosen.extend(firsts.step_by(SAMPLED));
    chosen.into_iter().map(|i| &all[i]).collect()
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
    /// The kernel and the rule.
    fn pair(&self) -> (&str, Class, &'static str) {
        let kernel = entry(&self.module).name.as_str();
        (kernel, self.mutant.class, self.mutant.rule)
    }

    fn is_valid(&self) -> bool {
        Program::load(&self.mutant.apply(&self.module)).is_ok()
    }

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
fn report(cases: &[&Case], verdicts: &[Verdict]) {
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

/// Whether each rule has made a mutant, and one of each kernel of which it can make a valid one. Prints how many have, of how many.
fn covers(all: &[Case], cases: &[&Case], verdicts: &[Verdict]) -> bool {
    let judged = cases.iter().zip(verdicts);
    let judged = judged.filter(|(_, verdict)| **verdict != Verdict::Invalid);
    let covered: BTreeSet<_> = judged.map(|(case, _)| case.pair()).collect();
    let others = all
        .par_iter()
        .filter(|case| !covered.contains(&case.pair()));
    let missing: BTreeSet<_> = others
        .filter(|case| case.is_valid())
        .map(Case::pair)
        .collect();
    let rules: BTreeSet<_> = covered
        .iter()
        .map(|(_, class, rule)| (class, rule))
        .collect();
    println!(
        "\n{} of {} mutants; {} of {RULE_COUNT} rules; each with each kernel that it changes: {} of {} pairs",
        cases.len(),
        all.len(),
        rules.len(),
        covered.len(),
        covered.len() + missing.len(),
    );
    for (kernel, class, rule) in &missing {
        println!("not covered: {class}, {rule} of {kernel}");
    }
    missing.is_empty() && rules.len() == RULE_COUNT
}

/// How many mutants of synchronisation and of control were found or do what the kernel does, and how many were missed.
fn counts(cases: &[&Case], verdicts: &[Verdict]) -> (usize, usize) {
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
    (passed, missed)
}

fn found_most(cases: &[&Case], verdicts: &[Verdict]) -> bool {
    let (passed, missed) = counts(cases, verdicts);
    missed * MISSED_OF <= passed + missed
}

/// Prints the last line as a test runner does.
fn result(cases: &[&Case], verdicts: &[Verdict], is_ok: bool, time: Duration) {
    let (passed, missed) = counts(cases, verdicts);
    let (word, failed) = match is_ok {
        true => ("ok", 0),
        false => ("FAILED", missed),
    };
    println!(
        "\ntest result: {word}. {passed} passed; {failed} failed; 0 ignored; 0 measured; 0 filtered out; finished in {:.2}s",
        time.as_secs_f64()
    );
}
