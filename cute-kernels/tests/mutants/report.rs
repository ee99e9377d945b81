//! What is printed, and what makes the test fail.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::time::Duration;

use rayon::prelude::*;

use crate::known::KNOWN;
use crate::mutation::Class;
use crate::rules::RULES;
use crate::{Aspect, Case, Verdict};

/// Of a hundred mutants of a class, how many may be missed. For synchronisation, `known.rs` says it.
const MOST_MISSED: &[(Class, usize)] = &[(Class::Address, 25), (Class::Control, 12)];

/// Prints the table, and those that were missed.
pub(crate) fn report(cases: &[&Case], verdicts: &[Verdict], seeds: Range<u64>) {
    let mut rows: BTreeMap<(Class, &str), [usize; 5]> = BTreeMap::new();
    for (case, verdict) in cases.iter().zip(verdicts) {
        let column = match verdict {
            Verdict::Invalid => continue,
            Verdict::Equivalent(_) | Verdict::FalseAlarm(_) => 0,
            Verdict::Reported => 1,
            Verdict::ByLuck(_) => 2,
            Verdict::Wrong => 3,
            Verdict::Survived => 4,
        };
        for rule in [case.mutant.rule, "all"] {
            rows.entry((case.mutant.class, rule)).or_default()[column] += 1;
        }
        if !matches!(verdict, Verdict::Equivalent(_) | Verdict::Reported) {
            let known = case.known().map_or("", |known| known.reason);
            let launch = case.original.launch.name;
            println!("{verdict:?}: {launch}: {}; {known}", case.mutant);
        }
    }
    println!(
        "\n| class | rule | mutants | equivalent | reported by the first schedule | by luck: by others of {} | wrong result | right result | reported by the first |",
        seeds.count()
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for ((class, rule), [equivalent, first, luck, wrong, right]) in rows {
        let different = first + luck + wrong + right;
        let share = 100.0 * first as f64 / different.max(1) as f64;
        let mutants = different + equivalent;
        println!(
            "| {class} | {rule} | {mutants} | {equivalent} | {first} | {luck} | {wrong} | {right} | {share:.1} % |"
        );
    }
    let mut reasons: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for (case, verdict) in cases.iter().zip(verdicts) {
        let reason = match verdict {
            Verdict::Equivalent(reason) => ("equivalent since", *reason),
            verdict if verdict.is_missed() && case.mutant.class == Class::Synchronisation => {
                let reason = case.known().map_or("", |known| known.reason);
                ("missed since", reason)
            }
            _ => continue,
        };
        *reasons.entry(reason).or_default() += 1;
    }
    println!("\n| | reason | mutants |\n|---|---|---|");
    for ((what, reason), mutants) in reasons {
        println!("| {what} | {reason} | {mutants} |");
    }
}

/// Whether each rule has made a mutant, and the cases have all aspects that any mutant has. Prints how many have, of how many.
pub(crate) fn covers(all: &[Case], cases: &[&Case], verdicts: &[Verdict]) -> bool {
    let judged = cases.iter().zip(verdicts);
    let judged = judged.filter(|(_, verdict)| **verdict != Verdict::Invalid);
    let covered: BTreeSet<Aspect<'_>> = judged.flat_map(|(case, _)| case.aspects()).collect();
    let is_new = |case: &&Case| !case.aspects().iter().all(|it| covered.contains(it));
    let others = all.par_iter().filter(is_new);
    let missing: BTreeSet<Aspect<'_>> = others
        .filter(|case| case.is_valid())
        .flat_map_iter(Case::aspects)
        .filter(|it| !covered.contains(it))
        .collect();
    let rules: BTreeSet<_> = covered
        .iter()
        .filter(|(_, rule, _)| !rule.is_empty())
        .map(|(class, rule, _)| (class, rule))
        .collect();
    println!(
        "\n{} of {} mutants; {} of {} rules; {} of {} pairs of a rule and a file or an instruction, or launches",
        cases.len(),
        all.len(),
        rules.len(),
        RULES.len(),
        covered.len(),
        covered.len() + missing.len(),
    );
    for (class, rule, of) in &missing {
        println!("not covered: {class} {rule} of {of}");
    }
    missing.is_empty() && rules.len() == RULES.len()
}

impl Verdict {
    /// Whether the emulator should have reported it under the first schedule.
    fn is_missed(&self) -> bool {
        matches!(
            self,
            Verdict::Wrong | Verdict::Survived | Verdict::ByLuck(_)
        )
    }
}

/// Whether no correct mutant was reported, all mutants of synchronisation were but for those of kinds that are known, and most of the
/// others. Prints what is otherwise.
pub(crate) fn found(cases: &[&Case], verdicts: &[Verdict]) -> bool {
    let mut passed = true;
    let mut counts: BTreeMap<Class, (usize, usize)> = BTreeMap::new();
    for (case, verdict) in cases.iter().zip(verdicts) {
        let (class, launch) = (case.mutant.class, case.original.launch.name);
        let alarm = matches!(verdict, Verdict::FalseAlarm(_));
        let unknown = class == Class::Synchronisation && case.known().is_none();
        if alarm || verdict.is_missed() && unknown {
            println!("FAILED: {verdict:?}: {launch}: {}", case.mutant);
            passed = false;
        }
        let (missed, all) = counts.entry(class).or_default();
        *missed += usize::from(verdict.is_missed());
        *all += usize::from(*verdict != Verdict::Invalid);
    }
    for (class, most) in MOST_MISSED {
        let (missed, all) = counts.get(class).copied().unwrap_or_default();
        if missed * 100 > most * all {
            println!("FAILED: {missed} of {all} mutants of {class} are missed, more than {most} %");
            passed = false;
        }
    }
    for known in KNOWN {
        let of_kind = cases.iter().zip(verdicts).filter(|(case, verdict)| {
            let is_judged = !matches!(verdict, Verdict::Invalid | Verdict::Equivalent(_));
            is_judged && (known.has)(&case.mutant)
        });
        let (missed, others): (Vec<_>, Vec<_>) = of_kind.partition(|(_, it)| it.is_missed());
        let (missed, all) = (missed.len(), missed.len() + others.len());
        println!("{missed} of {all} are missed: {}", known.reason);
        // A few say nothing.
        if all >= 20 && missed * 100 > known.most * all {
            println!("FAILED: more than {} % are missed", known.most);
            passed = false;
        }
    }
    passed
}

/// Prints the last line as a test runner does.
pub(crate) fn result(verdicts: &[Verdict], is_ok: bool, time: Duration) {
    let missed = verdicts.iter().filter(|it| it.is_missed()).count();
    let passed = verdicts.len() - missed;
    let (word, failed) = match is_ok {
        true => ("ok", 0),
        false => ("FAILED", missed),
    };
    println!(
        "\ntest result: {word}. {passed} passed; {failed} failed; 0 ignored; 0 measured; 0 filtered out; finished in {:.2}s",
        time.as_secs_f64()
    );
}
