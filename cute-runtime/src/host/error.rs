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
        /// The mode, counted from 0 among the modes with a number in coordinates.
        mode: usize,
        /// The coordinate along the mode.
        coordinate: i64,
        /// Number of coordinates of the mode.
        extent: i64,
    },
    /// Axes of a layout that has another number of modes.
    #[error("{layout} has {modes} modes, not {axes}")]
    OtherRank {
        /// The layout.
        layout: String,
        /// The number of top-level modes, without the modes that a slice has fixed.
        modes: usize,
        /// Number of axes.
        axes: usize,
    },
    /// Axes of a layout with a mode that takes more than one stride.
    #[error("mode {mode} of {layout} is no axis, since its elements are not one stride apart")]
    NoAxis {
        /// The layout.
        layout: String,
        /// The mode, counted from 0 among the modes with a number in coordinates.
        mode: usize,
    },
    /// Axes of a swizzled layout.
    #[error("{layout} has no axes, since a swizzle moves its elements")]
    Swizzled {
        /// The layout.
        layout: String,
    },
    /// Axes of a ragged tile.
    #[error(
        "{layout} has no axes, since it is a tile of a ragged tiling, which may end past the edge"
    )]
    Ragged {
        /// The layout.
        layout: String,
    },
    /// A view to write of a layout in which two coordinates share an element.
    #[error(
        "coordinates {first} and {second} of {layout} share element {value}, so that no view can write them"
    )]
    Shared {
        /// The layout.
        layout: String,
        /// A 1-D coordinate.
        first: i64,
        /// Another 1-D coordinate.
        second: i64,
        /// The value that both have.
        value: i64,
    },
    /// A view that ndarray refuses.
    #[error("ndarray has no view of {layout}: {reason}")]
    NoView {
        /// The layout.
        layout: String,
        /// Why, in the words of ndarray.
        reason: String,
    },
    /// A view of an array whose elements have other memory between them, which may belong to somebody else.
    #[error("an array of shape {shape:?} and strides {strides:?} has gaps, so that it is no slice")]
    Gaps {
        /// Extents of the axes.
        shape: Vec<i64>,
        /// Their strides, in elements.
        strides: Vec<i64>,
    },
    /// A layout that the algebra refuses, such as a slice at a coordinate whose rank is not the layout's.
    #[error(transparent)]
    Layout(#[from] cute_algebra::LayoutError),
}
