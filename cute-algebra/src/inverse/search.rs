//! The left inverse of a layout of numbers where, in ascending order, a stride is not a multiple of the previous
//! stride or is less than that times its extent.
//!
//! Let the products of the extents of a layout be 1, c1, c2, …, each of which divides the next. The layout is then
//! a sum of jumps, `j0 * x + j1 * (x / c1) + j2 * (x / c2) + …` with quotients rounded down, and every choice of
//! integers j gives such a layout. So it is a left inverse of A exactly if the jumps solve one linear equation for
//! each pair of neighbouring values of A: from one value to the next, the sum grows by the difference of their
//! coordinates. Adding a divisor to the chain only adds an unknown, and a divisor above the largest value
//! contributes nothing. So there is a left inverse exactly if, for one of the chains in which each divisor is the
//! previous one times a prime, up to the largest value, the equations have an integer solution.
//!
//! The search extends chains upwards. If two neighbours have the same quotient by c, they also have the same
//! quotient by every multiple of c. So their equation has all its unknowns when the chain has reached c, and a
//! chain for which it has no solution is abandoned.

use crate::ascending::Step;
use crate::coalesce::coalesced;
use crate::layout::Layout;
use alloc::vec;
use alloc::vec::Vec;

/// Most values of a layout for which a left inverse is searched.
pub const LEFT_INVERSE_VALUES: usize = 1 << 12;

/// Most steps of a search. A step is one product or one pair of neighbours.
const STEPS: usize = 1 << 20;

/// The result of a search.
pub(super) enum Found {
    Inverse(Layout),
    /// Two coordinates have the same value, so there is no left inverse.
    Collision,
    /// There is no left inverse.
    Nothing,
    /// A limit ended the search.
    Unknown,
}

/// Searches a left inverse of a layout with these leaves, whose strides are positive.
pub(super) fn left_inverse(steps: &[Step<i64>]) -> Found {
    let Some(mut points) = points(steps) else {
        return Found::Unknown;
    };
    points.sort_unstable();
    if points.windows(2).any(|pair| pair[0].0 == pair[1].0) {
        return Found::Collision;
    }
    let mut search = Search {
        points,
        strides: steps.iter().map(|step| step.stride).collect(),
        steps: STEPS,
    };
    match search.extend(&mut vec![1], &Solutions::default()) {
        Some(Some(inverse)) => Found::Inverse(inverse),
        Some(None) => Found::Nothing,
        None => Found::Unknown,
    }
}

/// Each value with its coordinate; `None` where there are more than [`LEFT_INVERSE_VALUES`].
fn points(steps: &[Step<i64>]) -> Option<Vec<(i64, i64)>> {
    let extents = steps.iter().map(|step| step.extent as usize);
    extents
        .clone()
        .try_fold(1usize, |count, extent| count.checked_mul(extent))
        .filter(|&count| count <= LEFT_INVERSE_VALUES)?;
    let mut points = vec![(0, 0)];
    for (step, extent) in steps.iter().zip(extents) {
        let digits = 0..extent as i64;
        points = digits
            .flat_map(|x| {
                let moved = move |&(value, coord): &(i64, i64)| {
                    (value + x * step.stride, coord + x * step.weight)
                };
                points.iter().map(moved)
            })
            .collect();
    }
    Some(points)
}

struct Search {
    /// The values in ascending order, each with its coordinate.
    points: Vec<(i64, i64)>,
    strides: Vec<i64>,
    /// Number of steps that are left.
    steps: usize,
}

/// `None` where a limit ended the search; otherwise the inverse, if there is one.
type Outcome = Option<Option<Layout>>;

impl Search {
    /// Searches the chains that begin with `chain`. `solutions` are the jumps below its last divisor that solve the
    /// equations of all neighbours with equal quotients by the divisor before that.
    fn extend(&mut self, chain: &mut Vec<i64>, solutions: &Solutions) -> Outcome {
        let (&last, before) = chain.split_last()?;
        let before = before.last().copied().unwrap_or(0);
        let mut solutions = solutions.clone();
        let is_complete = |low: i64, high: i64| low / last == high / last;
        let was_complete = |low: i64, high: i64| before > 0 && low / before == high / before;
        if !self.solve(chain, &mut solutions, |low, high| {
            is_complete(low, high) && !was_complete(low, high)
        })? {
            return Some(None);
        }
        solutions.unknowns_grow();
        let mut all = solutions.clone();
        if self.solve(chain, &mut all, |low, high| !is_complete(low, high))? {
            return Some(Some(self.layout(chain, &all.particular)?));
        }
        for factor in self.factors(last) {
            chain.push(last.checked_mul(factor)?);
            let found = self.extend(chain, &solutions)?;
            chain.pop();
            if found.is_some() {
                return Some(found);
            }
        }
        Some(None)
    }

    /// Adds the equations of the chosen neighbours, and says whether there is still a solution.
    fn solve(
        &mut self,
        chain: &[i64],
        solutions: &mut Solutions,
        is_chosen: impl Fn(i64, i64) -> bool,
    ) -> Option<bool> {
        for pair in self.points.windows(2) {
            let ((low, first), (high, second)) = (pair[0], pair[1]);
            self.steps = self.steps.checked_sub(1)?;
            if !is_chosen(low, high) {
                continue;
            }
            self.steps = self.steps.checked_sub(solutions.products())?;
            let growth = chain.iter().map(|c| i128::from(high / c - low / c));
            let growth: Vec<i128> = growth.take(solutions.particular.len()).collect();
            if !solutions.require(&growth, i128::from(second - first))? {
                return Some(false);
            }
        }
        Some(true)
    }

    /// The factors by which the chain may be extended. Factors from the strides come first, to keep the inverse
    /// short; then come the primes.
    fn factors(&self, last: i64) -> impl Iterator<Item = i64> + use<> {
        let quotients = self.strides.iter().map(|stride| stride / last);
        let quotients = quotients.filter(|&quotient| quotient > 0);
        let suggested = [quotients.clone().reduce(gcd), quotients.min()];
        let suggested = suggested.into_iter().flatten().filter(|&factor| factor > 1);
        let most = self.points.last().map_or(0, |(value, _)| value / last);
        suggested.chain((2..=most).filter(|&factor| is_prime(factor)))
    }

    /// The layout with these divisors and jumps, long enough to have the largest value in its domain.
    fn layout(&self, chain: &[i64], jumps: &[i128]) -> Option<Layout> {
        let (largest, _) = self.points.last()?;
        let mut modes = Vec::new();
        let mut reached = 0i128;
        for (i, (&divisor, jump)) in chain.iter().zip(jumps).enumerate() {
            let extent = match chain.get(i + 1) {
                Some(next) => next / divisor,
                None => largest / divisor + 1,
            };
            let stride = jump.checked_add(reached)?;
            reached = stride.checked_mul(i128::from(extent))?;
            modes.push((extent, i64::try_from(stride).ok()?.into()));
        }
        coalesced(modes).validated().ok()
    }
}

/// All integer solutions of linear equations: one of them, and the differences that can be added to it.
#[derive(Clone, Default)]
struct Solutions {
    particular: Vec<i128>,
    differences: Vec<Vec<i128>>,
}

impl Solutions {
    /// Adds an unknown without equations.
    fn unknowns_grow(&mut self) {
        self.particular.push(0);
        for difference in &mut self.differences {
            difference.push(0);
        }
        let mut unit = vec![0; self.particular.len()];
        unit[self.particular.len() - 1] = 1;
        self.differences.push(unit);
    }

    /// Number of products that one more equation takes.
    fn products(&self) -> usize {
        (1 + self.differences.len()) * self.particular.len()
    }

    /// Keeps the solutions with `sum of factors * unknowns = right`, and says whether there are any; `None` on
    /// overflow.
    fn require(&mut self, factors: &[i128], right: i128) -> Option<bool> {
        let missing = right.checked_sub(dot(factors, &self.particular)?)?;
        let changes = self.differences.iter().map(|d| dot(factors, d));
        let mut changes = changes.collect::<Option<Vec<_>>>()?;
        // Euclid's algorithm on the differences, until at most one of them changes the sum.
        loop {
            let moving = || (0..changes.len()).filter(|&i| changes[i] != 0);
            let Some(least) = moving().min_by_key(|&i| changes[i].abs()) else {
                return Some(missing == 0);
            };
            let Some(other) = moving().find(|&i| i != least) else {
                if missing % changes[least] != 0 {
                    return Some(false);
                }
                let times = missing / changes[least];
                let difference = self.differences.swap_remove(least);
                add(&mut self.particular, times, &difference)?;
                return Some(true);
            };
            let times = changes[other] / changes[least];
            let subtracted = self.differences[least].clone();
            add(&mut self.differences[other], -times, &subtracted)?;
            changes[other] -= times * changes[least];
        }
    }
}

fn dot(a: &[i128], b: &[i128]) -> Option<i128> {
    let mut products = a.iter().zip(b).map(|(a, b)| a.checked_mul(*b));
    products.try_fold(0i128, |sum, product| sum.checked_add(product?))
}

/// Adds `times * vector` to `to`.
fn add(to: &mut [i128], times: i128, vector: &[i128]) -> Option<()> {
    for (to, value) in to.iter_mut().zip(vector) {
        *to = to.checked_add(times.checked_mul(*value)?)?;
    }
    Some(())
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn is_prime(number: i64) -> bool {
    (2..)
        .take_while(|divisor| divisor * divisor <= number)
        .all(|divisor| number % divisor != 0)
}
