//! The errors, each with the numbers that explain it.

use cudarc::driver::DriverError;

/// Why memory or a stream of cudarc's was refused, or a call failed.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An error of cute-runtime.
    #[error(transparent)]
    Cute(Box<cute_runtime::Error>),
    /// A driver call of cudarc's failed. The GPU runs asynchronously: the cause may be an earlier launch, of anybody in the context.
    #[error("cudarc: {0}")]
    Cudarc(#[from] DriverError),
    /// The last element of a tensor lies outside of its slice.
    #[error(
        "a tensor of the extents {shape:?} and the strides {strides:?} needs {needed} elements, and the slice has {len}"
    )]
    Bounds {
        /// The extents.
        shape: Vec<usize>,
        /// The strides, in elements.
        strides: Vec<usize>,
        /// Elements from the first to the last, gaps included; the largest number if it is larger.
        needed: u128,
        /// Elements of the slice.
        len: usize,
    },
    /// A slice of another context than the stream of the guest.
    #[error(
        "the slice is of another context than the stream: it is one of device {slice}, and the stream is one of device {stream}; two \
         contexts of one device are also different"
    )]
    OtherContext {
        /// The ordinal of the slice's device.
        slice: usize,
        /// The ordinal of the stream's device.
        stream: usize,
    },
    /// The stream is captured into a graph, and cudarc would use its events.
    #[error(
        "the stream is captured into a graph while cudarc tracks events, which would break the capture: call \
         `CudaContext::disable_event_tracking` before the capture"
    )]
    TrackedCapture,
}

impl From<cute_runtime::Error> for Error {
    fn from(error: cute_runtime::Error) -> Self {
        Error::Cute(Box::new(error))
    }
}
