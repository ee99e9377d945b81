//! What can be wrong with an operation on layouts, and where.

use crate::stride::ScaledBasis;
use crate::value::Value;
use std::fmt;

/// A refusal: what is wrong ([`ErrorKind`]), where ([`Place`]), and in which operations on which operands.
///
/// ```
/// use cute_algebra::{ErrorKind, Layout, composition};
/// let a = Layout::new([5, 3], [1, 10])?;
/// let error = composition(&a, &Layout::new(6, 2)?).unwrap_err();
/// assert!(matches!(error.kind(), ErrorKind::Drift { boundary: 5, .. }));
/// assert_eq!(error.place().operand, 1);
/// # Ok::<(), cute_algebra::LayoutError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayoutError {
    detail: Box<Detail>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Detail {
    kind: ErrorKind,
    place: Place,
    trace: Vec<Frame>,
}

/// An operation that was under way, with its operands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Name of the operation, as in the notation.
    pub operation: &'static str,
    /// Its operands.
    pub operands: Vec<Value>,
}

/// Which part of which operand an error is about. It refers to the operands of the outermost operation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Index of the operand.
    pub operand: usize,
    /// The mode inside the operand; empty for the whole of it.
    pub path: ModePath,
    /// Whether it is about the shape or the stride of that mode, or both.
    pub side: Side,
}

/// The half of a layout that an error is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Side {
    /// Shape and stride, or something that has no halves.
    #[default]
    Both,
    /// The shape.
    Shape,
    /// The stride.
    Stride,
}

/// Indices from the top-level mode inwards.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModePath(pub Vec<usize>);

impl Place {
    /// The whole of an operand.
    pub fn operand(operand: usize) -> Self {
        Self {
            operand,
            ..Self::default()
        }
    }

    /// The mode at `path`.
    pub fn mode(mut self, path: impl Into<Vec<usize>>) -> Self {
        self.path = ModePath(path.into());
        self
    }

    /// Its shape only.
    pub fn shape(mut self) -> Self {
        self.side = Side::Shape;
        self
    }

    /// Its stride only.
    pub fn stride(mut self) -> Self {
        self.side = Side::Stride;
        self
    }
}

impl ModePath {
    /// The path of mode `index` of the mode at this path.
    pub fn child(&self, index: usize) -> Self {
        Self([&self.0[..], &[index]].concat())
    }
}

impl LayoutError {
    /// What is wrong.
    pub fn kind(&self) -> &ErrorKind {
        &self.detail.kind
    }

    /// Where.
    pub fn place(&self) -> &Place {
        &self.detail.place
    }

    /// The operations under way, the innermost first.
    pub fn trace(&self) -> &[Frame] {
        &self.detail.trace
    }

    /// Adds the operation that was under way. The place is left as it is.
    pub(crate) fn during(
        mut self,
        operation: &'static str,
        operands: impl IntoIterator<Item = Value>,
    ) -> Self {
        self.detail.trace.push(Frame {
            operation,
            operands: operands.into_iter().collect(),
        });
        self
    }

    /// Restates the place for the caller of the operation that failed.
    pub(crate) fn relocate(mut self, place: impl FnOnce(Place) -> Place) -> Self {
        self.detail.place = place(self.detail.place);
        self
    }

    /// Restates the place for a caller that passed part `path` of its operand `operand`.
    pub(crate) fn inside(self, operand: usize, path: &[usize]) -> Self {
        self.relocate(|place| Place {
            operand,
            path: ModePath([path, &place.path.0].concat()),
            side: place.side,
        })
    }

    /// Restates the place for a caller from whose operand the failing one was computed.
    pub(crate) fn blame(self, operand: usize) -> Self {
        self.relocate(|_| Place::operand(operand))
    }
}

impl ErrorKind {
    /// The error at a place, outside of any operation yet.
    pub fn at(self, place: Place) -> LayoutError {
        LayoutError {
            detail: Box::new(Detail {
                kind: self,
                place,
                trace: Vec::new(),
            }),
        }
    }
}

impl std::error::Error for LayoutError {}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for frame in self.detail.trace.iter().rev() {
            write!(f, "{}(", frame.operation)?;
            for (i, operand) in frame.operands.iter().enumerate() {
                write!(f, "{}{operand}", if i > 0 { ", " } else { "" })?;
            }
            f.write_str("): ")?;
        }
        self.detail.kind.fmt(f)
    }
}

impl fmt::Display for ModePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0[..] {
            [] => f.write_str("the whole"),
            [index] => write!(f, "mode {index}"),
            path => {
                let list: Vec<_> = path.iter().map(usize::to_string).collect();
                write!(f, "mode ({})", list.join(","))
            }
        }
    }
}

/// What is wrong, with the numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A shape and a stride nest differently.
    NotCongruent {
        /// The mode of the shape, as text.
        shape: String,
        /// The mode of the stride at the same place.
        stride: String,
    },
    /// An extent below 1.
    Extent {
        /// The extent.
        extent: i64,
    },
    /// Nesting over [`MAX_DEPTH`](crate::MAX_DEPTH).
    TooDeep {
        /// The nesting.
        depth: usize,
        /// The limit.
        limit: usize,
    },
    /// More leaves than [`MAX_LEAVES`](crate::MAX_LEAVES).
    TooManyLeaves {
        /// The leaves.
        leaves: usize,
        /// The limit.
        limit: usize,
    },
    /// An operation on integers met a stride in a coordinate space.
    NotIntegral {
        /// One such stride.
        stride: ScaledBasis,
    },
    /// Strides that cannot be added, such as `1@0` and `1@1@0`, or `1` and `1@0`.
    MixedStrides {
        /// Runs along a coordinate …
        first: ScaledBasis,
        /// … that this one takes apart.
        second: ScaledBasis,
    },
    /// Fields of a swizzle that overlap or leave 63 bits.
    Swizzle {
        /// B.
        bits: u32,
        /// M.
        base: u32,
        /// S.
        shift: i32,
    },
    /// A tuple that does not fit the shape at its place.
    Profile {
        /// The shape.
        expected: String,
        /// What met it.
        found: String,
    },
    /// `_` where a point is wanted.
    Underscore,
    /// A number that does not fit 64 bits.
    Overflow {
        /// The quantity.
        quantity: &'static str,
    },
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotCongruent { shape, stride } => {
                write!(
                    f,
                    "shape and stride are not congruent: {shape} in the shape meets {stride} in the stride"
                )
            }
            Self::Extent { extent } => write!(f, "an extent is at least 1, not {extent}"),
            Self::TooDeep { depth, limit } => {
                write!(f, "nested {depth} deep, the limit is {limit}")
            }
            Self::TooManyLeaves { leaves, limit } => {
                write!(f, "{leaves} leaves, the limit is {limit}")
            }
            Self::NotIntegral { stride } => write!(f, "the strides must be integers, not {stride}"),
            Self::MixedStrides { first, second } => {
                write!(
                    f,
                    "strides {first} and {second} cannot be added: one runs along a part of the other's coordinate"
                )
            }
            Self::Swizzle { bits, base, shift } if shift.unsigned_abs() < *bits => write!(
                f,
                "the fields of Sw<{bits},{base},{shift}> overlap: the distance |{shift}| must be at least {bits} bits"
            ),
            Self::Swizzle { bits, base, shift } => {
                write!(f, "Sw<{bits},{base},{shift}> reaches beyond bit 62")
            }
            Self::Profile { expected, found } => {
                write!(f, "{found} does not fit the shape {expected}")
            }
            Self::Underscore => f.write_str("`_` stands for a whole mode, but a point is wanted"),
            Self::Overflow { quantity } => write!(f, "the {quantity} does not fit 64 bits"),
        }
    }
}
