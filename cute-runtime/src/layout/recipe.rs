//! Recipes: expansions describe by them how the numbers of a layout are computed from its run-time integers, and what is
//! checked when a value is built.

use super::Profile;
use super::Swizzle;
use super::divisor::Divisor;
use alloc::vec::Vec;
use core::fmt;
use cute_algebra::symbolic::{div_ceil, evaluate};
use cute_algebra::{Axis, proves_disjoint};

/// For expansions: how to compute numbers from run-time integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recipe {
    /// The names of the integers that the caller passes, in order.
    pub names: &'static [&'static str],
    /// The atoms: integers that the caller passes, and integers computed from the atoms before.
    pub atoms: &'static [AtomOrigin],
    /// The conditions that must hold. The first one that does not is reported.
    pub checks: &'static [Condition],
    /// The numbers to compute and keep, each a sum of terms.
    pub numbers: &'static [&'static [Term]],
}

/// For expansions: how to compute a layout from its run-time integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LayoutRecipe {
    /// How to compute the numbers that the layout keeps.
    pub recipe: Recipe,
    /// How the modes nest.
    pub profile: Profile,
    /// The extents of the leaves from left to right.
    pub shape: &'static [Number],
    /// The strides of the leaves from left to right.
    pub stride: &'static [Number],
    /// Indices of those kept numbers by which 1-D coordinates are divided.
    pub divisors: &'static [usize],
    /// The constant that is added to every value, before the swizzle.
    pub offset: Number,
    /// The swizzle that is applied to every value.
    pub swizzle: Swizzle,
    /// The tiles, if `tile!` made the layout.
    pub tiles: Option<TilingRecipe>,
}

/// For expansions: where an atom comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtomOrigin {
    /// The next integer that the caller passes.
    Captured,
    /// The first term divided by the second, rounded up.
    Ceiling(Term, Term),
    /// A sum divided by a term, rounded towards zero.
    Quotient(&'static [Term], Term),
    /// A sum, swizzled.
    Swizzled(Swizzle, &'static [Term]),
}

/// For expansions: a constant fraction times powers of atoms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Term {
    /// Numerator of the constant.
    pub above: i64,
    /// Denominator of the constant.
    pub below: i64,
    /// Indices of atoms, with their exponents.
    pub powers: &'static [(usize, i32)],
}

/// For expansions: a condition that must hold, as a Rust expression for messages and as terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// The first term divides the second without a remainder.
    Divides(&'static str, Term, Term),
    /// The first sum is at most the second.
    AtMost(&'static str, &'static [Term], &'static [Term]),
}

/// For expansions: an extent, a stride or an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// A number that is known at compile time.
    Known(i64),
    /// The index of a number that the layout keeps.
    Kept(usize),
}

/// For expansions: the numbers that a layout value keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbers<const N: usize, const D: usize> {
    /// The values of `Recipe::numbers`.
    pub kept: [i64; N],
    /// Reciprocals of the kept numbers that `LayoutRecipe::divisors` lists.
    pub divisors: [Divisor; D],
    /// Number of coordinates.
    pub size: i64,
    /// One more than the sum of `(extent - 1) * |stride|` over the leaves.
    pub cosize_bound: i64,
}

/// For expansions: the tiles of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TilingRecipe {
    /// How many leaves, from the left, belong to the tile. The others belong to the rest.
    pub tile_leaves: usize,
    /// The axes of the tiled layout.
    pub axes: &'static [AxisRecipe],
    /// Whether to check that no two tiles share an element.
    pub is_disjoint: bool,
}

/// For expansions: one axis of the tiled layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AxisRecipe {
    /// Number of coordinates along the axis. Larger ones are past the edge.
    pub extent: Number,
    /// For each leaf, how far one step along it moves along the axis.
    pub strides: &'static [Number],
}

/// A condition that does not hold for the run-time integers of a layout, which therefore was not built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayoutCheck {
    condition: &'static str,
    values: Vec<(&'static str, i64)>,
}

impl LayoutCheck {
    /// The condition as a Rust expression, such as `m % 64 == 0`. Two conditions are sentences: that the size and all numbers
    /// of the layout fit 64 bits, and that no two tiles share an element.
    pub fn condition(&self) -> &'static str {
        self.condition
    }

    /// The run-time integers that were passed, with their names. One that does not fit `i64` is left out.
    pub fn values(&self) -> &[(&'static str, i64)] {
        &self.values
    }
}

impl core::error::Error for LayoutCheck {}

impl fmt::Display for LayoutCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` does not hold", self.condition)?;
        for (i, (name, value)) in self.values.iter().enumerate() {
            write!(f, "{} {name} = {value}", if i == 0 { " for" } else { "," })?;
        }
        Ok(())
    }
}

/// For expansions: a run-time integer as `i64`; `None` if it does not fit.
pub fn capture<T: TryInto<i64>>(value: T) -> Option<i64> {
    value.try_into().ok()
}

impl Term {
    fn value(&self, atoms: &[i64]) -> Option<i128> {
        evaluate(self.above, self.below, self.powers.iter().copied(), atoms)
    }
}

impl Number {
    pub(super) fn value(self, kept: &[i64]) -> i64 {
        match self {
            Self::Known(value) => value,
            Self::Kept(index) => kept[index],
        }
    }
}

impl Condition {
    fn text(&self) -> &'static str {
        match self {
            Self::Divides(text, ..) | Self::AtMost(text, ..) => text,
        }
    }

    fn holds(&self, atoms: &[i64]) -> bool {
        match self {
            Self::Divides(_, divisor, dividend) => {
                let sides = dividend.value(atoms).zip(divisor.value(atoms));
                sides.is_some_and(|(dividend, divisor)| dividend.checked_rem(divisor) == Some(0))
            }
            Self::AtMost(_, left, right) => {
                let sides = sum(left, atoms).zip(sum(right, atoms));
                sides.is_some_and(|(left, right)| left <= right)
            }
        }
    }
}

fn sum(terms: &[Term], atoms: &[i64]) -> Option<i128> {
    let mut terms = terms.iter();
    terms.try_fold(0i128, |sum, term| sum.checked_add(term.value(atoms)?))
}

/// The condition that is reported if two tiles may share an element.
const DISJOINT: &str = "no two tiles share an element";

/// The condition that is reported if a number does not fit 64 bits.
const FITS: &str = "the size and all numbers of the layout fit 64 bits";

impl Recipe {
    /// Checks the conditions and computes the numbers.
    ///
    /// # Errors
    /// The first condition that does not hold.
    pub fn build<const C: usize, const N: usize>(
        &self,
        captured: [Option<i64>; C],
    ) -> Result<[i64; N], LayoutCheck> {
        let atoms = self.atoms(captured)?;
        self.numbers(&atoms)
            .ok_or_else(|| self.refusal(FITS, &captured))
    }

    /// The values of the atoms, if all conditions hold for them.
    fn atoms<const C: usize>(&self, captured: [Option<i64>; C]) -> Result<Vec<i64>, LayoutCheck> {
        let refuse = |condition| Err(self.refusal(condition, &captured));
        let mut fits = captured.iter().all(Option::is_some);
        if !fits {
            return refuse(FITS);
        }
        let mut values = captured.into_iter().flatten();
        let mut atoms = Vec::with_capacity(self.atoms.len());
        for origin in self.atoms {
            let value = match origin {
                AtomOrigin::Captured => values.next(),
                AtomOrigin::Ceiling(dividend, divisor) => {
                    let sides = dividend.value(&atoms).zip(divisor.value(&atoms));
                    sides.and_then(|(dividend, divisor)| div_ceil(dividend, divisor))
                }
                AtomOrigin::Quotient(dividend, divisor) => {
                    let sides = sum(dividend, &atoms).zip(divisor.value(&atoms));
                    let quotient = sides.and_then(|(above, below)| above.checked_div(below));
                    quotient.and_then(|quotient| i64::try_from(quotient).ok())
                }
                AtomOrigin::Swizzled(swizzle, index) => {
                    let index = sum(index, &atoms).and_then(|index| i64::try_from(index).ok());
                    index.map(|index| swizzle.apply(index))
                }
            };
            // An atom that does not fit is reported only if no condition fails, since a condition makes the better message.
            fits &= value.is_some();
            atoms.push(value.unwrap_or(0));
        }
        match self.checks.iter().find(|check| !check.holds(&atoms)) {
            Some(check) => refuse(check.text()),
            None if fits => Ok(atoms),
            None => refuse(FITS),
        }
    }

    fn numbers<const N: usize>(&self, atoms: &[i64]) -> Option<[i64; N]> {
        let mut numbers = [0; N];
        for (number, terms) in numbers.iter_mut().zip(self.numbers) {
            *number = i64::try_from(sum(terms, atoms)?).ok()?;
        }
        Some(numbers)
    }

    #[cold]
    fn refusal(&self, condition: &'static str, captured: &[Option<i64>]) -> LayoutCheck {
        let values = self.names.iter().zip(captured);
        LayoutCheck {
            condition,
            values: values
                .filter_map(|(name, value)| Some((*name, (*value)?)))
                .collect(),
        }
    }
}

impl LayoutRecipe {
    /// Checks the conditions and computes the numbers.
    ///
    /// # Errors
    /// The first condition that does not hold.
    pub fn build<const C: usize, const N: usize, const D: usize>(
        &self,
        captured: [Option<i64>; C],
    ) -> Result<Numbers<N, D>, LayoutCheck> {
        let refuse = |condition| self.recipe.refusal(condition, &captured);
        let kept = self.recipe.build(captured)?;
        let numbers = self.complete(kept).ok_or_else(|| refuse(FITS))?;
        match self.tiles {
            Some(tiles) if tiles.is_disjoint && !self.is_disjoint(&tiles, &kept) => {
                Err(refuse(DISJOINT))
            }
            _ => Ok(numbers),
        }
    }

    fn is_disjoint(&self, tiles: &TilingRecipe, kept: &[i64]) -> bool {
        let [shape, stride] = [self.shape, self.stride]
            .map(|side| -> Vec<i64> { side.iter().map(|number| number.value(kept)).collect() });
        tiles.proves_disjoint(kept, &shape, &stride)
    }

    fn complete<const N: usize, const D: usize>(&self, kept: [i64; N]) -> Option<Numbers<N, D>> {
        let (mut size, mut span) = (1i64, 1i64);
        let offset = self.offset.value(&kept);
        let mut has_negative = offset < 0;
        for (extent, stride) in self.shape.iter().zip(self.stride) {
            let (extent, stride) = (extent.value(&kept), stride.value(&kept));
            size = size.checked_mul(extent)?;
            let reach = stride.checked_abs()?.checked_mul(extent.checked_sub(1)?)?;
            span = span.checked_add(reach)?;
            has_negative |= stride < 0;
        }
        // No value before the swizzle leaves the range.
        let reach = offset.checked_abs()?.checked_add(span)?;
        let cosize_bound = self.swizzle.end_of_blocks(reach, has_negative)?;
        let mut divisors = [Divisor::ONE; D];
        for (divisor, &number) in divisors.iter_mut().zip(self.divisors) {
            *divisor = Divisor::new(*kept.get(number)?)?;
        }
        Some(Numbers {
            kept,
            divisors,
            size,
            cosize_bound,
        })
    }
}

impl TilingRecipe {
    /// Whether it can be proved that no two tiles share an element, for a layout with these extents and strides.
    fn proves_disjoint(&self, kept: &[i64], shape: &[i64], stride: &[i64]) -> bool {
        let values = |numbers: &[Number]| numbers.iter().map(|n| n.value(kept)).collect();
        let strides: Vec<Vec<i64>> = self.axes.iter().map(|axis| values(axis.strides)).collect();
        let axes = self.axes.iter().zip(&strides).map(|(axis, strides)| Axis {
            extent: axis.extent.value(kept),
            strides,
        });
        proves_disjoint(shape, stride, &axes.collect::<Vec<_>>())
    }
}
