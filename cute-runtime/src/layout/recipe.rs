//! Recipes: how to compute the numbers of a layout from its run-time integers, and the checks when a value is built. Expansions
//! define them.

use super::Profile;
use super::Swizzle;
use super::divisor::Divisor;
use alloc::vec::Vec;
use core::fmt;
use cute_algebra::symbolic::{MAX_ATOMS, div_ceil, evaluate, narrow};
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
    /// Indices of the kept numbers that divide 1-D coordinates.
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

/// A condition that is false for the run-time integers of a layout, so that the layout was not built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayoutCheck {
    condition: &'static str,
    values: Vec<(&'static str, i64)>,
}

impl LayoutCheck {
    /// The condition as a Rust expression, such as `m % 64 == 0`. Two conditions are sentences: the size and all numbers of the
    /// layout fit 64 bits, and no two tiles share an element.
    pub fn condition(&self) -> &'static str {
        self.condition
    }

    /// The run-time integers of the caller, with their names. An integer that does not fit `i64` is left out.
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

/// The types of run-time integers: those of Rust.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no integer",
    label = "a run-time integer of the layout",
    note = "a name that begins with a lower-case letter is a run-time integer in a layout; `layout! {{ NAME = (4,8):(8,1); }}` declares a layout that others can name"
)]
pub trait RunTimeInteger {
    /// The integer as `i64`; `None` if it does not fit.
    fn captured(self) -> Option<i64>;
}

macro_rules! run_time_integers {
    ($($ty:ty)*) => {
        $(impl RunTimeInteger for $ty {
            fn captured(self) -> Option<i64> {
                self.try_into().ok()
            }
        })*
    };
}

run_time_integers! { i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize }

/// For expansions: a run-time integer as `i64`; `None` if it does not fit.
pub fn capture<T: RunTimeInteger>(value: T) -> Option<i64> {
    value.captured()
}

impl Term {
    const fn value(&self, atoms: &[i64]) -> Option<i128> {
        evaluate(self.above, self.below, self.powers, atoms)
    }
}

impl Number {
    pub(super) const fn value(self, kept: &[i64]) -> i64 {
        match self {
            Self::Known(value) => value,
            Self::Kept(index) => kept[index],
        }
    }
}

impl AtomOrigin {
    /// The value of an atom that is computed from those before it. `captured` is the next integer that the caller passed.
    const fn value(&self, atoms: &[i64], captured: Option<i64>) -> Option<i64> {
        match self {
            Self::Captured => captured,
            Self::Ceiling(dividend, divisor) => {
                match (dividend.value(atoms), divisor.value(atoms)) {
                    (Some(dividend), Some(divisor)) => div_ceil(dividend, divisor),
                    _ => None,
                }
            }
            Self::Quotient(dividend, divisor) => match (sum(dividend, atoms), divisor.value(atoms))
            {
                (Some(dividend), Some(divisor)) => match dividend.checked_div(divisor) {
                    Some(quotient) => narrow(quotient),
                    None => None,
                },
                _ => None,
            },
            Self::Swizzled(swizzle, index) => match narrow_sum(index, atoms) {
                Some(index) => Some(swizzle.apply(index)),
                None => None,
            },
        }
    }
}

impl Condition {
    const fn text(&self) -> &'static str {
        match self {
            Self::Divides(text, ..) | Self::AtMost(text, ..) => text,
        }
    }

    const fn holds(&self, atoms: &[i64]) -> bool {
        match self {
            Self::Divides(_, divisor, dividend) => {
                match (dividend.value(atoms), divisor.value(atoms)) {
                    (Some(dividend), Some(divisor)) => {
                        matches!(dividend.checked_rem(divisor), Some(0))
                    }
                    _ => false,
                }
            }
            Self::AtMost(_, left, right) => match (sum(left, atoms), sum(right, atoms)) {
                (Some(left), Some(right)) => left <= right,
                _ => false,
            },
        }
    }
}

const fn sum(terms: &[Term], atoms: &[i64]) -> Option<i128> {
    let (mut i, mut sum) = (0, 0i128);
    while i < terms.len() {
        let Some(term) = terms[i].value(atoms) else {
            return None;
        };
        let Some(with_term) = sum.checked_add(term) else {
            return None;
        };
        sum = with_term;
        i += 1;
    }
    Some(sum)
}

const fn narrow_sum(terms: &[Term], atoms: &[i64]) -> Option<i64> {
    match sum(terms, atoms) {
        Some(sum) => narrow(sum),
        None => None,
    }
}

/// The condition that is reported if two tiles may share an element.
const DISJOINT: &str = "no two tiles share an element";

/// The condition that is reported if a number does not fit 64 bits.
const FITS: &str = "the size and all numbers of the layout fit 64 bits";

// `?`, closures and iterators are no parts of `const fn`.

impl Recipe {
    /// Checks the conditions and computes the numbers.
    ///
    /// # Errors
    /// The first condition that does not hold.
    pub fn build<const C: usize, const N: usize>(
        &self,
        captured: [Option<i64>; C],
    ) -> Result<[i64; N], LayoutCheck> {
        self.numbers(&captured)
            .map_err(|condition| self.refusal(condition, &captured))
    }

    /// As [`build`](Self::build), but the error is the condition alone.
    const fn numbers<const N: usize>(
        &self,
        captured: &[Option<i64>],
    ) -> Result<[i64; N], &'static str> {
        let (mut i, mut fits) = (0, true);
        while i < captured.len() {
            fits &= captured[i].is_some();
            i += 1;
        }
        if !fits {
            return Err(FITS);
        }
        let mut atoms = [0; MAX_ATOMS];
        let (mut i, mut passed) = (0, 0);
        while i < self.atoms.len() {
            let next = match passed < captured.len() {
                true => captured[passed],
                false => None,
            };
            passed += matches!(self.atoms[i], AtomOrigin::Captured) as usize;
            match self.atoms[i].value(atoms.split_at(i).0, next) {
                Some(value) => atoms[i] = value,
                // It is reported only if no condition fails, since a condition makes the better message.
                None => fits = false,
            }
            i += 1;
        }
        let atoms = atoms.split_at(self.atoms.len()).0;
        let mut i = 0;
        while i < self.checks.len() {
            if !self.checks[i].holds(atoms) {
                return Err(self.checks[i].text());
            }
            i += 1;
        }
        let mut numbers = [0; N];
        let mut i = 0;
        while fits && i < N {
            match narrow_sum(self.numbers[i], atoms) {
                Some(number) => numbers[i] = number,
                None => fits = false,
            }
            i += 1;
        }
        match fits {
            true => Ok(numbers),
            false => Err(FITS),
        }
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
        let numbers = self.numbers(&captured).map_err(refuse)?;
        match self.tiles {
            Some(tiles) if tiles.is_disjoint && !self.is_disjoint(&tiles, &numbers.kept) => {
                Err(refuse(DISJOINT))
            }
            _ => Ok(numbers),
        }
    }

    /// As [`build`](Self::build), but the integers fit, a condition that does not hold is a panic, and tiles are not proved disjoint.
    #[track_caller]
    pub const fn expect<const C: usize, const N: usize, const D: usize>(
        &self,
        captured: [i64; C],
    ) -> Numbers<N, D> {
        let mut passed = [None; C];
        let mut i = 0;
        while i < C {
            passed[i] = Some(captured[i]);
            i += 1;
        }
        match self.numbers(&passed) {
            Ok(numbers) => numbers,
            Err(condition) => panic!("{}", condition),
        }
    }

    fn is_disjoint(&self, tiles: &TilingRecipe, kept: &[i64]) -> bool {
        let [shape, stride] = [self.shape, self.stride]
            .map(|side| -> Vec<i64> { side.iter().map(|number| number.value(kept)).collect() });
        tiles.proves_disjoint(kept, &shape, &stride)
    }

    const fn numbers<const N: usize, const D: usize>(
        &self,
        captured: &[Option<i64>],
    ) -> Result<Numbers<N, D>, &'static str> {
        let kept = match self.recipe.numbers(captured) {
            Ok(kept) => kept,
            Err(condition) => return Err(condition),
        };
        match self.complete(kept) {
            Some(numbers) => Ok(numbers),
            None => Err(FITS),
        }
    }

    const fn complete<const N: usize, const D: usize>(
        &self,
        kept: [i64; N],
    ) -> Option<Numbers<N, D>> {
        let (mut size, mut span) = (1i64, 1i64);
        let offset = self.offset.value(&kept);
        let mut has_negative = offset < 0;
        let mut i = 0;
        while i < self.shape.len() {
            let (extent, stride) = (self.shape[i].value(&kept), self.stride[i].value(&kept));
            (size, span) = match (
                size.checked_mul(extent),
                checked_reach(span, extent, stride),
            ) {
                (Some(size), Some(span)) => (size, span),
                _ => return None,
            };
            has_negative |= stride < 0;
            i += 1;
        }
        // No value before the swizzle leaves the range.
        let Some(reach) = checked_reach(span, 2, offset) else {
            return None;
        };
        let Some(cosize_bound) = self.swizzle.end_of_blocks(reach, has_negative) else {
            return None;
        };
        let mut divisors = [Divisor::ONE; D];
        let mut i = 0;
        while i < D {
            match Divisor::new(kept[self.divisors[i]]) {
                Some(divisor) => divisors[i] = divisor,
                None => return None,
            }
            i += 1;
        }
        Some(Numbers {
            kept,
            divisors,
            size,
            cosize_bound,
        })
    }
}

/// The span with that of one more leaf.
const fn checked_reach(span: i64, extent: i64, stride: i64) -> Option<i64> {
    let (Some(stride), Some(steps)) = (stride.checked_abs(), extent.checked_sub(1)) else {
        return None;
    };
    match stride.checked_mul(steps) {
        Some(reach) => span.checked_add(reach),
        None => None,
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
