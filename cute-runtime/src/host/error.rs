//! The errors of host tensors.

/// Why a layout does not fit a slice, or a tiling, a slice coordinate or a copy does not fit a tensor.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// The layout has a value that is negative or not below the length of the slice.
    #[error(
        "{layout} has the value {value} at coordinate {coordinate}, but the slice has {len} elements"
    )]
    OutOfBounds {
        /// The layout.
        layout: String,
        /// The 1-D coordinate that has the value.
        coordinate: i64,
        /// The value, which is not an index of the slice.
        value: i64,
        /// Elements of the slice.
        len: usize,
    },
    /// A swizzled layout of more than 2²⁰ coordinates, too many to check each value, whose bounds do not lie within the
    /// slice. Its values may fit all the same.
    #[error(
        "the values of {layout} are only known to lie between {floor} and {ceiling}, but the slice has {len} elements"
    )]
    NotShown {
        /// The layout.
        layout: String,
        /// No value is below this.
        floor: i64,
        /// No value is above this.
        ceiling: i64,
        /// Elements of the slice.
        len: usize,
    },
    /// A tiling of another layout than the tensor's.
    #[error("the tiling divides {tiled}, but the tensor's layout is {tensor}")]
    OtherLayout {
        /// The layout that the tiling divides.
        tiled: String,
        /// The layout of the tensor.
        tensor: String,
    },
    /// A copy between tensors of different sizes.
    #[error(
        "cannot copy {from} to {to}: the source has {from_size} coordinates, the destination {size}"
    )]
    OtherSize {
        /// Layout of the destination.
        to: String,
        /// Size of the destination.
        size: i64,
        /// Layout of the source.
        from: String,
        /// Size of the source.
        from_size: i64,
    },
    /// A slice at a coordinate that the layout does not have.
    #[error(
        "coordinate {coordinate} along mode {mode} of {layout} must be at least 0 and below {extent}"
    )]
    NoCoordinate {
        /// The layout.
        layout: String,
        /// The mode, counted from 0 among those that coordinates have a number for.
        mode: usize,
        /// The coordinate along the mode.
        coordinate: i64,
        /// Number of coordinates of the mode.
        extent: i64,
    },
    /// A slice at a coordinate whose rank is not the layout's.
    #[error(transparent)]
    Slice(#[from] cute_algebra::LayoutError),
}
