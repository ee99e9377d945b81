//! Random numbers that are the same for one seed, and the seeds of a test.

use std::ops::Range;
use std::time::{SystemTime, UNIX_EPOCH};

/// SplitMix64.
#[derive(Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `count`.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        (self.next() % count as u64) as usize
    }

    /// One of these.
    pub(crate) fn pick<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())].clone()
    }

    /// True once in `count` times.
    pub(crate) fn once_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }
}

/// The seeds of a test: that of `CUTE_SEED` alone, so many new ones in nightly, or the same few for each commit.
pub(crate) fn seeds(few: u64, many: u64) -> Range<u64> {
    let given = std::env::var("CUTE_SEED").ok();
    let given = given.map(|seed| seed.parse().expect("CUTE_SEED is a number"));
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let seeds = match (given, is_nightly()) {
        (Some(seed), _) => seed..seed + 1,
        (None, true) => {
            let first = now.expect("a date").as_secs() << 20;
            first..first + many
        }
        (None, false) => 0..few,
    };
    println!("seeds {seeds:?}; CUTE_SEED={} runs one", seeds.start);
    seeds
}

/// Whether all of a long test runs, as in `.ci/nightly`.
pub(crate) fn is_nightly() -> bool {
    std::env::var_os("CUTE_NIGHTLY").is_some_and(|value| value == "1")
}
