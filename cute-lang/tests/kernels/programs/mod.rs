//! Random programs of numbers of all types, with literals that have suffixes and literals whose types follow from their uses, against
//! what rustc makes of the same text.
//!
//! A program that rustc refuses says nothing. Of those that it accepts, the kernel language refuses some, where it asks for a
//! type; whatever it accepts has the same results, in registers and at expansion.

mod generator;

use super::numbers::{Exact, Type, launch};
use super::random::{Random, seeds};
use cute_lang::kernel::lower::lower;
use generator::Program;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// How many argument lists a program is run with.
const RUNS: usize = 8;

#[test]
fn random_programs() {
    for seed in seeds(1, 40) {
        compare(seed, 250);
    }
}

fn compare(seed: u64, count: usize) {
    let mut random = Random::new(seed);
    let programs: Vec<Program> = (0..count).map(|_| Program::new(&mut random)).collect();
    let arguments: Vec<Vec<Vec<u64>>> = programs
        .iter()
        .map(|program| {
            let values = |ty: &Type| (0..RUNS).map(|_| random.pick(&(ty.values)())).collect();
            program.params.iter().map(values).collect()
        })
        .collect();
    let (mut accepted, mut by_rustc) = (0, 0);
    let expected = rust(seed, &programs, &arguments);
    for ((program, arguments), expected) in programs.iter().zip(&arguments).zip(expected) {
        let Some(expected) = expected else { continue };
        by_rustc += 1;
        let in_registers = program.module();
        let known = program.known(arguments);
        for (text, expected) in [(in_registers, &expected[..]), (known, &expected[..1])] {
            let Ok(mut lowered) = lower(text.parse().expect("tokens")) else {
                continue;
            };
            accepted += 1;
            let inputs: Vec<(Type, &[u64])> = match lowered[0].params.len() {
                1 => Vec::new(),
                _ => {
                    let inputs = program.params.iter().zip(arguments);
                    inputs.map(|(ty, values)| (*ty, &values[..])).collect()
                }
            };
            let results = launch(
                &lowered.remove(0),
                &inputs,
                &[(program.result, expected.len())],
            );
            for (run, (result, expected)) in results[0].iter().zip(expected).enumerate() {
                assert!(
                    same(&program.result, *result, *expected),
                    "CUTE_SEED={seed} shows it, with arguments {run}: {result:#x}, and in Rust {expected:#x}\n{text}\n{}",
                    program.rust
                );
            }
        }
    }
    println!(
        "seed {seed}: rustc takes {by_rustc} of {count}, the kernel language {accepted} of {}",
        2 * by_rustc
    );
    // Otherwise, hardly anything would be compared.
    assert!(by_rustc * 2 > count, "rustc takes {by_rustc} of {count}");
    assert!(
        accepted * 2 > by_rustc,
        "{accepted} of {by_rustc} are taken"
    );
}

/// Whether a result is what Rust gives. NaNs are all the same.
fn same(ty: &Type, result: u64, expected: u64) -> bool {
    match (ty.exact)(result) {
        Exact::Int(value) => value as u64 == expected,
        Exact::Float(value) => {
            let expected = f64::from_bits(expected);
            value.to_bits() == expected.to_bits() || value.is_nan() && expected.is_nan()
        }
    }
}

/// The results of each program for its arguments, by rustc; `None` of those that rustc refuses.
fn rust(seed: u64, programs: &[Program], arguments: &[Vec<Vec<u64>>]) -> Vec<Option<Vec<u64>>> {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("programs-{seed}"));
    std::fs::create_dir_all(&directory).expect("a directory");
    let mut refused = BTreeSet::new();
    let output = loop {
        let (text, lines) = source(programs, arguments, &refused);
        let [file, program] = ["programs.rs", "programs"].map(|name| directory.join(name));
        std::fs::write(&file, text).expect("a file");
        let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
        let built = Command::new(rustc)
            .args([
                "--edition=2024",
                "--cap-lints=allow",
                "-Cdebug-assertions=off",
                "--error-format=short",
                "-o",
            ])
            .args([&program, &file])
            .output()
            .expect("rustc runs");
        if built.status.success() {
            break Command::new(program).output().expect("the programs run");
        }
        let before = refused.len();
        for error in String::from_utf8_lossy(&built.stderr).lines() {
            let line = error
                .split(':')
                .nth(1)
                .and_then(|line| line.parse::<usize>().ok());
            let Some(line) = line.filter(|_| error.contains(": error")) else {
                continue;
            };
            refused.insert(lines.partition_point(|start| *start <= line) - 1);
        }
        assert!(
            refused.len() > before,
            "{}",
            String::from_utf8_lossy(&built.stderr)
        );
    };
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let mut lines = std::str::from_utf8(&output.stdout).expect("digits").lines();
    let results = (0..programs.len()).map(|index| {
        (!refused.contains(&index)).then(|| {
            let line = lines.next().expect("a line for each program");
            line.split(' ')
                .map(|bits| bits.parse().expect("a number"))
                .collect()
        })
    });
    let results = results.collect();
    std::fs::remove_dir_all(directory).expect("the directory is ours");
    results
}

/// The programs but those that are refused, as one program of Rust, and the line at which each begins.
fn source(
    programs: &[Program],
    arguments: &[Vec<Vec<u64>>],
    refused: &BTreeSet<usize>,
) -> (String, Vec<usize>) {
    let mut text = include_str!("prelude.rs").to_owned();
    let (mut lines, mut main) = (Vec::new(), String::new());
    for (index, (program, arguments)) in programs.iter().zip(arguments).enumerate() {
        lines.push(text.lines().count() + 1);
        if refused.contains(&index) {
            continue;
        }
        writeln!(
            text,
            "mod program{index} {{ use super::*;\n{}\n}}",
            program.rust
        )
        .expect("a string");
        for run in 0..RUNS {
            let values: Vec<String> = program
                .params
                .iter()
                .zip(arguments)
                .map(|(ty, values)| generator::argument(ty, values[run], true))
                .collect();
            let end = if run + 1 == RUNS { "\\n" } else { " " };
            writeln!(
                main,
                "print!(\"{{}}{end}\", program{index}::f({}).result());",
                values.join(", ")
            )
            .expect("a string");
        }
    }
    write!(text, "fn main() {{\n{main}}}\n").expect("a string");
    (text, lines)
}
