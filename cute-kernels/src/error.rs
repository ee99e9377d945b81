//! Why a host function refuses its arguments.

use thiserror::Error;

/// An error of a host function. Nothing has been launched.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The shapes of a product do not fit together.
    #[error(
        "gemm wants a: (M, K), b: (N, K), d: (M, N), found a: ({}, {}), b: ({}, {}), d: ({}, {})",
        a[0], a[1], b[0], b[1], d[0], d[1]
    )]
    GemmShapes {
        /// Shape of A.
        a: [usize; 2],
        /// Shape of B.
        b: [usize; 2],
        /// Shape of D.
        d: [usize; 2],
    },
    /// The shapes of a transpose do not fit together.
    #[error(
        "transpose wants source: (M, N), destination: (N, M), found source: ({}, {}), destination: ({}, {})",
        from[0], from[1], to[0], to[1]
    )]
    TransposeShapes {
        /// Shape of the source.
        from: [usize; 2],
        /// Shape of the destination.
        to: [usize; 2],
    },
    /// An extent that the kernels cannot count.
    #[error("an extent of {extent} is over the limit of {limit}")]
    Extent {
        /// The extent.
        extent: usize,
        /// The limit.
        limit: u32,
    },
    /// The device or the launch refused.
    #[error(transparent)]
    Runtime(#[from] cute_runtime::Error),
}
