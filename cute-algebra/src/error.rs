//! Errors of operations on layouts: kind, operand and operation.

mod kind;

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::fmt;

pub use kind::{ErrorKind, NoInverse, Witness};

/// The error of an operation: its kind ([`ErrorKind`]), its place ([`Place`]), and the operations in progress with
/// their operands.
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

/// One level of the trace: an operation in progress, with its operands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Name of the operation, as in the notation.
    pub operation: &'static str,
    /// The operands, in the notation.
    pub operands: Vec<String>,
}

/// The part of an operand that an error is about. The operand belongs to the outermost operation in the trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Index of the operand, counted from 0.
    pub operand: usize,
    /// The mode inside the operand; empty for the whole operand.
    pub path: ModePath,
    /// Whether the error is about the shape of that mode, its stride, or both.
    pub side: Side,
}

/// The half of a layout that an error is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Side {
    /// Both shape and stride, or an operand that is not a layout.
    #[default]
    Both,
    /// The shape.
    Shape,
    /// The stride.
    Stride,
}

/// The path to a mode: the index of the top-level mode, then the index inside it, and so on. Counted from 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModePath(pub Vec<usize>);

impl Place {
    /// All of operand `operand`, counted from 0.
    pub fn operand(operand: usize) -> Self {
        Self {
            operand,
            ..Self::default()
        }
    }

    /// The mode at `path` inside the same operand.
    pub fn mode(mut self, path: impl Into<Vec<usize>>) -> Self {
        self.path = ModePath(path.into());
        self
    }

    /// The same path, inside mode `index`.
    pub(crate) fn in_mode(mut self, index: usize) -> Self {
        self.path.0.insert(0, index);
        self
    }

    /// Only the shape of the same part.
    pub fn shape(mut self) -> Self {
        self.side = Side::Shape;
        self
    }

    /// Only the stride of the same part.
    pub fn stride(mut self) -> Self {
        self.side = Side::Stride;
        self
    }
}

impl ModePath {
    /// The path of mode `index` inside the mode at this path.
    pub fn child(&self, index: usize) -> Self {
        Self([&self.0[..], &[index]].concat())
    }
}

impl LayoutError {
    /// The kind of the error.
    pub fn kind(&self) -> &ErrorKind {
        &self.detail.kind
    }

    /// The part of an operand that the error is about.
    pub fn place(&self) -> &Place {
        &self.detail.place
    }

    /// The operations in progress, the innermost first. Empty for constructors.
    pub fn trace(&self) -> &[Frame] {
        &self.detail.trace
    }

    /// The mode of an operand that the error is about, such as `mode 1 of (2,2):(1,3)`; `None` for a whole operand.
    pub(crate) fn part(&self) -> Option<String> {
        let place = self.place();
        let operand = self.trace().last()?.operands.get(place.operand)?;
        (!place.path.0.is_empty()).then(|| format!("{} of {operand}", place.path))
    }

    /// Adds an outer operation to the trace. The place stays as it is.
    pub(crate) fn during(
        mut self,
        operation: &'static str,
        operands: impl IntoIterator<Item = String>,
    ) -> Self {
        self.detail.trace.push(Frame {
            operation,
            operands: operands.into_iter().collect(),
        });
        self
    }

    /// Replaces the place in the failed operation by a place in its caller.
    pub(crate) fn relocate(mut self, place: impl FnOnce(Place) -> Place) -> Self {
        self.detail.place = place(self.detail.place);
        self
    }

    /// Replaces the place for a caller that passed the part at `path` of its operand `operand`.
    pub(crate) fn inside(self, operand: usize, path: &[usize]) -> Self {
        self.relocate(|place| Place {
            operand,
            path: ModePath([path, &place.path.0].concat()),
            side: place.side,
        })
    }

    /// Replaces the place for a caller that passed mode `index` of its operands.
    pub(crate) fn in_mode(self, index: usize) -> Self {
        self.relocate(|place| place.in_mode(index))
    }

    /// Adds a counterexample; only for kinds with a witness.
    pub(crate) fn with_witness(mut self, found: Witness) -> Self {
        if let ErrorKind::Drift { witness, .. }
        | ErrorKind::Split { witness, .. }
        | ErrorKind::Carry { witness, .. } = &mut self.detail.kind
        {
            *witness = Some(found);
        }
        self
    }

    /// Sets the reason for a missing left inverse; only for [`ErrorKind::Overlap`].
    pub(crate) fn with_inverse(mut self, found: NoInverse) -> Self {
        if let ErrorKind::Overlap { inverse, .. } = &mut self.detail.kind {
            *inverse = found;
        }
        self
    }

    /// Sets the nearest accepted modes; only for kinds with a list of modes.
    pub(crate) fn with_nearest(mut self, found: Vec<(i64, i64)>) -> Self {
        if let ErrorKind::Drift { nearest, .. }
        | ErrorKind::Split { nearest, .. }
        | ErrorKind::Carry { nearest, .. }
        | ErrorKind::Overhang { nearest, .. } = &mut self.detail.kind
        {
            *nearest = found;
        }
        self
    }

    /// Replaces the place by operand `operand` of a caller who computed the failing operand from it.
    pub(crate) fn blame(self, operand: usize) -> Self {
        self.relocate(|_| Place::operand(operand))
    }
}

impl ErrorKind {
    /// The error at this place, with an empty trace.
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

/// Adds the operation to the error of a result.
pub(crate) trait During: Sized {
    /// Adds the operation and its operands to the trace, if this is an error.
    fn during<const N: usize>(
        self,
        operation: &'static str,
        operands: [&dyn fmt::Display; N],
    ) -> Self;
}

impl<T> During for Result<T, LayoutError> {
    fn during<const N: usize>(
        self,
        operation: &'static str,
        operands: [&dyn fmt::Display; N],
    ) -> Self {
        self.map_err(|error| error.during(operation, operands.map(ToString::to_string)))
    }
}

impl core::error::Error for LayoutError {}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut part = self.part();
        for frame in self.detail.trace.iter().rev() {
            write!(f, "{}(", frame.operation)?;
            for (i, operand) in frame.operands.iter().enumerate() {
                write!(f, "{}{operand}", if i > 0 { ", " } else { "" })?;
            }
            f.write_str("): ")?;
            if let Some(part) = part.take() {
                write!(f, "{part}: ")?;
            }
        }
        self.detail.kind.fmt(f)
    }
}

impl ModePath {
    /// The indices in the form of a coordinate: `1`, `(1,0)`.
    fn indices(&self) -> String {
        let list: Vec<_> = self.0.iter().map(usize::to_string).collect();
        if list.len() == 1 {
            list.concat()
        } else {
            format!("({})", list.join(","))
        }
    }
}

impl fmt::Display for ModePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            f.write_str("the whole")
        } else {
            write!(f, "mode {}", self.indices())
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::notation::eval_str;

    /// The message of each expression, and the text at its position.
    #[test]
    fn messages_have_the_numbers_and_the_place() {
        for (text, at, message) in [
            (
                "composition((5,3):(1,10), 6:2)",
                "2",
                "the steps of `6:2` carry over the boundary 5 (2*2 + 1*1 = 5 >= 5): A(B(5)) is 20, where a layout would give 15; nearest: `3:2`",
            ),
            (
                "composition((4,6):(1,10), 6:1)",
                "6",
                "the boundary 4 splits `6:1` after 4, and 6 is not a multiple of 4: A(B(4)) is 10, where a layout would give 4; nearest: `4:1`, `8:1`, `6:2`",
            ),
            (
                "composition((4,4):(1,10), (2,2):(3,1))",
                "2",
                "modes 0, 1 together reach 3 + 1 = 4 and carry over the boundary 4: A(B(3)) is 10, where a layout would give 4; nearest: `2:4`",
            ),
            (
                "composition((2,5):(5,1), 12:1)",
                "12:1",
                "this reaches coordinate 11, but the size is 10; nearest: `10:1`; `ragged` allows the overhang",
            ),
            (
                "composition((4,8):(8,1), 2:-1)",
                "-1",
                "the stride -1 must not be negative here",
            ),
            (
                "composition(8:3, 2:-1)",
                "2:-1",
                "this reaches coordinate -1, which is below 0; `ragged` allows the overhang",
            ),
            (
                "crd2idx((4,5), (4,8):(8,1))",
                "4",
                "coordinate 4 is out of range: it must be at least 0 and below 4",
            ),
            (
                "ragged crd2idx(-1, (4,8):(8,1))",
                "-1",
                "-1 is below 0: the 1-D coordinate of several modes must be at least 0",
            ),
            (
                "left_inverse((3,4):(3,5))",
                "5",
                "there is no left inverse: stride 5 does not fit after the mode `3:3`: it must be a multiple of 3 and at least 9; the nearest is 9",
            ),
            (
                "composition((4,4):(1@0,1@1), 4:5)",
                "5",
                "a step of 5 moves by (1,1) in the coordinate space; it must move along one coordinate only",
            ),
            (
                "composition((4,4):(1,4), 2:1@2)",
                "1@2",
                "stride 1@2 runs along a coordinate that the shape (4,4) does not have",
            ),
            (
                "complement((2,2):(1,3), 12)",
                "3",
                "stride 3 is not a multiple of 2 (= 1 * 2, of the mode `2:1`); the nearest are 2 and 4",
            ),
            (
                "complement(24:1, 100)",
                "100",
                "blocks of 24 do not fill 100: use blocks of 20 or 25, an extent of 96 or 120, or `ragged`",
            ),
            (
                "logical_divide((8,(2,6)):(1,(8,16)), <4,(2,4)>)",
                "4",
                "blocks of 4 do not fill 6: use blocks of 3 or 6, an extent of 4 or 8, or `ragged`",
            ),
            (
                "logical_divide((7,64):(192,1), 2:1)",
                "2:1",
                "the steps of `224:2` carry over the boundary 7 (3*2 + 6*1 = 12 >= 7): A(B(14)) is 2, where a layout would give 1345",
            ),
            (
                "zipped_divide((4,8):(1,4), <2,2,2>)",
                "<2,2,2>",
                "the tiler has 3 modes, but the shape (4,8) has rank 2; a shape or `<...>` tiles mode by mode, a layout tiles the whole",
            ),
            (
                "zipped_divide((4,8):(1,4), <2,_>)",
                "_",
                "`_` leaves its mode undivided, so there is no tile and no rest to group; use `logical_divide` or `logical_product`, or give an extent",
            ),
            (
                "logical_product((2,2):(2,3), 2:1)",
                "3",
                "stride 3 is less than 4 (= 2 * 2, of the mode `2:2`)",
            ),
            (
                "logical_product((12,2):(59,5), (2,3):(3,1))",
                "3",
                "modes 0, 1 together reach 3 + 2 = 5 and carry over the boundary 5: A(B(5)) is 10, where a layout would give 5; nearest: `2:1`, `3:5`",
            ),
            (
                "tile_to_shape((8,64):(64,1), (128,100))",
                "100",
                "blocks of 64 do not fill 100: use blocks of 50 or 100, an extent of 64 or 128, or `ragged`",
            ),
            (
                "left_inverse((5,3):(3,6))",
                "6",
                "stride 6 does not fit after the mode `5:3`: it must be a multiple of 3 and at least 15; the nearest is 15",
            ),
            (
                "upcast((2,8):(1,4), 4)",
                "(2,8):(1,4)",
                "the modes `2:1` inside a group of 4 do not fill it; `ragged` leaves holes",
            ),
            (
                "upcast(8:5, 8)",
                "5",
                "stride 5 is not a multiple of 8 and does not divide it; nearest: 4, 8",
            ),
            (
                "downcast(4:2, 2)",
                "2",
                "elements can be split in 2 only if exactly one mode has stride 1",
            ),
            (
                "recast(8:1, 12, 8)",
                "8",
                "one element size must be a multiple of the other, but these are 12 and 8 bits",
            ),
            (
                "slice((4,8):(1,4), (_,_,0))",
                "(_,_,0)",
                "(_,_,0) does not fit the shape (4,8)",
            ),
            (
                "crd2idx((1,(2,3)), (4,8):(1,4))",
                "(2,3)",
                "(2,3) does not fit the shape 8",
            ),
            (
                "get((4,8):(1,4), 2)",
                "2",
                "there is no mode 2: the rank is 2",
            ),
            (
                "from_table(0, 1, 3, 2)",
                "2",
                "no layout has these values: the value at 3 is 2, but the values before it require 4",
            ),
            (
                "Sw<3,0,2> o 0 o 8:1",
                "Sw<3,0,2>",
                "the fields of Sw<3,0,2> overlap: the distance |2| must be at least 3 bits",
            ),
            (
                "left_inverse(Sw<2,0,3> o 0 o (2,4):(1,8))",
                "Sw<2,0,3> o 0 o (2,4):(1,8)",
                "the left inverse of a layout whose swizzle leaves its values cannot be written as one swizzle after a layout",
            ),
            (
                "ragged size(8:1)",
                "8:1",
                "this operation rounds nothing, so it has no `ragged` form",
            ),
            (
                "size(8:1, 8:1)",
                "8:1",
                "`size(layout)` takes 1 operand, not 2",
            ),
            (
                "smem_atom(K, SW128, 12)",
                "12",
                "elements have 4, 8, 16, 32 or 64 bits, not 12",
            ),
        ] {
            let error = eval_str(text).expect_err(text);
            assert_eq!(
                (&text[error.at.clone()], &*error.message),
                (at, message),
                "{text}"
            );
        }
    }
}
