//! Errors of pictures.

use super::ColorBy;
use crate::error::LayoutError;
use crate::tuple::{IntTuple, Shape};
use alloc::string::String;
use core::fmt;

/// Why something has no picture.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PictureError {
    /// A value that is not a layout, a swizzle or a shape.
    Kind {
        /// The kind of value, with its article.
        found: &'static str,
    },
    /// A grid with more cells than [`PICTURE_LIMIT`](super::PICTURE_LIMIT).
    Cells {
        /// How many cells; `None` if the number does not fit 64 bits.
        cells: Option<i64>,
        /// The largest number allowed.
        limit: i64,
    },
    /// More (thread, value) pairs than [`HOLDER_LIMIT`](super::HOLDER_LIMIT).
    Holders {
        /// How many pairs.
        pairs: i64,
        /// The largest number allowed.
        limit: i64,
    },
    /// A layout that should map (thread, value) to elements, but does not have rank 2.
    Rank {
        /// The rank of the layout.
        found: usize,
    },
    /// A thread holds an element outside the tile.
    Outside {
        /// The index of the thread.
        thread: i64,
        /// The index of its value.
        value: i64,
        /// The 1-D coordinate in the tile that the layout gives.
        element: i64,
        /// How many elements the tile has.
        cells: i64,
    },
    /// A thread holds an element at a coordinate outside the tile.
    OutsideTile {
        /// The index of the thread.
        thread: i64,
        /// The index of its value.
        value: i64,
        /// The coordinate that the layout gives.
        coord: String,
        /// The shape of the tile.
        shape: String,
    },
    /// A thread holds an element at a coordinate that does not nest as the tile does.
    Nesting {
        /// The coordinate that the layout gives.
        coord: IntTuple,
        /// The shape of the tile.
        shape: Shape,
    },
    /// A slice of a picture of several grids.
    Grids {
        /// How many grids it has.
        grids: usize,
    },
    /// A slice at a coordinate outside of the layout.
    OutsideShape {
        /// The coordinate.
        coord: String,
        /// The shape of the layout.
        shape: String,
    },
    /// Colours not available in the picture, such as colours by thread in a picture without threads.
    Color {
        /// The requested colours.
        by: ColorBy,
        /// The subject of the picture.
        picture: &'static str,
        /// The colours available for such a picture, separated by commas.
        legal: String,
    },
    /// The error of an operation on the layouts.
    Layout(LayoutError),
}

impl From<LayoutError> for PictureError {
    fn from(error: LayoutError) -> Self {
        Self::Layout(error)
    }
}

impl fmt::Display for PictureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kind { found } => {
                write!(
                    f,
                    "no picture of {found}: expected a layout, a shape or a swizzle"
                )
            }
            Self::Cells { cells, limit } => {
                match cells {
                    Some(cells) => write!(f, "a picture of {cells} cells")?,
                    None => f.write_str("a picture of more cells than fit 64 bits")?,
                }
                write!(f, ": the limit is {limit}; draw a tile of it")
            }
            Self::Holders { pairs, limit } => write!(
                f,
                "a picture of {pairs} pairs of thread and value: the limit is {limit}"
            ),
            Self::Rank { found } => write!(
                f,
                "a layout of rank {found}: expected one of rank 2, from (thread, value) to the elements of a tile"
            ),
            Self::Outside {
                thread,
                value,
                element,
                cells,
            } => write!(
                f,
                "value {value} of thread {thread} is element {element}, outside of the tile of {cells} elements"
            ),
            Self::OutsideTile {
                thread,
                value,
                coord,
                shape,
            } => write!(
                f,
                "value {value} of thread {thread} is at {coord}, outside of the tile of shape {shape}"
            ),
            Self::Nesting { coord, shape } => {
                f.write_str("the layout gives coordinates ")?;
                match (coord.rank(), shape.rank()) {
                    (given, wanted) if given == wanted => {
                        write!(
                            f,
                            "such as {coord}, which do not nest as the data of shape {shape}"
                        )
                    }
                    (given, wanted) => {
                        match given {
                            1 => f.write_str("with mode 0 only")?,
                            _ => write!(f, "with {given} modes")?,
                        }
                        let s = if wanted == 1 { "" } else { "s" };
                        write!(
                            f,
                            ", such as {coord}, while the data of shape {shape} has {wanted} mode{s}"
                        )
                    }
                }
            }
            Self::Grids { grids } => write!(
                f,
                "a picture of {grids} grids has no slice: draw the layout of one operand"
            ),
            Self::OutsideShape { coord, shape } => {
                write!(f, "the slice {coord} is outside of the shape {shape}")
            }
            Self::Color { by, picture, legal } => {
                write!(
                    f,
                    "a picture of {picture} cannot be coloured by {by}, only by {legal}"
                )
            }
            Self::Layout(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for PictureError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Layout(error) => Some(error),
            _ => None,
        }
    }
}
