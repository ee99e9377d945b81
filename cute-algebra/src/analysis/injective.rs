//! Whether the values of a layout are distinct, fill an interval, or are exactly 0, 1, …, size − 1.
//!
//! The strides in ascending order decide whether a layout is dense or bijective. Whether it is injective is
//! coNP-complete (it is Equal Subset Sum), so there is a third answer, "not proved". Most layouts split into parts
//! that are decided by their sizes and strides.

use crate::alignment::gcd;
use crate::composed::ComposedLayout;
use crate::layout::Layout;
use crate::stride::ScaledBasis;
use crate::tuple::{IntTuple, Tuple};
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

/// Most values for a comparison one by one. Above it, a property is "not proved".
pub const INJECTIVITY_LIMIT: i64 = 1 << 20;

/// Whether a property of a layout holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The property holds.
    Yes,
    /// The property does not hold, and this shows it.
    No(Counterexample),
    /// Neither the property nor its opposite is proved.
    Unproved,
}

/// Why a property of a layout does not hold. Coordinates are 1-D.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Counterexample {
    /// Two coordinates with the same value.
    Collision {
        /// The smaller of the two coordinates.
        first: i64,
        /// The larger of the two coordinates.
        second: i64,
        /// The value of both coordinates.
        value: IntTuple,
    },
    /// More coordinates than there are possible values, so that two must share one.
    Crowd {
        /// Number of coordinates.
        size: i128,
        /// Number of possible values.
        values: i128,
    },
    /// A value between the smallest and the largest that no coordinate has.
    Missing {
        /// The missing value.
        value: IntTuple,
    },
    /// A value below 0 or not below the size.
    Outside {
        /// A coordinate with that value.
        coordinate: i64,
        /// The value at the coordinate.
        value: IntTuple,
    },
}

/// Whether no two coordinates have the same value; `None` where neither answer is proved. [`Layout::injective`]
/// also returns a counterexample.
/// ```
/// use cute_algebra::is_injective;
/// assert_eq!(is_injective(&"(3,2):(2,3)".parse()?), Some(true));
/// assert_eq!(is_injective(&"(4,3):(1,2)".parse()?), Some(false));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn is_injective(a: &Layout) -> Option<bool> {
    a.injective().decided()
}

impl Verdict {
    /// `Some(true)` for yes, `Some(false)` for no, `None` if not proved.
    pub fn decided(&self) -> Option<bool> {
        match self {
            Self::Yes => Some(true),
            Self::No(_) => Some(false),
            Self::Unproved => None,
        }
    }

    /// The verdict that both properties hold: a counterexample to either is one to both.
    fn and(self, other: impl FnOnce() -> Self) -> Self {
        match self {
            Self::Yes => other(),
            Self::No(found) => Self::No(found),
            Self::Unproved => match other() {
                Self::No(found) => Self::No(found),
                _ => Self::Unproved,
            },
        }
    }
}

impl Layout {
    /// Whether no two coordinates have the same value.
    /// ```
    /// use cute_algebra::{Counterexample, Layout, Verdict};
    /// assert_eq!(Layout::new([3, 2], [2, 3])?.injective(), Verdict::Yes);
    /// let overlapping = Layout::new([4, 3], [1, 2])?.injective();
    /// let expected = Counterexample::Collision { first: 2, second: 4, value: 2.into() };
    /// assert_eq!(overlapping, Verdict::No(expected));
    /// # Ok::<(), cute_algebra::LayoutError>(())
    /// ```
    pub fn injective(&self) -> Verdict {
        let axes = match Axes::of(self) {
            Ok(axes) => axes,
            Err(repeated) => return collision(self, 0, repeated),
        };
        axes.0.iter().fold(Verdict::Yes, |verdict, (_, modes)| {
            verdict.and(|| {
                independent_parts(modes)
                    .into_iter()
                    .fold(Verdict::Yes, |verdict, part| {
                        verdict.and(|| part_is_injective(self, part))
                    })
            })
        })
    }

    /// Whether the values are exactly 0, 1, …, size − 1, each once. For a layout into a coordinate space: whether
    /// they are the coordinates of a box at the origin, each once.
    /// ```
    /// use cute_algebra::{Counterexample, Layout, Verdict};
    /// assert_eq!(Layout::new([4, 3], [3, 1])?.bijective(), Verdict::Yes);
    /// let padded = Layout::new([4, 3], [1, 5])?.bijective();
    /// assert_eq!(padded, Verdict::No(Counterexample::Missing { value: 4.into() }));
    /// # Ok::<(), cute_algebra::LayoutError>(())
    /// ```
    pub fn bijective(&self) -> Verdict {
        let axes = match Axes::of(self) {
            Ok(axes) => axes,
            Err(repeated) => return collision(self, 0, repeated),
        };
        for (path, modes) in &axes.0 {
            if let Some(mode) = modes.iter().find(|mode| mode.stride < 0) {
                return match self.extended(mode.weight) {
                    Some(value) => Verdict::No(Counterexample::Outside {
                        coordinate: mode.weight,
                        value,
                    }),
                    None => Verdict::Unproved,
                };
            }
            // The modes so far take the values below `block`, each once.
            let mut block = 1;
            for (position, mode) in modes.iter().enumerate() {
                if mode.stride > block {
                    return missing(path, block);
                }
                if mode.stride < block {
                    let other = coordinate_of(&modes[..position], mode.stride);
                    return collision(self, other.min(mode.weight), other.max(mode.weight));
                }
                block *= mode.extent;
            }
        }
        Verdict::Yes
    }

    /// Whether every integer between the smallest and the largest value is a value. For a layout into a coordinate
    /// space: whether the values fill a box.
    /// ```
    /// use cute_algebra::{Counterexample, Layout, Verdict};
    /// assert_eq!(Layout::new([4, 3], [1, 2])?.dense(), Verdict::Yes);
    /// let padded = Layout::new([4, 3], [1, 5])?.dense();
    /// assert_eq!(padded, Verdict::No(Counterexample::Missing { value: 4.into() }));
    /// # Ok::<(), cute_algebra::LayoutError>(())
    /// ```
    pub fn dense(&self) -> Verdict {
        for (path, modes) in &Axes::collect(self).0 {
            let least: i64 = modes
                .iter()
                .map(|mode| (mode.extent - 1) * mode.stride.min(0))
                .sum();
            // The values of the modes so far fill an interval of `reach + 1` integers. A larger step leaves a hole,
            // and later steps are larger still.
            let mut reach = 0;
            for mode in modes {
                if mode.stride.abs() > reach + 1 {
                    return missing(path, least + reach + 1);
                }
                reach += (mode.extent - 1) * mode.stride.abs();
            }
        }
        Verdict::Yes
    }
}

impl ComposedLayout {
    /// Whether no two coordinates have the same value. The swizzle is a bijection, so the layout underneath
    /// decides.
    pub fn injective(&self) -> Verdict {
        let swizzled = |value: &i64| self.swizzle().apply(self.offset().saturating_add(*value));
        match self.layout().injective() {
            Verdict::No(Counterexample::Collision {
                first,
                second,
                value,
            }) => Verdict::No(Counterexample::Collision {
                first,
                second,
                value: value.map(swizzled),
            }),
            verdict => verdict,
        }
    }

    /// Whether the values are exactly 0, 1, …, size − 1, each once.
    /// ```
    /// use cute_algebra::{ComposedLayout, Layout, Swizzle, Verdict};
    /// let tile = ComposedLayout::new(Swizzle::new(3, 3, 3)?, 0, Layout::new([8, 64], [64, 1])?)?;
    /// assert_eq!(tile.bijective(), Verdict::Yes);
    /// # Ok::<(), cute_algebra::LayoutError>(())
    /// ```
    pub fn bijective(&self) -> Verdict {
        self.injective().and(|| {
            if self.permutes_its_span() && self.layout().cosize() == self.size() {
                return Verdict::Yes;
            }
            if self.size() > INJECTIVITY_LIMIT {
                return Verdict::Unproved;
            }
            // The values are distinct, so they are 0 to size − 1 if none lies outside.
            let outside = (0..)
                .zip(self.values())
                .find(|(_, value)| !(0..self.size()).contains(value));
            outside.map_or(Verdict::Yes, |(coordinate, value)| {
                Verdict::No(Counterexample::Outside {
                    coordinate,
                    value: value.into(),
                })
            })
        })
    }

    /// Whether every integer between the smallest and the largest value is a value.
    pub fn dense(&self) -> Verdict {
        if self.permutes_its_span() && self.layout().dense() == Verdict::Yes {
            return Verdict::Yes;
        }
        if self.size() > INJECTIVITY_LIMIT {
            return Verdict::Unproved;
        }
        let mut values: Vec<i64> = self.values().collect();
        values.sort_unstable();
        let gap = values
            .windows(2)
            .find(|pair| pair[1].saturating_sub(pair[0]) > 1);
        gap.map_or(Verdict::Yes, |pair| {
            Verdict::No(Counterexample::Missing {
                value: (pair[0] + 1).into(),
            })
        })
    }

    /// Whether the swizzle permutes the numbers below the cosize of the layout underneath.
    fn permutes_its_span(&self) -> bool {
        let negative = self
            .layout()
            .flat_modes()
            .iter()
            .any(|(_, stride)| stride.value() < 0);
        self.offset() == 0 && !negative && self.cosize_bound() == Some(self.layout().cosize())
    }
}

/// A leaf of a layout. `weight` is the product of the extents of the leaves before it.
#[derive(Clone, Copy)]
struct Mode {
    extent: i64,
    stride: i64,
    weight: i64,
}

/// The modes along each coordinate of the space of values, in ascending order of the absolute values of strides.
/// Modes along different coordinates cannot cancel, so each list is decided by itself.
struct Axes(BTreeMap<Vec<usize>, Vec<Mode>>);

impl Axes {
    /// Refuses a layout with a stride 0 and an extent above 1. The error is a coordinate with the value of coordinate 0.
    fn of(a: &Layout) -> Result<Self, i64> {
        let mut weight = 1;
        for (extent, stride) in a.flat_modes() {
            if extent > 1 && stride.is_zero() {
                return Err(weight);
            }
            weight *= extent;
        }
        Ok(Self::collect(a))
    }

    /// Collects the modes whose extent is above 1 and whose stride is not 0.
    fn collect(a: &Layout) -> Self {
        let mut axes: BTreeMap<Vec<usize>, Vec<Mode>> = BTreeMap::new();
        let mut weight = 1;
        for (extent, stride) in a.flat_modes() {
            if extent > 1 && !stride.is_zero() {
                axes.entry(stride.path().to_vec()).or_default().push(Mode {
                    extent,
                    stride: stride.value(),
                    weight,
                });
            }
            weight *= extent;
        }
        for modes in axes.values_mut() {
            modes.sort_by_key(|mode| (mode.stride.unsigned_abs(), mode.weight));
        }
        Self(axes)
    }
}

/// Splits the modes wherever the gcd of the later strides exceeds the sum of `(extent - 1) * |stride|` of the earlier
/// ones: two values are then equal only if their parts are equal.
fn independent_parts(modes: &[Mode]) -> Vec<&[Mode]> {
    let mut divisors = vec![0; modes.len()];
    let mut divisor = 0;
    for (position, mode) in modes.iter().enumerate().rev() {
        divisor = gcd(mode.stride, divisor);
        divisors[position] = divisor;
    }
    let (mut parts, mut begin, mut reach) = (Vec::new(), 0, 0);
    for (position, mode) in modes.iter().enumerate() {
        if divisors[position] > reach {
            parts.push(&modes[begin..position]);
            begin = position;
        }
        reach += (mode.extent - 1) * mode.stride.abs();
    }
    parts.push(&modes[begin..]);
    parts
}

fn part_is_injective(a: &Layout, modes: &[Mode]) -> Verdict {
    let (mut superincreasing, mut reach) = (true, 0);
    for mode in modes {
        superincreasing &= mode.stride.abs() > reach;
        reach += (mode.extent - 1) * mode.stride.abs();
    }
    if superincreasing {
        return Verdict::Yes;
    }
    for (position, one) in modes.iter().enumerate() {
        for other in &modes[..position] {
            let divisor = gcd(one.stride, other.stride);
            let steps = (other.stride / divisor).abs();
            let others = (one.stride / divisor).abs();
            if steps < one.extent && others < other.extent {
                let (here, there) = (steps * one.weight, others * other.weight);
                return match (one.stride < 0) == (other.stride < 0) {
                    true => collision(a, here.min(there), here.max(there)),
                    false => collision(a, 0, here + there),
                };
            }
        }
    }
    let unit = modes.iter().fold(0, |unit, mode| gcd(mode.stride, unit));
    let values = i128::from(reach / unit) + 1;
    let size: i128 = modes.iter().map(|mode| i128::from(mode.extent)).product();
    // One coordinate more than there are possible values must already collide.
    let points = size.min(values + 1);
    if points > INJECTIVITY_LIMIT.into() {
        return match size > values {
            true => Verdict::No(Counterexample::Crowd { size, values }),
            false => Verdict::Unproved,
        };
    }
    let mut seen: Vec<(i64, i64)> = Vec::new();
    for mut index in 0..points as i64 {
        let (mut value, mut coordinate) = (0, 0);
        for mode in modes {
            let digit = index % mode.extent;
            index /= mode.extent;
            value += digit * mode.stride;
            coordinate += digit * mode.weight;
        }
        seen.push((value, coordinate));
    }
    seen.sort_unstable();
    match seen.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        Some(pair) => collision(a, pair[0].1, pair[1].1),
        None => Verdict::Yes,
    }
}

/// The 1-D coordinate at which compact modes have this value.
fn coordinate_of(modes: &[Mode], mut value: i64) -> i64 {
    let mut coordinate = 0;
    for mode in modes.iter().rev() {
        coordinate += value / mode.stride * mode.weight;
        value %= mode.stride;
    }
    coordinate
}

fn collision(a: &Layout, first: i64, second: i64) -> Verdict {
    match a.extended(first) {
        Some(value) => Verdict::No(Counterexample::Collision {
            first,
            second,
            value,
        }),
        None => Verdict::Unproved,
    }
}

fn missing(path: &[usize], value: i64) -> Verdict {
    let value = match path {
        [] => Tuple::Leaf(value),
        path => ScaledBasis::along(1, path).place(value),
    };
    Verdict::No(Counterexample::Missing { value })
}

impl fmt::Display for Counterexample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Collision {
                first,
                second,
                value,
            } => write!(f, "{first} and {second} both go to {value}"),
            Self::Crowd { size, values } => {
                write!(f, "{size} coordinates share at most {values} values")
            }
            Self::Missing { value } => write!(f, "nothing goes to {value}"),
            Self::Outside { coordinate, value } => {
                write!(f, "{coordinate} goes to {value}")
            }
        }
    }
}
