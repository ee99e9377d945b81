//! Layouts with run-time integers: checked once, when they are built.

use super::Profile;
use super::Swizzle;
use super::divisor::Divisor;
use super::dynamic_tiling::TilingRecipe;
use super::value::tree;
use cute_algebra::symbolic::{div_ceil, evaluate};
use cute_algebra::{ComposedLayout, IntTuple, LayoutError};
use std::fmt;

/// A layout of which some extents or strides are known at run time only.
///
/// `layout! { pub L = (m,n):(1,m); }` declares a type that implements it, with `L::try_new(m, n)`, which makes the checks
/// that are left over at expansion, and `offset`, which takes a coordinate with one integer for each leaf. As an
/// expression, `layout!((m,n):(1,m))` takes the variables `m` and `n` and is a `Result` of such a value.
/// ```
/// use cute_runtime::{DynamicLayout, layout};
/// layout! {
///     where m % 64 == 0, m >= 64;
///     pub L = (m,(4,k)):(1,(m,4*m));
/// }
/// let l = L::try_new(128, 3)?;
/// assert_eq!((l.m(), l.size(), l.cosize()), (128, 1536, 1536));
/// assert_eq!(l.offset((5, (1, 2))), 5 + 128 + 2 * 512);
/// assert_eq!(l.index(1000), 1000);
///
/// let refused = L::try_new(100, 3).unwrap_err();
/// assert_eq!(refused.to_string(), "`m % 64 == 0` does not hold for m = 100, k = 3");
/// # Ok::<(), cute_runtime::LayoutCheck>(())
/// ```
pub trait DynamicLayout: Copy {
    /// What expansions fill in.
    #[doc(hidden)]
    const RECIPE: &'static LayoutRecipe;

    /// How the leaves nest.
    const PROFILE: Profile = Self::RECIPE.profile;

    /// Number of top-level modes.
    const RANK: usize = Self::RECIPE.profile.rank();

    /// What expansions fill in.
    #[doc(hidden)]
    fn numbers(&self) -> &[i64];

    /// Number of coordinates.
    fn size(&self) -> i64;

    /// At least the cosize, which is how many elements in one piece hold index 0 and all values: one more than the sum of
    /// `(extent - 1) * |stride|` and the offset, rounded up to the blocks that the swizzle permutes.
    ///
    /// Without a swizzle and an offset it is the cosize, and the type has a function `cosize`, too.
    fn cosize_bound(&self) -> i64;

    /// The value at 1-D coordinate `coord`, which is not negative; like CuTe's, it does not ask whether that is below the size.
    ///
    /// No division is made: the reciprocals of the extents are computed when the layout is built.
    fn index(&self, coord: i64) -> i64;

    /// The value at 1-D coordinate `coord`.
    ///
    /// # Panics
    /// If `coord` is negative or not below the size.
    #[track_caller]
    fn at(&self, coord: i64) -> i64 {
        assert!((0..self.size()).contains(&coord), "coordinate out of range");
        self.index(coord)
    }

    /// Extent and stride of a leaf.
    ///
    /// # Panics
    /// If there is no such leaf.
    #[inline]
    fn leaf(&self, leaf: usize) -> (i64, i64) {
        let [extent, stride] =
            [Self::RECIPE.shape, Self::RECIPE.stride].map(|side| side[leaf].value(self.numbers()));
        (extent, stride)
    }

    /// What is added to the values, before the swizzle.
    #[inline]
    fn base(&self) -> i64 {
        Self::RECIPE.offset.value(self.numbers())
    }

    /// The same layout in the algebra, with its swizzle and offset.
    ///
    /// # Errors
    /// Never for a value that was built.
    fn to_composed(&self) -> Result<ComposedLayout, LayoutError> {
        let swizzle = Self::RECIPE.swizzle;
        let swizzle = cute_algebra::Swizzle::new(swizzle.bits(), swizzle.base(), swizzle.shift())?;
        ComposedLayout::new(swizzle, self.base(), self.to_layout()?)
    }

    /// The same layout in the algebra, before the offset and the swizzle.
    ///
    /// # Errors
    /// Never for a value that was built.
    fn to_layout(&self) -> Result<cute_algebra::Layout, LayoutError> {
        let side = |leaves: &[Number]| {
            let mut leaves = leaves.iter().map(|leaf| leaf.value(self.numbers()));
            tree(Self::PROFILE, &mut leaves)
        };
        let stride: IntTuple = side(Self::RECIPE.stride);
        cute_algebra::Layout::new(side(Self::RECIPE.shape), &stride)
    }
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
    /// The bound of the cosize.
    pub cosize_bound: i64,
}

/// For expansions: a captured value as it is computed with; none where it does not fit.
pub fn capture<T: TryInto<i64>>(value: T) -> Option<i64> {
    value.try_into().ok()
}

/// For expansions: the layout as text.
pub fn write_dynamic<L: DynamicLayout>(layout: &L, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let composed = layout.to_composed().map_err(|_| fmt::Error)?;
    match composed.as_layout() {
        Some(layout) => fmt::Display::fmt(layout, f),
        None => fmt::Display::fmt(&composed, f),
    }
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
