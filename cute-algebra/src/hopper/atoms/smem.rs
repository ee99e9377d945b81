//! Swizzled tiles of shared memory for wgmma and TMA.

use crate::composed::ComposedLayout;
use crate::domain::Numbers;
use crate::error::{ErrorKind, LayoutError, Place};
use crate::hopper::wgmma::Major;
use crate::layout::Layout;
use crate::overhang::Overhang;
use crate::swizzle::Swizzle;
use crate::tile_to_shape::tile;
use crate::tuple::{IntTuple, Shape};
use cute_chip::{SwizzleMode, wgmma};

/// The smallest shared-memory tile that wgmma and TMA swizzle as a unit: 8 rows, each as long as the span of the
/// swizzle, along the contiguous dimension. Its modes are (MN, K), its values are element indices.
/// ```
/// use cute_algebra::{Major, SwizzleMode, smem_atom};
/// let atom = smem_atom(Major::K, SwizzleMode::B128, 16)?;
/// assert_eq!(atom.to_string(), "Sw<3,3,3> o 0 o (8,64):(64,1)");
/// # Ok::<(), cute_algebra::LayoutError>(())
/// ```
pub fn smem_atom(
    major: Major,
    swizzle: SwizzleMode,
    element_bits: i64,
) -> Result<ComposedLayout, LayoutError> {
    if !matches!(element_bits, 4 | 8 | 16 | 32 | 64) {
        return Err(ErrorKind::ElementBits { bits: element_bits }.at(Place::operand(2)));
    }
    let span = 8 * swizzle.span() / element_bits;
    let rows = i64::from(wgmma::CORE_ROWS);
    let (shape, stride) = match major {
        Major::K => ([rows, span], [span, 1]),
        Major::MN => ([span, rows], [1, span]),
    };
    // The swizzle moves 16-byte chunks and leaves their inside as it is.
    let chunk_bits = (8 * i64::from(wgmma::CORE_BYTES) / element_bits).trailing_zeros();
    let swizzle = Swizzle::new(swizzle.bits(), chunk_bits, 3)?;
    ComposedLayout::new(swizzle, 0, Layout::new(shape, stride)?)
}

/// [`smem_atom`] repeated over a shape `(MN, K, …)`. `order` is the order in which the modes are filled; the default
/// is left to right.
///
/// The extents of the shape must be multiples of the extents of the atom.
/// ```
/// use cute_algebra::{Major, Shape, SwizzleMode, smem_tile_to_shape};
/// let tile = smem_tile_to_shape(Major::K, SwizzleMode::B128, 16, &Shape::from([128, 64]), None)?;
/// assert_eq!(tile.to_string(), "Sw<3,3,3> o 0 o ((8,16),(64,1)):((64,512),(1,0))");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn smem_tile_to_shape(
    major: Major,
    swizzle: SwizzleMode,
    element_bits: i64,
    shape: &Shape,
    order: Option<&IntTuple>,
) -> Result<ComposedLayout, LayoutError> {
    let atom = smem_atom(major, swizzle, element_bits)?;
    atom.map(|layout| tile(&mut Numbers, layout, shape, order, Overhang::Strict))
}
