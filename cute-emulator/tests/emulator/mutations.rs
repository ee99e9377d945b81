//! PTX with a few random changes, and random launches of it: each ends with a result or an error, never with a panic.

use super::support::{mutant, run, texts};
use super::{copies, pipeline, tensor_cores};
use cute_emulator::Program;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

/// The number of mutants, unless the environment variable `CUTE_PTX_MUTANTS` is another one.
const MUTANTS: u64 = 2000;

/// No mutant takes longer: the limits are low.
const LONGEST: Duration = Duration::from_secs(20);

/// A generator for the choices of a mutant.
fn random(seed: u64) -> impl FnMut(usize) -> usize {
    let mut state = seed;
    move |n| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    }
}

#[test]
fn mutants_end_with_a_result_or_an_error() {
    let mut originals = vec![pipeline::kernel(), tensor_cores::sample(), copies::sample()];
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    originals.extend(texts(&here.join("tests/cuda")));
    for text in &originals {
        // The unchanged texts are valid.
        Program::load(text).unwrap();
    }
    let given = std::env::var("CUTE_PTX_MUTANTS").ok();
    let mutants = given.map_or(MUTANTS, |number| number.parse().expect("a number"));
    let mut counts = [0; 4];
    for seed in 0..mutants {
        let mut below = random(seed);
        let text = mutant(&originals[below(originals.len())], &mut below);
        let start = Instant::now();
        match catch_unwind(AssertUnwindSafe(|| run(&text, &mut below))) {
            Ok(reached) => counts[reached as usize] += 1,
            Err(_) => panic!("mutant {seed} panics:\n{text}"),
        }
        let time = start.elapsed();
        assert!(time < LONGEST, "mutant {seed} takes {time:?}:\n{text}");
    }
    let [nothing, parsed, loaded, launched] = counts;
    println!(
        "{mutants} mutants: {nothing} are not PTX, {parsed} are refused, {loaded} fail, {launched} end"
    );
    // A mutant with a syntax error tests only the parser.
    assert!(nothing < mutants / 2, "{counts:?}");
    assert!(loaded + launched > mutants / 4, "{counts:?}");
}
