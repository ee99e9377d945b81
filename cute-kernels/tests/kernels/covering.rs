//! Which of many like cases run. All of them run on a GPU, and on the emulator with `CUTE_NIGHTLY=1`; otherwise a covering set does.

use std::fmt::Debug;

use cute_runtime::Device;

/// Whether all cases run.
pub(crate) fn whole() -> bool {
    std::env::var_os("CUTE_NIGHTLY").is_some_and(|value| value == "1")
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
