//! Leaves of strides: integers and scaled basis elements, and the coordinates that they add up to.

use crate::error::{ErrorKind, LayoutError, Place};
use crate::integer::{Integer, Leaf, Source};
use crate::tuple::{IntTuple, MAX_DEPTH, MAX_LEAVES, Tuple};
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

/// A tree of strides, which nests as a shape does.
pub type Stride<I = i64> = Tuple<ScaledBasis<I>>;

/// An integer, or an integer along one coordinate of a coordinate space: CuTe's `ScaledBasis`.
///
/// It prints as CuTe prints it: `2@1@0` is 2 along index 1 inside index 0, so the rightmost index is outermost.
/// ```
/// use cute_algebra::ScaledBasis;
/// let basis = ScaledBasis::new(2, [0, 1])?;
/// assert_eq!(basis.to_string(), "2@1@0");
/// assert_eq!(basis.to_int_tuple().to_string(), "((0,2))");
/// # Ok::<(), cute_algebra::LayoutError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ScaledBasis<I: Integer = i64> {
    value: I,
    path: Vec<usize>,
    sources: I::Sources,
}

impl<I: Integer> ScaledBasis<I> {
    /// `value` along the coordinate at `path`, outermost index first. An empty path gives an integer, and a value
    /// of 0 always does.
    pub fn new(value: I, path: impl Into<Vec<usize>>) -> Result<Self, LayoutError> {
        let path = path.into();
        if path.len() > MAX_DEPTH {
            return Err(ErrorKind::TooDeep {
                depth: path.len(),
                limit: MAX_DEPTH,
            }
            .at(Place::default()));
        }
        if let Some(&index) = path.iter().find(|&&index| index >= MAX_LEAVES) {
            return Err(ErrorKind::TooManyLeaves {
                leaves: index.saturating_add(1),
                limit: MAX_LEAVES,
            }
            .at(Place::default()));
        }
        Ok(Self::along(value, path))
    }

    /// [`new`](Self::new) for a path that is known to be within the depth limit.
    pub(crate) fn along(value: I, path: impl Into<Vec<usize>>) -> Self {
        let path = if value.is_zero() {
            Vec::new()
        } else {
            path.into()
        };
        Self {
            value,
            path,
            sources: I::Sources::default(),
        }
    }

    /// The integer by which the basis element is scaled; the stride itself where there is no path.
    pub fn value(&self) -> I {
        self.value.clone()
    }

    /// The coordinate along which it moves, outermost index first; empty for an integer.
    pub fn path(&self) -> &[usize] {
        &self.path
    }

    /// For each ragged division that made the mode, how far one step moves in the divided mode. Generated code
    /// compares that position with the end of the mode.
    pub fn sources(&self) -> &[Source<I>] {
        self.sources.as_ref()
    }

    /// The same stride with these sources.
    pub(crate) fn with_sources(mut self, sources: impl IntoIterator<Item = Source<I>>) -> Self {
        self.sources = sources.into_iter().collect();
        self
    }

    /// The value if this is an integer; `None` if it has a path.
    pub fn as_integer(&self) -> Option<I> {
        self.path.is_empty().then(|| self.value.clone())
    }

    /// Whether the value is 0.
    pub fn is_zero(&self) -> bool {
        self.value.is_zero()
    }

    /// The stride of `steps` steps; `None` on overflow.
    pub fn checked_mul(&self, steps: &I) -> Option<Self> {
        let sources = self.sources().iter().map(|source| {
            Some(Source {
                bound: source.bound,
                stride: source.stride.times(steps)?,
            })
        });
        Some(Self {
            sources: sources.collect::<Option<_>>()?,
            ..Self::along(self.value.times(steps)?, self.path.as_slice())
        })
    }

    /// The coordinate that has `value` at the path of this basis element and 0 elsewhere.
    pub(crate) fn place(&self, value: I::Sum) -> Tuple<I::Sum> {
        self.path
            .iter()
            .rev()
            .fold(Tuple::Leaf(value), |inner, &index| {
                core::iter::repeat_n(Tuple::Leaf(0.into()), index)
                    .chain([inner])
                    .collect()
            })
    }
}

impl ScaledBasis {
    /// The coordinate with the value at the path and 0 elsewhere: `2@1@0` is `((0,2))`.
    pub fn to_int_tuple(&self) -> IntTuple {
        self.place(self.value)
    }

    /// The basis element equal to a coordinate; `None` if several of its leaves are not 0.
    pub fn from_int_tuple(tuple: &IntTuple) -> Option<Self> {
        let mut found = Self::from(0);
        let mut pending = vec![(tuple, Vec::new())];
        while let Some((tuple, path)) = pending.pop() {
            match tuple {
                Tuple::Leaf(0) => {}
                Tuple::Leaf(value) if found.is_zero() => found = Self::along(*value, path),
                Tuple::Leaf(_) => return None,
                Tuple::Node(modes) => {
                    pending.extend(
                        modes
                            .iter()
                            .enumerate()
                            .map(|(i, mode)| (mode, [&path[..], &[i]].concat())),
                    );
                }
            }
        }
        Some(found)
    }
}

impl<I: Integer> From<I> for ScaledBasis<I> {
    fn from(value: I) -> Self {
        Self {
            value,
            path: Vec::new(),
            sources: I::Sources::default(),
        }
    }
}

impl From<i64> for Stride {
    fn from(value: i64) -> Self {
        Tuple::Leaf(value.into())
    }
}

impl From<&IntTuple> for Stride {
    fn from(integers: &IntTuple) -> Self {
        integers.map(|&value| value.into())
    }
}

impl<const N: usize> From<[i64; N]> for Stride {
    fn from(integers: [i64; N]) -> Self {
        (&IntTuple::from(integers)).into()
    }
}

/// The sum of two coordinates, component by component. A shorter one is extended by zeros. `None` on overflow, and
/// where an integer other than 0 would be added to a tuple.
pub(crate) fn add<I: Integer>(a: &Tuple<I::Sum>, b: &Tuple<I::Sum>) -> Option<Tuple<I::Sum>> {
    let zero: I::Sum = 0.into();
    Some(match (a, b) {
        (Tuple::Leaf(a), Tuple::Leaf(b)) => Tuple::Leaf(I::plus(a, b)?),
        (Tuple::Leaf(leaf), tuple) | (tuple, Tuple::Leaf(leaf)) if *leaf == zero => tuple.clone(),
        (Tuple::Node(a), Tuple::Node(b)) => {
            let zero = Tuple::Leaf(zero);
            (0..a.len().max(b.len()))
                .map(|i| add::<I>(a.get(i).unwrap_or(&zero), b.get(i).unwrap_or(&zero)))
                .collect::<Option<_>>()?
        }
        _ => return None,
    })
}

impl<I: Integer> fmt::Display for ScaledBasis<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value.to_string() {
            product if !self.path.is_empty() && !is_factor(&product) => {
                write!(f, "{{{product}}}")?;
            }
            value => f.write_str(&value)?,
        }
        self.path
            .iter()
            .rev()
            .try_for_each(|index| write!(f, "@{index}"))
    }
}

/// Whether the text of an integer can have an `@` behind it: it is a number, or has no signs of arithmetic.
fn is_factor(integer: &str) -> bool {
    integer.parse::<i64>().is_ok() || !integer.starts_with('-') && !integer.contains(['*', '/'])
}

impl<I: Integer> Leaf for ScaledBasis<I> {
    fn fmt_leaf(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }

    fn fmt_beside_colon(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.is_empty() {
            true => self.value.fmt_beside_colon(f),
            false => self.fmt_leaf(f),
        }
    }
}
