//! CuTe layouts and their algebra, exact and checked.
//!
//! A [`Layout`] is a function from coordinates to indices. Every operation either gives the function that it
//! promises or a [`LayoutError`] that says why there is none.

mod composed;
mod error;
mod layout;
mod stride;
mod swizzle;
mod tiler;
mod tuple;
mod value;

pub use composed::ComposedLayout;
pub use error::{ErrorKind, Frame, LayoutError, ModePath, Place, Side};
pub use layout::Layout;
pub use stride::{ScaledBasis, Stride};
pub use swizzle::Swizzle;
pub use tiler::Tiler;
pub use tuple::{Coord, IntTuple, MAX_DEPTH, MAX_LEAVES, Shape, Tuple};
pub use value::Value;
