//! Layouts that the hardware fixes: shared-memory atoms and accumulator fragments of sm_90.

use crate::analysis::gmma::{Major, SwizzleMode};
use crate::composed::ComposedLayout;
use crate::composition::Overhang;
use crate::error::{ErrorKind, LayoutError, Place};
use crate::layout::Layout;
use crate::swizzle::Swizzle;
use crate::tile::tile;
use crate::tuple::{IntTuple, Shape, Tuple};

/// The smallest shared-memory tile that wgmma and TMA swizzle as one: 8 rows of the swizzle's span along the
/// contiguous dimension. Its modes are (MN, K), its values are element indices.
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
    let (shape, stride) = match major {
        Major::K => ([8, span], [span, 1]),
        Major::MN => ([span, 8], [1, span]),
    };
    // 16-byte chunks stay whole.
    let chunk_bits = (128 / element_bits).trailing_zeros();
    let swizzle = Swizzle::new(swizzle.bits(), chunk_bits, 3)?;
    ComposedLayout::new(swizzle, 0, Layout::new(shape, stride)?)
}

/// The atom repeated over a shape `(MN, K, …)`, in the order of modes given (left to right without one).
pub fn smem_tile_to_shape(
    major: Major,
    swizzle: SwizzleMode,
    element_bits: i64,
    shape: &Shape,
    order: Option<&IntTuple>,
) -> Result<ComposedLayout, LayoutError> {
    let atom = smem_atom(major, swizzle, element_bits)?;
    atom.try_map(|layout| tile(layout, shape, order, Overhang::Strict))
}

/// Where the threads of a warpgroup hold the f32 accumulators of `wgmma.m64nNk*`: (thread, value) to the element of
/// the 64 × N tile, M fastest. (PTX ISA 9.0, "Register fragment layout for accumulator D".)
/// ```
/// use cute_algebra::wgmma_accumulator;
/// assert_eq!(wgmma_accumulator(256)?.to_string(), "((4,8,4),(2,2,32)):((128,1,16),(64,8,512))");
/// # Ok::<(), cute_algebra::LayoutError>(())
/// ```
pub fn wgmma_accumulator(n: i64) -> Result<Layout, LayoutError> {
    if !(8..=256).contains(&n) || n % 8 != 0 {
        return Err(ErrorKind::WgmmaN { n }.at(Place::operand(0)));
    }
    let node = |leaves: [i64; 3]| Tuple::from(leaves);
    let shape: Shape = [node([4, 8, 4]), node([2, 2, n / 8])].into_iter().collect();
    let stride: IntTuple = [node([128, 1, 16]), node([64, 8, 512])]
        .into_iter()
        .collect();
    Layout::new(shape, &stride)
}
