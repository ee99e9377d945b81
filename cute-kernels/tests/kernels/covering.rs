//! Which of many like cases run. All of them run on a GPU, and on the emulator with `CUTE_NIGHTLY=1`; otherwise a covering set does.
//!
//! Two things choose a covering set, both from what there is, so that a new tile or type needs no line here:
//!
//! - [`Cover`], where a test has cases and variants of each, such as shapes and tiles: each variant runs in one of the cases.
//! - [`instances`], where a test takes instances of kernels: each kernel is once with each of its types, and once with each of its constants.
//!
//! Products that store D in different ways are different kernels, so that "each type by each kind of store" is each kernel with each of its
//! types. [`what_is_launched_covers_all_kernels`](crate::what_is_launched_covers_all_kernels) holds the instances that the tests have
//! launched against all that there are.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashSet};
use std::fmt::Debug;
use std::sync::{Mutex, PoisonError};

use cute_runtime::{Device, EmulatorOptions};

use crate::shipped::parts;
pub(crate) use crate::whole::whole;

/// The names of the instances that [`emulator`]s have launched.
static LAUNCHED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// An emulator that writes down which instances it launches.
pub(crate) fn emulator() -> Device {
    let record = |ptx: &str| {
        let name = ptx.split_once(".visible .entry ");
        let name = name.and_then(|(_, rest)| rest.split_once('('));
        let (name, _) = name.expect("a module has a kernel");
        let mut launched = LAUNCHED.lock().unwrap_or_else(PoisonError::into_inner);
        launched.insert(name.to_owned());
        ptx.to_owned()
    };
    Device::emulator_rewriting(EmulatorOptions::default(), record)
}

/// What emulators have launched up to now.
pub(crate) fn launched() -> BTreeSet<String> {
    let launched = LAUNCHED.lock().unwrap_or_else(PoisonError::into_inner);
    launched.clone()
}

/// An instance with the name and PTX of a kernel.
type Instance = (&'static str, &'static str);

/// All of these instances, or some among which each kernel is once with each of its types, and once with each of its constants: with those
/// types for which its text is longest. A tile then stores D in the most pieces, for which registers are most likely not to suffice.
pub(crate) fn instances(all: &[Instance]) -> Vec<Instance> {
    if whole() {
        return all.to_vec();
    }
    let mut longest_first = all.to_vec();
    longest_first.sort_by_key(|(_, ptx)| Reverse(ptx.len()));
    let mut seen = HashSet::new();
    let mut chosen = Vec::new();
    // First the constants, the last aspect, so that each has its longest text; then the types and functions that are missing.
    for first in [2, 0] {
        for instance in &longest_first {
            let aspects = aspects(instance.0);
            if aspects[first..].iter().any(|it| !seen.contains(it)) {
                seen.extend(aspects);
                chosen.push(*instance);
            }
        }
    }
    chosen
}

/// A kernel with its types, with its function of each number or with its other constants, which the second says.
pub(crate) type Aspect<'a> = (&'a str, &'static str, &'a str);

/// What a run of an instance with that name has run: the kernel with these types, this function, and these constants.
pub(crate) fn aspects(name: &str) -> [Aspect<'_>; 3] {
    let (kernel, types, constants) = parts(name);
    let (function, sizes) = match kernel {
        "gemm_fused_" | "gemm_gated_" => constants.split_once('_').unwrap_or((constants, "")),
        _ => ("", constants),
    };
    [
        (kernel, "types", types),
        (kernel, "function", function),
        (kernel, "constants", sizes),
    ]
}

#[test]
fn parts_of_names() {
    for (name, expected) in [
        (
            "gemm_bf16_bf16_f32_SQUARE_NN",
            ("gemm_", "bf16_bf16_f32_", "SQUARE_NN"),
        ),
        (
            "gemm_streamed_e4m3_e5m2_f32_ROWS_8",
            ("gemm_streamed_", "e4m3_e5m2_f32_", "ROWS_8"),
        ),
        ("attention_128_false", ("attention_", "", "128_false")),
        ("pack_u8_true", ("pack_", "u8_", "true")),
        (
            "transpose_unaligned_bf16",
            ("transpose_unaligned_", "bf16", ""),
        ),
    ] {
        assert_eq!(parts(name), expected);
    }
}

/// Divides variants, such as tiles, among cases, such as shapes, so that each variant that any case has runs once.
pub(crate) struct Cover<V> {
    whole: bool,
    /// Cases to come.
    cases: usize,
    /// The variants that cases have had.
    possible: Vec<V>,
    /// Those that have run.
    ran: Vec<V>,
    /// How many variants of all cases have run, of how many.
    count: (usize, usize),
}

impl<V: Copy + PartialEq + Debug> Cover<V> {
    /// For so many cases on a device.
    pub(crate) fn new(device: &Device, cases: usize) -> Self {
        Self {
            whole: whole() || !device.is_emulator(),
            cases,
            possible: Vec::new(),
            ran: Vec::new(),
            count: (0, 0),
        }
    }

    /// Those of its variants that the next case is to run, after one that it has run already.
    pub(crate) fn choose(&mut self, ran: V, variants: &[V]) -> Vec<V> {
        add(&mut self.possible, &[ran]);
        add(&mut self.ran, &[ran]);
        self.count = (self.count.0 + 1, self.count.1 + 1);
        let others = variants.iter().copied().filter(|it| *it != ran);
        self.choose_any(&others.collect::<Vec<V>>())
    }

    /// Those of its variants that the next case is to run.
    pub(crate) fn choose_any(&mut self, variants: &[V]) -> Vec<V> {
        let cases = self.cases;
        self.cases = cases.checked_sub(1).expect("no more cases than announced");
        add(&mut self.possible, variants);
        let mut chosen = variants.to_vec();
        if !self.whole {
            chosen.retain(|it| !self.ran.contains(it));
            chosen.truncate(chosen.len().div_ceil(cases));
        }
        add(&mut self.ran, &chosen);
        self.count.0 += chosen.len();
        self.count.1 += variants.len();
        chosen
    }

    /// Fails unless all cases have run, and each variant that one of them has.
    pub(crate) fn finish(self) {
        assert_eq!(self.cases, 0, "cases that did not run");
        let is_missing = |it: &&V| !self.ran.contains(it);
        let missing: Vec<&V> = self.possible.iter().filter(is_missing).collect();
        assert!(missing.is_empty(), "in no case: {missing:?}");
        let (ran, all) = self.count;
        println!(
            "{} variants, each in at least one of {ran} of {all} cases",
            self.ran.len()
        );
    }
}

fn add<V: Copy + PartialEq>(all: &mut Vec<V>, new: &[V]) {
    for it in new {
        if !all.contains(it) {
            all.push(*it);
        }
    }
}

#[test]
fn a_cover_covers() {
    for cases in 1..12 {
        let mut cover = Cover::new(&Device::emulator(), cases);
        let mut seen = Vec::new();
        for case in 0..cases {
            let variants: Vec<usize> = (0..7).collect();
            seen.push(case % 7);
            seen.extend(cover.choose(case % 7, &variants));
        }
        assert!((0..7).all(|it| seen.contains(&it)), "{cases}: {seen:?}");
        assert!(whole() || seen.len() <= cases + 7, "{cases}: {seen:?}");
        cover.finish();
    }
}

#[test]
#[should_panic(expected = "in no case: [1]")]
fn what_does_not_cover_fails() {
    let mut cover = Cover::new(&Device::emulator(), 2);
    cover.whole = false;
    cover.choose(0, &[0, 2, 1]);
    cover.choose(0, &[0, 2]);
    cover.finish();
}
