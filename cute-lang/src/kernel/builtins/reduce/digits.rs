//! The number of a thread as digits. Each digit moves the thread along the modes of a tile.

use crate::kernel::value::Distributed;
use cute_chip::threads::WARP;
use std::collections::BTreeMap;

/// A digit of a thread's number: `thread / divisor % extent`. Digits within a warp are bits. A digit counts either threads of a CTA or CTAs
/// of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Digit {
    pub(super) divisor: i64,
    pub(super) extent: i64,
    /// The distance that a step of the digit moves the thread along the reduced mode.
    pub(super) along: i64,
    /// Whether it moves the thread along other modes.
    pub(super) aside: bool,
    /// Whether it counts CTAs of the cluster.
    pub(super) is_cta: bool,
}

impl Digit {
    /// Whether it counts lanes of a warp, and not warps or CTAs.
    pub(super) fn is_lane(&self) -> bool {
        self.divisor < WARP.into()
    }

    /// Whether threads that differ in this digit hold parts of one result.
    pub(super) fn is_combined(&self) -> bool {
        self.along != 0 && !self.aside
    }
}

/// The digits of the threads that hold a tile, from the lowest. A CTA has `cta` threads.
pub(super) fn digits(tile: &Distributed, mode: usize, cta: i64) -> Result<Vec<Digit>, String> {
    let modes: Vec<_> = tile.threads.iter().map(|it| it.flat_modes()).collect();
    let count = tile.threads[mode].size();
    if count % i64::from(WARP) != 0 {
        return Err(format!(
            "whole warps hold a fragment whose threads are combined, not {count} threads"
        ));
    }
    let mut digits = Vec::new();
    let mut divisor = 1;
    for (place, &(extent, _)) in modes[mode].iter().enumerate() {
        let steps = modes.iter().map(|modes| modes[place].1.value());
        let aside = steps.enumerate().any(|(it, step)| it != mode && step != 0);
        let step = modes[mode][place].1.value();
        let mut done = 1;
        while done < extent {
            let rest = extent / done;
            let part = match divisor < i64::from(WARP) {
                true if rest % 2 == 0 => 2,
                true => {
                    return Err(format!(
                        "the layout has {extent} threads at a distance of {}, and no power of two divides a warp so",
                        divisor / done
                    ));
                }
                // A digit ends at the threads of the CTA if `divisor` divides them.
                false if divisor < cta && cta % divisor == 0 => match rest % (cta / divisor) {
                    0 => cta / divisor,
                    _ => rest,
                },
                false => rest,
            };
            if divisor < cta && divisor * part > cta {
                return Err(format!(
                    "{extent} threads at a distance of {} do not end with the {cta} threads of a CTA",
                    divisor / done
                ));
            }
            digits.push(Digit {
                divisor,
                extent: part,
                along: step * done,
                aside,
                is_cta: divisor >= cta,
            });
            divisor *= part;
            done *= part;
        }
    }
    check(tile, mode, &digits)?;
    Ok(digits)
}

/// Checks that threads with parts of one result differ only in digits that do not move them along other modes.
fn check(tile: &Distributed, mode: usize, digits: &[Digit]) -> Result<(), String> {
    let mut first: BTreeMap<Vec<i64>, i64> = BTreeMap::new();
    let moved = |thread: i64, digit: &Digit| thread / digit.divisor % digit.extent != 0;
    for thread in 0..tile.threads[mode].size() {
        let mut others = digits.iter().filter(|digit| !digit.aside);
        if others.any(|digit| moved(thread, digit)) {
            continue;
        }
        let modes = (0..tile.threads.len()).filter(|other| *other != mode);
        let place = modes.map(|other| tile.start(other, thread));
        let place = place.collect::<Result<Vec<i64>, String>>()?;
        let other = *first.entry(place).or_insert(thread);
        let (x, y) = (tile.start(mode, other)?, tile.start(mode, thread)?);
        if x != y {
            return Err(format!(
                "threads {other} and {thread} are at {x} and {y} along mode {mode} and hold parts of one result, but no digit of their numbers moves along this mode alone"
            ));
        }
    }
    Ok(())
}
