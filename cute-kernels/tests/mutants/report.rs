//! What is printed, and what makes the test fail.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::time::Duration;

use rayon::prelude::*;

use crate::mutation::Class;
use crate::rules::RULES;
use crate::{Aspect, Case, Verdict};

/// Of a hundred mutants of a class, how many may be missed.
const MOST_MISSED: &[(Class, usize)] = &[
    (Class::Synchronisation, 0),
    // An address of another element of the same tensor is no fault, and no other check tells that it is the wrong one.
    (Class::Address, 20),
    (Class::Control, 10),
];

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
            let launch = case.original.launch.name;
            println!("{verdict:?}: {launch}: {}", case.mutant);
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

/// Whether no correct mutant was reported, and no more were missed than may be. Prints what is otherwise. Where the cases are only a
/// part of all, a percentage says nothing, but a class of which none may be missed is held to that.
pub(crate) fn found(cases: &[&Case], verdicts: &[Verdict], is_part: bool) -> bool {
    let mut passed = true;
    let mut counts: BTreeMap<Class, (usize, usize)> = BTreeMap::new();
    for (case, verdict) in cases.iter().zip(verdicts) {
        if let Verdict::FalseAlarm(_) = verdict {
            let launch = case.original.launch.name;
            println!("FAILED: {verdict:?}: {launch}: {}", case.mutant);
            passed = false;
        }
        let (missed, all) = counts.entry(case.mutant.class).or_default();
        *missed += usize::from(verdict.is_missed());
        *all += usize::from(*verdict != Verdict::Invalid);
    }
    for (class, most) in MOST_MISSED {
        let (missed, all) = counts.get(class).copied().unwrap_or_default();
        let is_bound = !is_part || *most == 0;
        if is_bound && missed * 100 > most * all {
            println!("FAILED: {missed} of {all} mutants of {class} are missed, more than {most} %");
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
