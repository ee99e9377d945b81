//! What expansions say of layouts with run-time integers: where their numbers come from, and what is checked when a value is
//! built.

use super::Profile;
use super::Swizzle;
use super::divisor::Divisor;
use cute_algebra::symbolic::{div_ceil, evaluate};
use cute_algebra::{Axis, proves_disjoint};
use std::fmt;

/// For expansions: how numbers come from run-time integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recipe {
    /// The names of the captured integers.
    pub names: &'static [&'static str],
    /// The run-time integers: captured in order, or rounded-up quotients of the ones before.
    pub atoms: &'static [AtomOrigin],
    /// What has to hold, in order.
    pub checks: &'static [Condition],
    /// The numbers that are kept, each a sum.
    pub numbers: &'static [&'static [Term]],
}

/// For expansions: how a layout comes from its run-time integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LayoutRecipe {
    /// The numbers.
    pub recipe: Recipe,
    /// How the leaves nest.
    pub profile: Profile,
    /// The extents.
    pub shape: &'static [Number],
    /// The strides.
    pub stride: &'static [Number],
    /// The numbers that coordinates are divided by.
    pub divisors: &'static [usize],
    /// What is added to the values, before the swizzle.
    pub offset: Number,
    /// What the values are swizzled by.
    pub swizzle: Swizzle,
    /// Of a tiling, its tiles.
    pub tiles: Option<TilingRecipe>,
}

/// For expansions: where a run-time integer comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtomOrigin {
    /// The next captured integer.
    Captured,
    /// A quotient, rounded up.
    Ceiling(Term, Term),
    /// The quotient of a sum, rounded towards zero.
    Quotient(&'static [Term], Term),
    /// What a swizzle makes of a sum.
    Swizzled(Swizzle, &'static [Term]),
}

/// For expansions: a constant times powers of run-time integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Term {
    /// The constant's upper part.
    pub above: i64,
    /// The constant's lower part.
    pub below: i64,
    /// The run-time integers and their exponents.
    pub powers: &'static [(usize, i32)],
}

/// For expansions: what has to hold, and as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// The first divides the second.
    Divides(&'static str, Term, Term),
    /// The first sum is at most the second.
    AtMost(&'static str, &'static [Term], &'static [Term]),
}

/// For expansions: an extent or a stride.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// Known at expansion.
    Known(i64),
    /// One of the numbers that the layout keeps.
    Kept(usize),
}

/// For expansions: the numbers that a layout keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbers<const N: usize, const D: usize> {
    /// The values of `Recipe::numbers`.
    pub kept: [i64; N],
    /// Those that coordinates are divided by.
    pub divisors: [Divisor; D],
    /// The size.
    pub size: i64,
    /// The span.
    pub cosize: i64,
}

/// For expansions: the tiles of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TilingRecipe {
    /// How many leaves of the layout are the tile's.
    pub tile_leaves: usize,
    /// The coordinates of the whole.
    pub axes: &'static [AxisRecipe],
    /// Whether tiles may not share an element.
    pub is_disjoint: bool,
}

/// For expansions: one coordinate of the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AxisRecipe {
    /// It is below this, or past the edge.
    pub extent: Number,
    /// How far each leaf moves along it.
    pub strides: &'static [Number],
}

/// A condition that the numbers of a layout do not fulfil.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayoutCheck {
    condition: &'static str,
    values: Vec<(&'static str, i64)>,
}

impl LayoutCheck {
    /// The condition, as a Rust expression; for a number that does not fit 64 bits, the layout.
    pub fn condition(&self) -> &'static str {
        self.condition
    }

    /// The run-time integers by name.
    pub fn values(&self) -> &[(&'static str, i64)] {
        &self.values
    }
}

impl std::error::Error for LayoutCheck {}

impl fmt::Display for LayoutCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` does not hold", self.condition)?;
        for (i, (name, value)) in self.values.iter().enumerate() {
            write!(f, "{} {name} = {value}", if i == 0 { " for" } else { "," })?;
        }
        Ok(())
    }
}

/// For expansions: a captured value as it is computed with; none where it does not fit.
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

/// What is said to hold where it is not proved.
const DISJOINT: &str = "no two tiles share an element";

/// What is said to hold where it does not, because a number is over 64 bits.
const FITS: &str = "the size and all numbers of the layout fit 64 bits";

impl Recipe {
    /// Makes the checks and computes the numbers.
    ///
    /// # Errors
    /// With the first check that does not hold.
    pub fn build<const C: usize, const N: usize>(
        &self,
        captured: [Option<i64>; C],
    ) -> Result<[i64; N], LayoutCheck> {
        let atoms = self.atoms(captured)?;
        self.numbers(&atoms)
            .ok_or_else(|| self.refusal(FITS, &captured))
    }

    /// The run-time integers, which pass the checks.
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
            // What a check would refuse comes first, and is the better message.
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
    /// Makes the checks and computes the numbers.
    ///
    /// # Errors
    /// With the first check that does not hold.
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
        let (mut size, mut cosize) = (1i64, 1i64);
        for (extent, stride) in self.shape.iter().zip(self.stride) {
            let (extent, stride) = (extent.value(&kept), stride.value(&kept));
            size = size.checked_mul(extent)?;
            let reach = stride.checked_abs()?.checked_mul(extent.checked_sub(1)?)?;
            cosize = cosize.checked_add(reach)?;
        }
        // No value before the swizzle leaves the range.
        let offset = self.offset.value(&kept);
        offset.checked_add(cosize)?;
        offset.checked_sub(cosize)?;
        let mut divisors = [Divisor::ONE; D];
        for (divisor, &number) in divisors.iter_mut().zip(self.divisors) {
            *divisor = Divisor::new(*kept.get(number)?)?;
        }
        Some(Numbers {
            kept,
            divisors,
            size,
            cosize,
        })
    }
}

impl TilingRecipe {
    /// Whether it is proved that no two tiles share an element, in a layout with these leaves.
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
