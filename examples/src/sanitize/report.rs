//! The report for each kernel and shape: runs, counts and findings.

use std::fmt::{self, Display, Formatter};

use cute_runtime::{Class, Counts, EmulatorOptions, Waits};
use serde_json::{Map, Value, json};

use super::case::{Case, Failure, Outcome};

pub(super) struct Report {
    schedules: u64,
    cases: Vec<CaseReport>,
}

struct CaseReport {
    kernel: String,
    shape: String,
    /// The counts of a run under the first schedule.
    counts: Counts,
    /// Kernel launches under all schedules.
    launches: u64,
    findings: Vec<Finding>,
}

/// Something that is wrong.
struct Finding {
    key: String,
    /// The message of the first run with this finding. It names the accesses.
    message: String,
    /// The number of schedules with this finding.
    schedules: u64,
    seed: u64,
}

impl Report {
    /// The report of the outcomes of each case under each schedule.
    pub(super) fn new(
        cases: &[Case],
        outcomes: &[(EmulatorOptions, Outcome)],
        schedules: u64,
    ) -> Report {
        let of_cases = outcomes.chunks(schedules as usize);
        let cases = (cases.iter().zip(of_cases))
            .map(|(case, outcomes)| CaseReport {
                kernel: case.kernel.clone(),
                shape: case.shape.clone(),
                counts: (outcomes.first())
                    .map(|(_, first)| first.counts.clone())
                    .unwrap_or_default(),
                launches: (outcomes.iter())
                    .map(|(_, outcome)| outcome.counts.launches)
                    .sum(),
                findings: findings(outcomes),
            })
            .collect();
        Report { schedules, cases }
    }

    /// Whether anything is wrong.
    pub(super) fn failed(&self) -> bool {
        self.cases.iter().any(|case| !case.findings.is_empty())
    }

    pub(super) fn to_json(&self) -> Value {
        let cases: Vec<Value> = self.cases.iter().map(CaseReport::to_json).collect();
        json!({ "schedules": self.schedules, "failed": self.failed(), "cases": cases })
    }
}

/// The findings under these schedules, each once.
fn findings(outcomes: &[(EmulatorOptions, Outcome)]) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    let expected = outcomes.iter().find_map(|(_, it)| it.result.as_ref().ok());
    for (options, outcome) in outcomes {
        let differs = Failure {
            key: "result".to_owned(),
            message: "the result is another one than under an earlier schedule".to_owned(),
        };
        let failure = match &outcome.result {
            Err(failure) => failure,
            Ok(result) if Some(result) != expected => &differs,
            Ok(_) => continue,
        };
        match findings.iter_mut().find(|it| it.key == failure.key) {
            Some(finding) => finding.schedules += 1,
            None => findings.push(Finding {
                key: failure.key.clone(),
                message: failure.message.clone(),
                schedules: 1,
                seed: options.seed,
            }),
        }
    }
    findings
}

impl CaseReport {
    fn to_json(&self) -> Value {
        let CaseReport {
            kernel,
            shape,
            counts,
            launches,
            findings,
        } = self;
        let instructions: Map<String, Value> = (Class::ALL.iter())
            .map(|class| (class.to_string(), counts.instructions[*class].into()))
            .collect();
        let waits: Map<String, Value> = (counts.waits.iter())
            .map(|(barrier, Waits { count, steps })| {
                (barrier.clone(), json!({ "count": count, "steps": steps }))
            })
            .collect();
        let findings = findings.iter().map(|finding| {
            json!({ "message": finding.message, "schedules": finding.schedules, "seed": finding.seed })
        });
        json!({
            "kernel": kernel,
            "shape": shape,
            "launches": launches,
            "counts": {
                "steps": counts.steps,
                "instructions": instructions,
                "matrix_flops": counts.matrix_flops,
                "global": {
                    "read": counts.global.read,
                    "written": counts.global.written,
                    "requests": counts.global.requests,
                    "sectors": counts.global.sectors,
                },
                "shared": {
                    "read": counts.shared.read,
                    "written": counts.shared.written,
                    "requests": counts.shared.requests,
                    "bank_conflicts": counts.shared.bank_conflicts,
                },
                "copied_in": counts.copied_in,
                "copied_out": counts.copied_out,
                "waits": waits,
            },
            "findings": findings.collect::<Vec<_>>(),
        })
    }
}

impl Display for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for case in &self.cases {
            writeln!(f, "{case}")?;
        }
        let found: usize = self.cases.iter().map(|case| case.findings.len()).sum();
        let launches: u64 = self.cases.iter().map(|case| case.launches).sum();
        writeln!(
            f,
            "{} cases under {} schedules, {launches} launches: {}",
            self.cases.len(),
            self.schedules,
            match found {
                0 => "nothing is wrong".to_owned(),
                1 => "1 fault".to_owned(),
                _ => format!("{found} faults"),
            }
        )
    }
}

impl Display for CaseReport {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let CaseReport {
            kernel,
            shape,
            counts,
            launches,
            findings,
        } = self;
        writeln!(f, "{kernel} {shape}: {launches} launches")?;
        for line in counts.to_string().lines() {
            writeln!(f, "    {line}")?;
        }
        for finding in findings {
            writeln!(
                f,
                "  fault under {} schedules, first with seed {}:",
                finding.schedules, finding.seed
            )?;
            for line in finding.message.lines() {
                writeln!(f, "    {line}")?;
            }
        }
        Ok(())
    }
}
