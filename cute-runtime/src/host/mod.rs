//! Slices of the host under a layout, and their tiles, also in parallel.
//!
//! CuTe's tensor is a pointer and a layout. A [`HostTensor`] is a slice and a layout; the name sets it apart from
//! [`Tensor`](crate::Tensor), whose memory is a device's. Tiles that are written hold their elements alone, although
//! they lie scattered in one slice, and nothing is checked for that at run time: it is proved of the layout at
//! expansion.

mod bounds;
mod coordinate;
mod error;
mod layout;
mod slice;
mod table;
mod tensor;
mod tile_mut;
mod tile_of;
mod walk;

pub use coordinate::HostCoordinate;
pub use error::HostError;
pub use layout::{HostLayout, Static};
pub use slice::SliceOf;
pub use tensor::{HostTensor, HostTensorMut, HostTile};
pub use tile_mut::HostTileMut;
pub use tile_of::TileOf;
