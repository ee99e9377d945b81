//! Random kernels that access parts of tensors in global memory, held against brute force: each composition of slices, ranges, tiles,
//! partitions and offsets, by each safe way to access them, with run-time integers near 0, the extents, 2³¹ and 2³².
//!
//! Around the tensor and in the gaps of its strides lies memory that is not its own, so that a read or a write outside is seen. Also the emulator
//! compares the coordinates that the PTX claims with the extents.

mod case;
mod launch;
mod part;

use super::random::{Random, is_nightly, seeds};
use case::Case;
use cute_lang::kernel::lower::lower;
use launch::Prepared;
use std::collections::BTreeMap;

/// Launches of a kernel, with other extents and integers each.
const LAUNCHES: usize = 12;

#[test]
fn parts_are_what_brute_force_says() {
    let seeds = seeds(400, 100_000);
    let threads = match is_nightly() {
        true => std::thread::available_parallelism().map_or(1, usize::from),
        false => 1,
    };
    let (first, count) = (seeds.start, seeds.end - seeds.start);
    let found = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads)
            .map(|thread| {
                let seeds = (first + thread as u64..first + count).step_by(threads);
                scope.spawn(move || {
                    let mut found = Found::default();
                    seeds.for_each(|seed| found.run(seed));
                    found
                })
            })
            .collect();
        let mut all = Found::default();
        for thread in threads {
            match thread.join() {
                Ok(found) => all.add(found),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all
    });
    let refused: u64 = found.refused.values().sum();
    let Found {
        launches, ended, ..
    } = found;
    println!(
        "{count} kernels, of which {refused} are refused; {launches} launches, of which checks end {ended}"
    );
    for (why, count) in &found.refused {
        println!("{count:6} {why}");
    }
    let most_run = count == 1 || refused * 8 < count && ended * 2 < launches;
    assert!(most_run, "most kernels run, and most launches end well");
}

/// What has come of the kernels.
#[derive(Default)]
struct Found {
    /// Why kernels are refused, and how many.
    refused: BTreeMap<String, u64>,
    launches: u64,
    ended: u64,
}

impl Found {
    fn add(&mut self, other: Self) {
        for (why, count) in other.refused {
            *self.refused.entry(why).or_default() += count;
        }
        self.launches += other.launches;
        self.ended += other.ended;
    }

    /// Runs the kernel of a seed.
    fn run(&mut self, seed: u64) {
        let random = &mut Random::new(seed);
        let case = Case::new(random);
        let source = case.source();
        let module = format!("mod kernels {{ {source} }}");
        let lowered = match lower(module.parse().expect("tokens")) {
            Ok(mut lowered) => lowered.remove(0),
            Err(error) => {
                // Numbers are left out, so that like errors count together.
                let mut why = format!("{:?}: {error}", case.access);
                why.retain(|c| !c.is_ascii_digit());
                *self.refused.entry(why).or_default() += 1;
                return;
            }
        };
        let prepared = Prepared::new(&case, &lowered);
        for _ in 0..LAUNCHES {
            self.launches += 1;
            match prepared.launch(random) {
                Ok(is_ended) => self.ended += u64::from(is_ended),
                Err(why) => panic!(
                    "CUTE_SEED={seed} shows it: {why}\n{source}\n{case:?}\n{}",
                    lowered.module
                ),
            }
        }
    }
}
