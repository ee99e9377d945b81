//! Slices of the host with a layout, and their tiles, which several threads can write at the same time.
//!
//! CuTe's tensor is a pointer and a layout. A [`HostTensor`] is a slice and a layout; the memory of a
//! [`Tensor`](crate::Tensor) is a device's. Two mutable tiles of a tensor never share an element, although their elements lie
//! scattered through one slice. That is proved at compile time from the layout and the tiler; nothing is checked at run time.

mod bounds;
mod coordinate;
#[cfg(feature = "dlpack")]
pub mod dlpack;
mod error;
mod layout;
#[cfg(feature = "ndarray")]
mod ndarray;
mod slice;
mod strided;
mod table;
mod tensor;
mod tile_mut;
mod tile_of;
mod walk;

pub use coordinate::HostCoordinate;
pub use error::HostError;
pub use layout::{HostLayout, Static};
pub use slice::SliceOf;
pub use strided::Strided;
pub use tensor::{HostTensor, HostTensorMut, HostTile};
pub use tile_mut::HostTileMut;
pub use tile_of::TileOf;
