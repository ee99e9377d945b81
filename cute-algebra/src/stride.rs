//! Stride leaves: integers and scaled basis elements, and the values they sum to.

use crate::error::{ErrorKind, LayoutError, Place};
use crate::tuple::{IntTuple, MAX_DEPTH, MAX_LEAVES, Tuple, write_tuple};
use std::fmt;

/// A tree of stride leaves, congruent to a shape.
pub type Stride = Tuple<ScaledBasis>;

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
pub struct ScaledBasis {
    value: i64,
    path: Vec<usize>,
}

impl ScaledBasis {
    /// `value` along `path`, outermost index first. An empty path is an integer; zero lies on no path.
    pub fn new(value: i64, path: impl Into<Vec<usize>>) -> Result<Self, LayoutError> {
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

    /// `new` for a path that is known to be within the limits.
    pub(crate) fn along(value: i64, path: impl Into<Vec<usize>>) -> Self {
        let path = if value == 0 { Vec::new() } else { path.into() };
        Self { value, path }
    }

    /// The scale.
    pub fn value(&self) -> i64 {
        self.value
    }

    /// The coordinate it runs along, outermost index first; empty for an integer.
    pub fn path(&self) -> &[usize] {
        &self.path
    }

    /// The integer, where there is no path.
    pub fn as_integer(&self) -> Option<i64> {
        self.path.is_empty().then_some(self.value)
    }

    /// Whether this is zero.
    pub fn is_zero(&self) -> bool {
        self.value == 0
    }

    /// The same basis element, scaled further.
    pub fn checked_mul(&self, factor: i64) -> Option<Self> {
        Some(Self::along(
            self.value.checked_mul(factor)?,
            self.path.as_slice(),
        ))
    }

    /// As a coordinate: `2@1@0` is `((0,2))`.
    pub fn to_int_tuple(&self) -> IntTuple {
        self.place(self.value)
    }

    /// The coordinate with `value` at the place of this basis element; zero keeps its place.
    pub(crate) fn place(&self, value: i64) -> IntTuple {
        self.path
            .iter()
            .rev()
            .fold(Tuple::Leaf(value), |inner, &index| {
                std::iter::repeat_n(Tuple::Leaf(0), index)
                    .chain([inner])
                    .collect()
            })
    }

    /// The basis element equal to a coordinate, if at most one of its leaves is not zero.
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

impl From<i64> for ScaledBasis {
    fn from(value: i64) -> Self {
        Self {
            value,
            path: Vec::new(),
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

/// The sum of two coordinates, component by component; the shorter is padded with zeros.
/// `None` on overflow, and where a non-zero integer meets a tuple.
pub(crate) fn add(a: &IntTuple, b: &IntTuple) -> Option<IntTuple> {
    Some(match (a, b) {
        (Tuple::Leaf(a), Tuple::Leaf(b)) => Tuple::Leaf(a.checked_add(*b)?),
        (Tuple::Leaf(0), tuple) | (tuple, Tuple::Leaf(0)) => tuple.clone(),
        (Tuple::Node(a), Tuple::Node(b)) => {
            let zero = Tuple::Leaf(0);
            (0..a.len().max(b.len()))
                .map(|i| add(a.get(i).unwrap_or(&zero), b.get(i).unwrap_or(&zero)))
                .collect::<Option<_>>()?
        }
        _ => return None,
    })
}

impl fmt::Display for ScaledBasis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.value)?;
        self.path
            .iter()
            .rev()
            .try_for_each(|index| write!(f, "@{index}"))
    }
}

impl fmt::Display for Stride {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_tuple(f, self, &|leaf, f| write!(f, "{leaf}"))
    }
}
