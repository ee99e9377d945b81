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
//! covering set runs, which has a mutant by each rule in each file of the source and, of synchronisation, of each instruction and each launch.
//!
//! Missed is what the first schedule does not report. The program fails if a mutant of synchronisation is missed; if more mutants of
//! addresses or of control are missed than `report.rs` says; if a mutant is reported that is a correct kernel; if a rule made no mutant; and
//! if a kernel is neither launched nor said to be like one that is.
//! If LAUNCH or CLASS is given, it fails for a missed mutant of synchronisation and for a correct one that is reported, and for
//! nothing else, since the other bounds are for all launches.

mod body;
mod covering;
mod equivalent;
mod flow;
mod launches;
mod mutation;
mod report;
mod rules;
mod shadow;
#[path = "../support/shipped.rs"]
mod shipped;
#[path = "../support/whole.rs"]
mod whole;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use cute_emulator::Program;
use cute_ptx::Module;
use cute_runtime::{Device, EmulatorOptions};
use rayon::prelude::*;

use equivalent::{Reason, by_probe, by_rule};
use launches::{LAUNCHES, Launch};
use mutation::{Class, Mutant, mutants};
use report::{covers, found, report, result};

/// Seeds of the schedules under which a mutant runs that the first does not report: how many of them report it is luck.
const SEEDS: Range<u64> = 0..20;
/// The same for the covering set.
const FEW_SEEDS: Range<u64> = 0..4;
/// Seeds under which probes run.
const PROBED: Range<u64> = 0..4;
/// In how many kernels a rule of synchronisation makes the same mistake in the same line of the source, and another rule.
const ALIKE: (usize, usize) = (4, 2);

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
        let module = Arc::new(cute_ptx::parse(&original.ptx).expect("the emulator has parsed it"));
        let mutants = mutants(&module).into_iter();
        let in_class = |class: Class| class.to_string().contains(filter(1));
        for mutant in mutants.filter(|mutant| in_class(mutant.class)) {
            all.push(Case {
                original: original.clone(),
                module: module.clone(),
                mutant,
            });
        }
    }
    let all = thinned(all);
    let start = Instant::now();
    let (cases, seeds): (Vec<&Case>, _) = match named || whole::whole() {
        true => (all.iter().collect(), SEEDS),
        false => (covering(&all), FEW_SEEDS),
    };
    let verdicts = cases.par_iter().map(|case| case.verdict(seeds.clone()));
    let verdicts: Vec<Verdict> = verdicts.collect();
    report(&cases, &verdicts, seeds);
    let covered = covers(&all, &cases, &verdicts) & covering::all_are_launched();
    let is_part = filters.iter().any(|filter| !filter.is_empty());
    let passed = found(&cases, &verdicts, is_part) && (covered || is_part);
    result(&verdicts, passed, start.elapsed());
    match passed {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

/// Kernels are made of the same parts, so a rule makes the same mistake in many of them. It stays in some, spread evenly.
fn thinned(all: Vec<Case>) -> Vec<Case> {
    let mut alike: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (i, case) in all.iter().enumerate() {
        let Mutant {
            class, rule, way, ..
        } = case.mutant;
        let instruction = case.mutant.instruction.as_str();
        let kind = (class, rule, instruction, case.mutant.source.clone(), way);
        alike.entry(kind).or_default().push(i);
    }
    let kept = alike.into_iter().flat_map(|((class, ..), alike)| {
        let most = match class {
            Class::Synchronisation => ALIKE.0,
            Class::Address | Class::Control => ALIKE.1,
        };
        let count = alike.len().min(most);
        (0..count).map(move |i| alike[i * (alike.len() - 1) / (count - 1).max(1)])
    });
    let kept: BTreeSet<usize> = kept.collect();
    let all = all.into_iter().enumerate();
    let kept = all.filter(|(i, _)| kept.contains(i));
    kept.map(|(_, case)| case).collect()
}

/// The first valid mutant of each of the [`Case::aspects`].
fn covering(all: &[Case]) -> Vec<&Case> {
    let mut chosen: BTreeSet<usize> = BTreeSet::new();
    let mut covered: BTreeSet<Aspect<'_>> = BTreeSet::new();
    for (i, case) in all.iter().enumerate() {
        let aspects = case.aspects();
        if !aspects.iter().all(|it| covered.contains(it)) && case.is_valid() {
            covered.extend(aspects);
            chosen.insert(i);
        }
    }
    chosen.into_iter().map(|i| &all[i]).collect()
}

/// A launch of correct kernels.
struct Original {
    launch: &'static Launch,
    /// The kernel that is changed.
    ptx: String,
    result: Vec<u8>,
    /// The limit of [`EmulatorOptions::step_limit`]: the launch itself stays far below it.
    steps: u64,
}

/// A mutant of a kernel of a launch.
struct Case {
    original: Arc<Original>,
    module: Arc<Module>,
    mutant: Mutant,
}

/// A class, a rule of it, and the file, the instruction or the launch of a mutant.
type Aspect<'a> = (Class, &'static str, &'a str);

/// What became of a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    /// The module is not valid, so it is no mutant.
    Invalid,
    /// The emulator reports it under the first schedule.
    Reported,
    /// The emulator reports it under so many of the schedules, but not under the first.
    ByLuck(usize),
    /// The result is wrong under a schedule, and the emulator reports nothing.
    Wrong,
    /// The result is right under all schedules, and no probe shows why.
    Survived,
    /// It does what the kernel does, for this reason.
    Equivalent(&'static str),
    /// The emulator reports it although it is correct, for this reason.
    FalseAlarm(&'static str),
}

impl Case {
    /// What the covering set has of it: its rule with the file of the source that its instruction comes from and, if that synchronises, with
    /// the instruction and its launch.
    fn aspects(&self) -> Vec<Aspect<'_>> {
        let Mutant { class, rule, .. } = self.mutant;
        let file = self.mutant.source.as_ref();
        let file = file.map_or("", |(path, ..)| path.as_str());
        let mut aspects = vec![(class, rule, file)];
        if class == Class::Synchronisation {
            aspects.push((class, rule, self.mutant.instruction.as_str()));
            aspects.push((class, "", self.original.launch.name));
        }
        aspects
    }

    fn is_valid(&self) -> bool {
        Program::load(&self.mutant.apply(&self.module).to_string()).is_ok()
    }

    fn verdict(&self, mut seeds: Range<u64>) -> Verdict {
        let changed = self.mutant.apply(&self.module).to_string();
        if Program::load(&changed).is_err() {
            return Verdict::Invalid;
        }
        let first = seeds.next().unwrap_or_default();
        if let Some(Reason { text, is_correct }) = by_rule(&self.module, &self.mutant) {
            return match is_correct && self.run(&changed, first).is_err() {
                true => Verdict::FalseAlarm(text),
                false => Verdict::Equivalent(text),
            };
        }
        let Ok(found) = self.run(&changed, first) else {
            return Verdict::Reported;
        };
        let mut wrong = found != self.original.result;
        if !wrong {
            let passes = |probe: &Module| {
                let probe = probe.to_string();
                PROBED
                    .into_iter()
                    .all(|seed| self.run(&probe, seed).is_ok())
            };
            if let Some(reason) = by_probe(&self.module, &self.mutant, passes) {
                return Verdict::Equivalent(reason.text);
            }
        }
        let mut reports = 0;
        for seed in seeds {
            match self.run(&changed, seed) {
                Err(_) => reports += 1,
                Ok(found) => wrong |= found != self.original.result,
            }
        }
        match (reports, wrong) {
            (0, true) => Verdict::Wrong,
            (0, false) => Verdict::Survived,
            (reports, _) => Verdict::ByLuck(reports),
        }
    }

    /// The launch with another program instead of the kernel's.
    fn run(&self, program: &str, seed: u64) -> Result<Vec<u8>, cute_kernels::Error> {
        let options = EmulatorOptions {
            step_limit: self.original.steps,
            ..EmulatorOptions::from_seed(seed)
        };
        let (original, program) = (self.original.clone(), program.to_owned());
        let rewrite = move |ptx: &str| match ptx == original.ptx {
            true => program.clone(),
            false => ptx.to_owned(),
        };
        (self.original.launch.run)(&Device::emulator_rewriting(options, rewrite))
    }
}

impl Original {
    fn new(launch: &'static Launch) -> Original {
        let kernel: Arc<Mutex<Option<String>>> = Arc::default();
        let record = kernel.clone();
        let named = format!(".entry {}(", launch.kernel());
        let recording = move |ptx: &str| {
            if ptx.contains(&named) {
                let mut record = record.lock().unwrap_or_else(PoisonError::into_inner);
                record.get_or_insert_with(|| ptx.to_owned());
            }
            ptx.to_owned()
        };
        let device = Device::emulator_rewriting(EmulatorOptions::default(), recording);
        let name = launch.name;
        let result = (launch.run)(&device).unwrap_or_else(|error| panic!("{name}: {error}"));
        // Those of all kernels of the launch are more than those of each.
        let steps = device.take_counts();
        let steps = steps.map_or(0, |counts| counts.steps + counts.charged);
        let ptx = kernel.lock().unwrap_or_else(PoisonError::into_inner).take();
        Original {
            launch,
            ptx: ptx.unwrap_or_else(|| panic!("{name} does not launch its kernel")),
            result,
            steps: 4 * steps.next_power_of_two().max(1 << 16),
        }
    }
}
