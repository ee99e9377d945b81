//! What two layouts, or a layout and a number, have in common: vectors, alignment, distribution.

use crate::coalesce::{filter, from_flat, merge};
use crate::composed::ComposedLayout;
use crate::error::{ErrorKind, LayoutError, Place};
use crate::inverse::right_inverse;
use crate::layout::{Layout, checked_shape};
use crate::tuple::Shape;

/// The largest layout of coordinates along which A and B both count up by 1: `A(C(i)) = B(C(i)) = i`. It is `1:0` where
/// they never do.
/// ```
/// use cute_algebra::{Layout, max_common_layout};
/// let a = Layout::new([4, 8, 2], [8, 1, 32])?;
/// let b = Layout::new([4, 8, 2], [8, 1, 64])?;
/// assert_eq!(max_common_layout(&a, &b)?.to_string(), "(8,4):(4,1)");
/// # Ok::<(), cute_algebra::LayoutError>(())
/// ```
pub fn max_common_layout(a: &Layout, b: &Layout) -> Result<Layout, LayoutError> {
    let inverses = [
        right_inverse(a)?,
        right_inverse(b).map_err(|error| error.blame(1))?,
    ];
    let [a, b] = inverses.map(|inverse| inverse.flat_modes());
    let mut common = Vec::new();
    // Coalesced layouts agree as long as their modes do, and on the shorter one of two modes with one stride.
    for ((a, stride), (b, other)) in a.into_iter().zip(b) {
        if stride != other {
            break;
        }
        common.push((a.min(b), stride));
        if a != b {
            break;
        }
    }
    Ok(from_flat(common))
}

/// The size of the largest common layout: how many elements can be copied at once from A to B.
/// ```
/// use cute_algebra::{Layout, max_common_vector};
/// let a: Layout = "(4,8):(8,1)".parse()?;
/// let b: Layout = "(4,8):(16,1)".parse()?;
/// assert_eq!(max_common_vector(&a, &b)?, 8);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn max_common_vector(a: &Layout, b: &Layout) -> Result<i64, LayoutError> {
    Ok(max_common_layout(a, b)?.size())
}

/// The largest common vector that the swizzle leaves in one piece.
/// ```
/// use cute_algebra::{ComposedLayout, Layout, max_common_vector_swizzled};
/// let a: ComposedLayout = "Sw<2,2,3> o (8,32):(32,1)".parse()?;
/// let b: Layout = "(8,32):(32,1)".parse()?;
/// assert_eq!(max_common_vector_swizzled(&a, &b)?, 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn max_common_vector_swizzled(a: &ComposedLayout, b: &Layout) -> Result<i64, LayoutError> {
    let vector = max_common_vector(a.layout(), b)?;
    if a.swizzle().is_identity() {
        return Ok(vector);
    }
    Ok(gcd(gcd(vector, 1 << a.swizzle().base()), a.offset()))
}

/// How many elements from each value on are contiguous and aligned: the gcd of the contiguous part and the strides.
/// ```
/// use cute_algebra::{Layout, max_alignment};
/// let a: Layout = "(4,6):(12,1)".parse()?;
/// assert_eq!(max_alignment(&a)?, 6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn max_alignment(a: &Layout) -> Result<i64, LayoutError> {
    let mut modes = filter(a).integral_modes(0)?;
    modes.sort_by_key(|&(extent, stride)| (stride, extent));
    let (mut block, mut rest) = (1, 0);
    for (extent, stride) in modes {
        if stride == block {
            block *= extent;
        } else {
            rest = gcd(rest, stride);
        }
    }
    Ok(gcd(block, rest))
}

/// The layout that spreads `count` over the leaves of a shape from left to right: each takes the gcd of its extent
/// and what is left.
/// ```
/// use cute_algebra::{Shape, domain_distribute};
/// assert_eq!(domain_distribute(&Shape::from([6, 4]), 8)?.to_string(), "(2,4):(1,6)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn domain_distribute(shape: &Shape, count: i64) -> Result<Layout, LayoutError> {
    let shape = checked_shape(shape.clone())?;
    if count < 1 {
        return Err(ErrorKind::Extent { extent: count }.at(Place::operand(1)));
    }
    let (mut left, mut weight, mut modes) = (count, 1, Vec::new());
    for &extent in shape.leaves() {
        let share = gcd(extent, left);
        if share != 1 {
            modes.push((share, weight.into()));
        }
        left /= share;
        weight *= extent;
    }
    Ok(from_flat(merge(modes)))
}

pub(crate) fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a.abs() } else { gcd(b, a % b) }
}
