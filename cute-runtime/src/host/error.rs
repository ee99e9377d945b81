//! What can be wrong with a slice under a layout.

/// Why a slice does not take a layout, or a tensor a tiling.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// A value of the layout is no index of the slice.
    #[error("{layout} has the value {value} at {coordinate}, but the slice has {len} elements")]
    OutOfBounds {
        /// The layout.
        layout: String,
        /// A 1-D coordinate.
        coordinate: i64,
        /// Its value.
        value: i64,
        /// Elements of the slice.
        len: usize,
    },
    /// A swizzled layout with too many values to look at, whose bounds are not those of the slice.
    #[error(
        "{layout} has values from {floor} to {ceiling}, as far as is known, but the slice has {len} elements"
    )]
    NotShown {
        /// The layout.
        layout: String,
        /// No value is below.
        floor: i64,
        /// No value is above.
        ceiling: i64,
        /// Elements of the slice.
        len: usize,
    },
    /// A tiling of another layout than the tensor's.
    #[error("the tiling is one of {tiled}, but the tensor's layout is {tensor}")]
    OtherLayout {
        /// The layout that the tiling divides.
        tiled: String,
        /// The tensor's.
        tensor: String,
    },
    /// A copy between tensors of different sizes.
    #[error("{to} has {size} coordinates, but {from}, which is copied, has {from_size}")]
    OtherSize {
        /// The layout that is written.
        to: String,
        /// Its size.
        size: i64,
        /// The layout that is read.
        from: String,
        /// Its size.
        from_size: i64,
    },
    /// A slice at a coordinate that the layout does not have.
    #[error(
        "{layout} has no coordinate {coordinate} along mode {mode}, where coordinates are below {extent}"
    )]
    NoCoordinate {
        /// The layout.
        layout: String,
        /// The mode.
        mode: usize,
        /// The coordinate along it.
        coordinate: i64,
        /// How many the mode has.
        extent: i64,
    },
    /// A slice at a coordinate of another rank.
    #[error(transparent)]
    Slice(#[from] cute_algebra::LayoutError),
}
