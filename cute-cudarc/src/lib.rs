//! Kernels of `cute-runtime` in a program that uses [cudarc]: on its streams and in its memory, without a copy.
//!
//! A [`Guest`] is made of a stream of cudarc's. It has a [`Device`](cute_runtime::Device) whose launches are on that stream, and makes
//! tensors of slices and slices of tensors:
//!
//! | from | to | by |
//! |---|---|---|
//! | `Arc<CudaContext>` | `Device` | [`device`] |
//! | `Arc<CudaStream>` | a `Device` on that stream | [`Guest::new`], [`Guest::device`] |
//! | `CudaView` | a tensor to read | [`Guest::read`] |
//! | `CudaViewMut` | a tensor to write | [`Guest::write`] |
//! | `CudaSlice`, `Arc<CudaSlice>` | a tensor that keeps it | [`Guest::keep`], [`Guest::share`] |
//! | `Buffer` | `CudaView` | [`Guest::lend`] |
//! | `Tensor` | `CudaViewMut` | [`Guest::lend_mut`] |
//!
//! ```no_run
//! use std::sync::Arc;
//! use cute_cudarc::{Error, Guest, cudarc::driver::{CudaSlice, CudaStream}};
//! use cute_runtime::kernels;
//!
//! #[kernels]
//! mod vectors {
//!     /// y = a · x + y.
//!     #[kernel(threads = 256)]
//!     pub fn axpy(x: Global<f32, 1>, #[facts(extent(y, 0) == extent(x, 0))] y: Global<f32, 1>, a: f32) {
//!         let i = block_idx().0 * 256 + thread();
//!         if i < extent(x, 0) {
//!             y[i] = a * x[i] + y[i];
//!         }
//!     }
//! }
//!
//! fn add_twice(stream: &Arc<CudaStream>, x: &CudaSlice<f32>, y: &mut CudaSlice<f32>) -> Result<(), Error> {
//!     // SAFETY: nobody captures the stream, and what `read` and `write` return is dropped here.
//!     let guest = unsafe { Guest::new(stream)? };
//!     let n = x.len();
//!     let x = guest.read(x.as_view(), [n], [1])?;
//!     let mut y = guest.write(y.as_view_mut(), [n], [1])?;
//!     vectors::axpy::launch(guest.device(), n.div_ceil(256) as u32, &x.view(), &mut y.view_mut(), 2.0)?;
//!     Ok(())
//! }
//! ```
//! # Order
//!
//! cudarc has two events for each slice, and waits for them where a slice is used on another stream of its context. [`Guest::read`] and
//! [`Guest::write`] take part in that: the stream of the guest first waits for these events, and they are recorded when the tensor is
//! dropped, behind all launches that used it, on whatever stream. [`Guest::lend`] and [`Guest::lend_mut`] do the same in the other
//! direction. The host waits for nothing.
//!
//! cudarc does so only while its context has a stream of its own (`CudaContext::new_stream`) and event tracking is on. Without, the
//! program orders its streams by itself, as `CudaContext::disable_event_tracking` says.
//!
//! # Capture
//!
//! Between `CudaStream::begin_capture` and `end_capture`, launches of a guest of that stream become part of the graph. Kernels have to be
//! compiled before, by [`Device::compile`](cute_runtime::Device::compile) or [`Device::prepare`](cute_runtime::Device::prepare). cudarc's
//! events cannot be used then: [`Error::TrackedCapture`] says so unless event tracking is off.

#[cfg(not(feature = "cudarc-0-19"))]
compile_error!("cute-cudarc needs a feature that names the version of cudarc: `cudarc-0-19`");

#[cfg(feature = "cudarc-0-19")]
mod error;
#[cfg(feature = "cudarc-0-19")]
mod guest;
#[cfg(feature = "cudarc-0-19")]
mod holds;
#[cfg(feature = "cudarc-0-19")]
mod kept;
#[cfg(feature = "cudarc-0-19")]
mod lent;

#[cfg(feature = "cudarc-0-19")]
pub use {
    cudarc,
    error::Error,
    guest::{Guest, Read, Write, device},
    holds::Holds,
    lent::{Lent, LentMut},
};
