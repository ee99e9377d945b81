//! Why there is no picture.

use super::ColorBy;
use crate::error::LayoutError;
use std::fmt;

/// Why something has no picture.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PictureError {
    /// It is not a layout, a swizzle or a shape.
    Kind {
        /// What it is.
        found: &'static str,
    },
    /// More cells than [`PICTURE_LIMIT`](super::PICTURE_LIMIT).
    Cells {
        /// How many; `None` if the number does not fit 64 bits.
        cells: Option<i64>,
        /// How many there may be.
        limit: i64,
    },
    /// More pairs of thread and value than [`HOLDER_LIMIT`](super::HOLDER_LIMIT).
    Holders {
        /// How many.
        pairs: i64,
        /// How many there may be.
        limit: i64,
    },
    /// A layout that should map (thread, value) has another rank.
    Rank {
        /// The rank.
        found: usize,
    },
    /// A thread holds something that is not in the tile.
    Outside {
        /// The thread.
        thread: i64,
        /// Which of its values.
        value: i64,
        /// The element that the layout gives.
        element: i64,
        /// Number of elements of the tile.
        cells: i64,
    },
    /// The picture has nothing of this kind.
    Color {
        /// What the colours should tell.
        by: ColorBy,
        /// What the picture is of.
        picture: &'static str,
        /// What the colours of such a picture can tell.
        legal: String,
    },
    /// An operation on the layouts has failed.
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

impl std::error::Error for PictureError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Layout(error) => Some(error),
            _ => None,
        }
    }
}
