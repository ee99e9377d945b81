//! The cheapest arithmetic for the index at a 1-D coordinate.
//!
//! With Q the product of the extents before a mode `s:d`, a layout is the sum of its digits `x / Q % s * d`. A
//! coalesced layout is also the sum of its jumps `x / Q * j`, where j is d less the product of the previous mode's
//! extent and stride. Jumps need no remainder, but their factors are others and can cost more. Both can be mixed: a
//! run of neighbouring modes can be counted by jumps, from the remainder at which the run begins. A digit of powers
//! of two is masked without shifting, and masked digits with the same divisor and factor share one mask.

use crate::coalesce::coalesce;
use crate::layout::Layout;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

/// Most modes in one run that is counted by jumps.
const LONGEST_RUN: usize = 16;

/// Most modes for which forms are compared; a layout with more is counted digit by digit.
const MOST_MODES: usize = 64;

/// The cost of instructions, on a GPU and on a CPU alike: a division by a constant is a multiplication by its
/// reciprocal and shifts, and a remainder is a division, a product and a difference.
mod price {
    pub(super) const ADD: u32 = 1;
    pub(super) const AND: u32 = 1;
    pub(super) const SHIFT: u32 = 1;
    pub(super) const MULTIPLY: u32 = 2;
    pub(super) const DIVIDE: u32 = 4;
    pub(super) const REMAINDER: u32 = 6;
}

/// A sum of terms that has the value of a layout at each 1-D coordinate. Past the end, the last mode of the
/// coalesced layout continues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexForm {
    /// The values of all terms at a coordinate are added.
    pub terms: Vec<IndexTerm>,
}

/// `(x & mask) / divisor % modulus * factor`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexTerm {
    /// The bits of the coordinate that the term reads; `None` for all of them.
    pub mask: Option<i64>,
    /// The divisor of the masked coordinate, rounding down.
    pub divisor: i64,
    /// The modulus of the quotient; `None` where the quotient is always below it.
    pub modulus: Option<i64>,
    /// The factor of the digit; never 0.
    pub factor: i64,
}

impl Layout {
    /// The cheapest arithmetic for the value at a 1-D coordinate; `None` for a layout into a coordinate space.
    /// ```
    /// use cute_algebra::Layout;
    /// let form = |layout: Layout| layout.index_form().unwrap().to_string();
    /// // Padded rows: a jump of 1 after each row of 7.
    /// assert_eq!(form(Layout::new([7, 12], [1, 8])?), "x + x / 7");
    /// // Two digits that trade places.
    /// assert_eq!(form(Layout::new([8, 8], [8, 1])?), "(x & 7) * 8 + x / 8");
    /// # Ok::<(), cute_algebra::LayoutError>(())
    /// ```
    pub fn index_form(&self) -> Option<IndexForm> {
        let mut modes = coalesce(self).integral_modes(0).ok()?;
        modes.retain(|&(extent, stride)| extent > 1 || stride != 0);
        // Most that the jumps of one run may add in absolute value: the sum of all runs then fits 64 bits.
        let room = (i64::MAX - self.cosize()) / MOST_MODES as i64;
        let mut boundaries = vec![1];
        for (extent, _) in &modes {
            boundaries.push(boundaries.last()? * extent);
        }
        // `best[k]` is the cheapest form of the last k modes.
        let mut best: Vec<(u32, Vec<IndexTerm>)> = vec![(0, Vec::new())];
        for begin in (0..modes.len()).rev() {
            let longest = if modes.len() > MOST_MODES {
                1
            } else {
                LONGEST_RUN
            };
            let ends = begin + 1..=modes.len().min(begin + longest);
            let forms = ends.filter_map(|end| {
                let bound = (boundaries[end], end == modes.len());
                let mut terms = run(&modes[begin..end], &boundaries[begin..end], bound, room)?;
                let (_, rest) = &best[modes.len() - end];
                terms.extend(rest);
                let terms = if longest > 1 { merged(terms) } else { terms };
                Some((cost(&terms), terms))
            });
            best.push(forms.min_by_key(|(cost, _)| *cost)?);
        }
        let (_, terms) = best.pop()?;
        Some(IndexForm { terms })
    }
}

impl IndexForm {
    /// The value at a coordinate of at least 0; `None` on overflow.
    pub fn at(&self, coordinate: i64) -> Option<i64> {
        self.terms.iter().try_fold(0i64, |sum, term| {
            let masked = term.mask.map_or(coordinate, |mask| coordinate & mask);
            let quotient = masked / term.divisor;
            let digit = term.modulus.map_or(quotient, |modulus| quotient % modulus);
            sum.checked_add(digit.checked_mul(term.factor)?)
        })
    }

    /// The cost of all terms and of adding them, in units of one addition.
    pub fn cost(&self) -> u32 {
        cost(&self.terms)
    }
}

/// The terms of a run of modes that are counted by jumps. `end` is the product of the extents up to the end of the
/// run, and `last` says whether the run is the last one. `None` where the jumps of several modes together can
/// exceed `room`.
fn run(
    modes: &[(i64, i64)],
    boundaries: &[i64],
    (end, last): (i64, bool),
    room: i64,
) -> Option<Vec<IndexTerm>> {
    let (mut before, mut reach) = (0i64, 0i64);
    let mut terms = Vec::new();
    for (&(extent, stride), &boundary) in modes.iter().zip(boundaries) {
        let jump = stride.checked_sub(before)?;
        if modes.len() > 1 {
            before = stride.checked_mul(extent)?;
            reach = reach.checked_add(jump.checked_abs()?.checked_mul(end / boundary)?)?;
        }
        if jump != 0 {
            let modulus = (!last).then_some(end / boundary);
            terms.push(IndexTerm::new(boundary, modulus, jump));
        }
    }
    (reach <= room).then_some(terms)
}

impl IndexTerm {
    /// `x / divisor % modulus * factor`, as a mask where divisor and modulus are powers of two.
    fn new(divisor: i64, modulus: Option<i64>, factor: i64) -> Self {
        match modulus {
            Some(modulus) if power(divisor) && power(modulus) => {
                let mask = Some((modulus - 1) * divisor);
                let (divisor, factor) =
                    match (factor % divisor, factor > 0 && divisor % factor == 0) {
                        (0, _) => (1, factor / divisor),
                        (_, true) => (divisor / factor, 1),
                        _ => (divisor, factor),
                    };
                Self {
                    mask,
                    divisor,
                    modulus: None,
                    factor,
                }
            }
            _ => Self {
                mask: None,
                divisor,
                modulus,
                factor,
            },
        }
    }

    fn cost(&self) -> u32 {
        let divide = match self.divisor {
            1 => 0,
            divisor if power(divisor) => price::SHIFT,
            _ => price::DIVIDE,
        };
        let remainder = match self.modulus {
            None => 0,
            Some(modulus) if power(modulus) => price::AND,
            Some(_) => price::REMAINDER,
        };
        let multiply = match self.factor.unsigned_abs() {
            1 => 0,
            factor if factor.is_power_of_two() => price::SHIFT,
            _ => price::MULTIPLY,
        };
        u32::from(self.mask.is_some()) * price::AND + divide + remainder + multiply
    }
}

fn cost(terms: &[IndexTerm]) -> u32 {
    let sums = (terms.len() as u32).saturating_sub(1) * price::ADD;
    terms.iter().map(IndexTerm::cost).sum::<u32>() + sums
}

/// Joins masked terms with the same divisor and factor whose masks share no bit.
fn merged(terms: Vec<IndexTerm>) -> Vec<IndexTerm> {
    let mut merged: Vec<IndexTerm> = Vec::new();
    for term in terms {
        let alike = |other: &&mut IndexTerm| {
            other.divisor == term.divisor && other.factor == term.factor && other.mask.is_some()
        };
        match (term.mask, merged.iter_mut().find(alike)) {
            (Some(mask), Some(other)) if other.mask.is_some_and(|bits| bits & mask == 0) => {
                other.mask = other.mask.map(|bits| bits | mask);
            }
            _ => merged.push(term),
        }
    }
    merged
}

fn power(value: i64) -> bool {
    value > 0 && value & (value - 1) == 0
}

impl fmt::Display for IndexForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.terms.is_empty() {
            return f.write_str("0");
        }
        for (i, term) in self.terms.iter().enumerate() {
            f.write_str(match (i, term.factor < 0) {
                (0, false) => "",
                (0, true) => "-",
                (_, false) => " + ",
                (_, true) => " - ",
            })?;
            match term.mask {
                None => f.write_str("x")?,
                Some(mask) => write!(f, "(x & {mask})")?,
            }
            if term.divisor != 1 {
                write!(f, " / {}", term.divisor)?;
            }
            if let Some(modulus) = term.modulus {
                write!(f, " % {modulus}")?;
            }
            if term.factor.unsigned_abs() != 1 {
                write!(f, " * {}", term.factor.unsigned_abs())?;
            }
        }
        Ok(())
    }
}
