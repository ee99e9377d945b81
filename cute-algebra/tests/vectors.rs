//! Compares results with recorded results of the reference implementations of CuTe. The records are the `*.jsonl` files
//! in the directory `CUTE_VECTORS`, or else in `vectors` beside this file.
//!
//! `cargo test --release -p cute-algebra --test vectors -- --nocapture` prints the tables of outcomes.
//!
//! - Where CuTe's result is the right function, ours is the same, in text or at least value by value.
//! - Where CuTe rounds up, the strict form is an error and the ragged form agrees.
//! - Where CuTe's result is the wrong function, we give an error, or a result with the values that the operation promises.
//! - Where only CuTe gives an error, our result has the values that the operation promises.
//!
//! All our errors where CuTe has a result are listed with the reason. Their counts are those of `cute-algebra/docs/differences.md`.

mod support;

use cute_algebra::{
    ComposedLayout, ErrorKind, IntTuple, LayoutError, Tuple, Value, notation, operations,
};
use rayon::prelude::*;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use support::{MOST_POINTS, canonical, keeps_promise, keeps_ragged_promise};

fn main() -> ExitCode {
    let directory = directory();
    let records: Vec<(String, Json)> = files(&directory)
        .iter()
        .flat_map(|path| records(path))
        .collect();
    let verdicts: Vec<Verdict> = records.par_iter().map(|(_, it)| judge(it)).collect();
    let mut report = Report::default();
    for ((family, record), verdict) in records.iter().zip(verdicts) {
        report.add(family, record, verdict);
    }
    report.print(&directory)
}

/// The records of a file, each with the file's name.
fn records(path: &Path) -> Vec<(String, Json)> {
    let text =
        std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let family = path.file_stem().unwrap_or_default().to_string_lossy();
    text.lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| {
            let record = serde_json::from_str(line)
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            (family.clone().into_owned(), record)
        })
        .collect()
}

fn sample() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors")
}

fn directory() -> PathBuf {
    let Some(named) = std::env::var_os("CUTE_VECTORS").map(PathBuf::from) else {
        return sample();
    };
    // Cargo runs tests in the directory of the package. A relative path is probably meant from that of the workspace.
    let from_workspace = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .join(&named);
    if named.exists() {
        named
    } else {
        from_workspace
    }
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory)
        .unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    let mut files: Vec<_> = entries
        .map(|entry| entry.expect("the directory can be read").path())
        .collect();
    files.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == "jsonl")
    });
    files.sort();
    assert!(!files.is_empty(), "{}: no *.jsonl", directory.display());
    files
}

/// The outcome of comparing a record.
enum Verdict {
    /// The same text.
    Same,
    /// The same values in a compatible shape.
    SameFunction,
    /// The strict form is an error, and the ragged form agrees.
    Ragged,
    /// Both give an error.
    BothRefuse,
    /// We have a right result where CuTe gives an error.
    WeAnswer,
    /// We have a right result where CuTe's is wrong.
    WeCorrect(String),
    /// We give an error where CuTe's result is wrong: its message, and the reason without numbers.
    WeRefuse(String, &'static str),
    Failed(String),
    Unknown,
}

fn judge(record: &Json) -> Verdict {
    let operation = record["op"].as_str().unwrap_or_default();
    let args: Result<Vec<Value>, String> = record["args"]
        .as_array()
        .into_iter()
        .flatten()
        .enumerate()
        .map(|(i, arg)| match arg {
            Json::String(word) if takes_word(operation, i) => Ok(Value::Word(word.clone())),
            arg => argument(arg),
        })
        .collect();
    let expect = &record["expect"];
    let refused = expect.get("error").is_some();
    let post = record["post"].as_bool();
    if !is_known(operation) {
        return Verdict::Unknown;
    }
    let args = match args {
        Ok(args) => args,
        // An operand that we do not accept as a value.
        Err(_) if refused => return Verdict::BothRefuse,
        Err(message) => return Verdict::Failed(message),
    };
    let Some(outcome) = run(operation, &args, false) else {
        return Verdict::Failed("the operands are not known".into());
    };
    let reference = argument(expect);
    match outcome {
        Err(_) if refused => Verdict::BothRefuse,
        Err(error) if is_of_another_thread(record, operation, &args, &error) => {
            Verdict::WeRefuse(error.kind().to_string(), "the part of another thread")
        }
        Err(error) => {
            let mut reason = error.kind().to_string();
            let mut because = because(error.kind());
            let mut promise = reference
                .as_ref()
                .ok()
                .and_then(|value| keeps_promise(operation, &args, value));
            let is_past_the_end = matches!(error.kind(), ErrorKind::OutOfRange { .. });
            if error.kind().is_overhang() || is_past_the_end {
                match run(operation, &args, true) {
                    Some(Ok(answer)) if agreement(record, &answer).is_some() => {
                        return Verdict::Ragged;
                    }
                    Some(Err(error)) => {
                        reason = format!("ragged: {}", error.kind());
                        because = self::because(error.kind());
                    }
                    Some(Ok(answer)) => reason = format!("ragged: {}", answer.value),
                    None => {}
                }
                promise = reference
                    .as_ref()
                    .ok()
                    .and_then(|value| keeps_ragged_promise(operation, &args, value));
            }
            if post == Some(false) || promise == Some(false) || reference.is_err() {
                Verdict::WeRefuse(reason, because)
            } else {
                Verdict::Failed(format!("refused: {reason}"))
            }
        }
        Ok(answer) => {
            let promise = keeps_promise(operation, &args, &answer.value);
            if refused {
                match promise {
                    Some(true) => Verdict::WeAnswer,
                    Some(false) => {
                        Verdict::Failed(format!("CuTe refuses, ours is wrong: {}", answer.value))
                    }
                    None => Verdict::Failed(format!(
                        "CuTe refuses, ours is {} and no promise is known",
                        answer.value
                    )),
                }
            } else if let Some(verdict) = agreement(record, &answer) {
                verdict
            } else {
                let theirs = reference
                    .ok()
                    .and_then(|value| keeps_promise(operation, &args, &value));
                match (post == Some(false) || theirs == Some(false), promise) {
                    (true, Some(true)) => Verdict::WeCorrect(answer.value.to_string()),
                    _ => Verdict::Failed(format!("ours is {}", answer.value)),
                }
            }
        }
    }
}

/// Whether we give an error because there is no such thread, and CuTe gives what a thread before it has.
fn is_of_another_thread(
    record: &Json,
    operation: &str,
    args: &[Value],
    error: &LayoutError,
) -> bool {
    let is_no_thread = match error.kind() {
        ErrorKind::OutOfRange { what, .. } => *what == "thread",
        kind => matches!(kind, ErrorKind::NoThread { .. }),
    };
    let Some((Value::Int(thread), before)) = args.split_last().filter(|_| is_no_thread) else {
        return false;
    };
    (0..*thread).any(|another| {
        let args = [before, &[Value::Int(another)]].concat();
        let answer = run(operation, &args, false).and_then(Result::ok);
        answer.is_some_and(|answer| agreement(record, &answer).is_some())
    })
}

/// The reason for an error, without its numbers.
fn because(kind: &ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Drift { .. } => "a stride's steps carry over a boundary",
        ErrorKind::Split { .. } => "a boundary cuts an extent",
        ErrorKind::Carry { .. } => "modes carry together",
        ErrorKind::Gap { .. } | ErrorKind::Interleaved { .. } => {
            "strides leave holes that no layout fills"
        }
        ErrorKind::Overlap { .. } => "the values of two coordinates can meet",
        ErrorKind::NegativeStride { .. } => "a negative stride",
        ErrorKind::NotContiguous { .. } => "several modes of stride 1",
        kind if kind.is_overhang() => "rounded up at each mode of the target",
        _ => "other",
    }
}

fn argument(arg: &Json) -> Result<Value, String> {
    match arg {
        Json::Number(number) => number
            .as_i64()
            .map(Value::Int)
            .ok_or_else(|| format!("{number} is not an i64")),
        Json::String(text) => notation::eval_str(text).map_err(|error| format!("{text}: {error}")),
        other => Err(format!("an argument {other}")),
    }
}

/// A result, and the offset, which some records state separately.
struct Answer {
    value: Value,
    base: i64,
}

/// Names of operations in the records, with their names here.
const ALIASES: [(&str, &str); 4] = [
    ("idx2crd_stride", "idx2crd"),
    ("make_layout_cat", "concat"),
    ("append_n", "append"),
    ("prepend_n", "prepend"),
];

/// Operations of the records that are not operations of the notation.
const OWN: [&str; 2] = ["evaluate", "swizzle_apply"];

fn is_known(operation: &str) -> bool {
    OWN.contains(&operation) || operations::find(alias(operation)).is_some()
}

fn takes_word(operation: &str, index: usize) -> bool {
    operations::find(alias(operation)).is_some_and(|operation| operation.takes_word(index))
}

fn alias(operation: &str) -> &str {
    ALIASES
        .iter()
        .find(|(name, _)| *name == operation)
        .map_or(operation, |(_, name)| name)
}

/// Whether records of this operation state the offset separately from the result.
fn gives_offset(operation: &str) -> bool {
    let partitions = operation.starts_with("partition_") && !operation.contains("shape");
    partitions || operation == "slice_and_offset"
}

/// The result of an operation of the records; `None` for an unknown operation.
fn run(operation: &str, args: &[Value], ragged: bool) -> Option<Result<Answer, LayoutError>> {
    let plain = |value| match value {
        // The list holds a slice and its offset.
        Value::List(list) if gives_offset(operation) => match &list[..] {
            [value, Value::Int(base)] => Answer {
                value: value.clone(),
                base: *base,
            },
            _ => Answer {
                value: list.into(),
                base: 0,
            },
        },
        value => Answer { value, base: 0 },
    };
    match (operation, args) {
        ("evaluate", [value]) => Some(Ok(plain(value.clone()))),
        (
            "swizzle_apply",
            [
                Value::Swizzle(swizzle),
                Value::Int(count),
                Value::Int(step),
                Value::Int(start),
            ],
        ) => {
            let values = (0..*count).map(|i| Value::Int(swizzle.apply(start + i * step)));
            Some(Ok(plain(Value::List(values.collect()))))
        }
        _ => {
            let args = in_our_order(operation, args);
            let operation = operations::find(alias(operation))?;
            Some(operations::apply(operation, &args, ragged).map(plain))
        }
    }
}

/// The operands of a record in CuTe's order. Some records have the layout before the coordinate, CuTe has it after.
fn in_our_order(operation: &str, args: &[Value]) -> Vec<Value> {
    match (operation, args) {
        ("crd2idx" | "idx2crd", [a, coord]) => vec![coord.clone(), a.clone()],
        ("idx2crd_stride", [Value::Layout(a), index]) => {
            vec![index.clone(), a.shape().into(), a.stride().clone().into()]
        }
        _ => args.to_vec(),
    }
}

/// The way in which our result agrees with the record's; `None` if it does not.
fn agreement(record: &Json, answer: &Answer) -> Option<Verdict> {
    let expect = &record["expect"];
    let base = record["base"].as_i64().unwrap_or(0);
    let same_text = match expect {
        Json::String(text) => text.replace(' ', "") == answer.value.to_string().replace(' ', ""),
        Json::Number(number) => number.as_i64().map(Value::Int) == Some(answer.value.clone()),
        Json::Bool(truth) => answer.value == Value::Bool(*truth),
        Json::Array(values) => {
            let values = values
                .iter()
                .map(|value| value.as_i64().map(Value::Int))
                .collect::<Option<Vec<_>>>();
            values.map(Value::List) == Some(answer.value.clone())
        }
        _ => false,
    };
    // Results with too many values are compared only by their text.
    let listed = record["n"].as_i64().is_some_and(|n| n <= MOST_POINTS);
    let same_values = !listed || has_values(record, answer);
    if same_text && same_values && base == answer.base {
        return Some(Verdict::Same);
    }
    (listed && same_values && shapes_agree(expect, &answer.value)).then_some(Verdict::SameFunction)
}

/// Whether the values have the list and the hash that the record gives.
fn has_values(record: &Json, answer: &Answer) -> bool {
    let Some(values) = values(&answer.value) else {
        return false;
    };
    let listed = |list: &Vec<Json>| list.iter().map(listed_value).collect::<Option<Vec<_>>>();
    let listed: Option<Vec<IntTuple>> = record["fn"].as_array().and_then(listed);
    let moved: Vec<IntTuple> = values
        .iter()
        .map(|value| match value {
            Tuple::Leaf(value) => Tuple::Leaf(value + answer.base),
            value => canonical(value),
        })
        .collect();
    let hash = record["fnv"].as_str();
    let same_list = |listed: &Vec<IntTuple>| {
        listed
            .iter()
            .map(canonical)
            .eq(moved.iter().take(64).cloned())
    };
    record["n"].as_u64() == Some(moved.len() as u64)
        && (hash.is_some() || listed.is_some())
        && hash.is_none_or(|hash| hash == fnv(&moved))
        && listed.as_ref().is_none_or(same_list)
}

fn values(value: &Value) -> Option<Vec<IntTuple>> {
    match value {
        Value::Layout(layout) => (layout.size() <= MOST_POINTS).then(|| support::table(layout)),
        Value::Composed(composed) => {
            (composed.size() <= MOST_POINTS).then(|| composed.values().map(Tuple::Leaf).collect())
        }
        _ => None,
    }
}

fn listed_value(value: &Json) -> Option<IntTuple> {
    match value {
        Json::Number(number) => number.as_i64().map(Tuple::Leaf),
        Json::Array(values) => values
            .iter()
            .map(listed_value)
            .collect::<Option<Vec<_>>>()
            .map(Tuple::Node),
        Json::String(text) => {
            // `0@1` evaluates to the integer 0, so it is not a stride.
            let Value::Stride(stride) = notation::eval_str(text).ok()? else {
                return Some(Tuple::Leaf(0));
            };
            stride.leaves().next().map(|basis| basis.to_int_tuple())
        }
        _ => None,
    }
}

fn fnv(values: &[IntTuple]) -> String {
    let text: Vec<String> = values.iter().map(ToString::to_string).collect();
    let hash = text
        .join(",")
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
    format!("{hash:016x}")
}

/// Whether one shape refines the other.
fn shapes_agree(expect: &Json, value: &Value) -> bool {
    let shape = |value: &Value| match value {
        Value::Layout(layout) => Some(layout.shape().clone()),
        Value::Composed(composed) => Some(ComposedLayout::layout(composed).shape().clone()),
        _ => None,
    };
    let (Some(expected), Some(found)) =
        (argument(expect).ok().as_ref().and_then(shape), shape(value))
    else {
        // The record has nested swizzles, which are never nested in our results.
        return expect
            .as_str()
            .is_some_and(|text| text.matches("Sw").count() > 1);
    };
    let found: &cute_algebra::Shape = &found;
    cute_algebra::compatible(&expected, found) || cute_algebra::compatible(found, &expected)
}

#[derive(Default)]
struct Report {
    passed: BTreeMap<String, [usize; 7]>,
    corrections: Vec<String>,
    refusals: Vec<String>,
    reasons: BTreeMap<(String, &'static str), usize>,
    failures: Vec<String>,
    unknown: BTreeMap<String, usize>,
}

impl Report {
    fn add(&mut self, family: &str, record: &Json, verdict: Verdict) {
        let counts = self.passed.entry(family.to_owned()).or_default();
        let call = || {
            let args: Vec<_> = record["args"]
                .as_array()
                .into_iter()
                .flatten()
                .map(plain_text)
                .collect();
            format!(
                "{} {}({})",
                record["id"].as_str().unwrap_or("?"),
                plain_text(&record["op"]),
                args.join(", ")
            )
        };
        let expect = plain_text(&record["expect"]);
        match verdict {
            Verdict::Same => counts[0] += 1,
            Verdict::SameFunction => counts[1] += 1,
            Verdict::Ragged => counts[2] += 1,
            Verdict::BothRefuse => counts[3] += 1,
            Verdict::WeAnswer => counts[4] += 1,
            Verdict::WeCorrect(ours) => {
                counts[5] += 1;
                self.corrections
                    .push(format!("{}: CuTe gives {expect}, ours is {ours}", call()));
            }
            Verdict::WeRefuse(reason, because) => {
                counts[6] += 1;
                let key = (family.to_owned(), because);
                *self.reasons.entry(key).or_default() += 1;
                self.refusals
                    .push(format!("{}: CuTe gives {expect}; {reason}", call()));
            }
            Verdict::Failed(reason) => self
                .failures
                .push(format!("{}: CuTe gives {expect}; {reason}", call())),
            Verdict::Unknown => *self.unknown.entry(plain_text(&record["op"])).or_default() += 1,
        }
    }

    fn print(&self, directory: &Path) -> ExitCode {
        println!("vectors of {}\n", directory.display());
        let tables = [self.outcomes(), self.reasons()];
        tables.iter().for_each(|table| println!("{table}"));
        println!("refused where CuTe's result is not the function that it should be:");
        self.refusals.iter().for_each(|line| println!("  {line}"));
        println!("\nanswered where CuTe's result is not the function that it should be:");
        self.corrections
            .iter()
            .for_each(|line| println!("  {line}"));
        if !self.failures.is_empty() {
            println!("\nfailed:");
            self.failures.iter().for_each(|line| println!("  {line}"));
        }
        if !self.unknown.is_empty() {
            println!("\nnot known, counted as failed:");
            self.unknown
                .iter()
                .for_each(|(operation, count)| println!("  {operation} ({count})"));
        }
        let passed: usize = self.passed.values().flatten().sum();
        let failed = self.failures.len() + self.unknown.values().sum::<usize>();
        println!("\n{passed} passed, {failed} failed");
        let page = include_str!("../docs/differences.md");
        let is_told = tables.iter().all(|table| page.contains(table));
        if !is_told && directory == sample() {
            println!("cute-algebra/docs/differences.md does not have the two tables above");
        }
        match failed == 0 && (is_told || directory != sample()) {
            true => ExitCode::SUCCESS,
            false => ExitCode::FAILURE,
        }
    }

    /// The number of records with each outcome, by family, as a Markdown table.
    fn outcomes(&self) -> String {
        let mut table = String::from(
            "| records | same | same fn | ragged | refused | answered | corrected | declined |\n\
             |---|---|---|---|---|---|---|---|\n",
        );
        for (family, counts) in &self.passed {
            let counts = counts.map(|count| count.to_string()).join(" | ");
            table += &format!("| {family} | {counts} |\n");
        }
        table
    }

    /// The reasons for which records were declined, with their counts, as a Markdown table.
    fn reasons(&self) -> String {
        let mut table = String::from("| declined | because | records |\n|---|---|---|\n");
        for ((family, because), count) in &self.reasons {
            table += &format!("| {family} | {because} | {count} |\n");
        }
        table
    }
}

fn plain_text(value: &Json) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}
