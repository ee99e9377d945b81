//! Inverses, and the coordinates that map to zero.

use crate::coalesce::{coalesce, from_flat, merge};
use crate::composition::nearest_multiples;
use crate::error::{During, ErrorKind, LayoutError, Place};
use crate::layout::Layout;

/// A leaf of a layout with the stride that its coordinate has in the 1-D coordinate of the whole.
struct Mode {
    path: Vec<usize>,
    extent: i64,
    stride: i64,
    weight: i64,
}

/// R with `A(R(i)) = i` for every `i < size(R)`, as large as the contiguous part of A: it ends where a stride, in ascending
/// order, is not the product of the extents before it. There always is one, `1:0` if no stride is 1.
/// ```
/// use cute_algebra::{Layout, right_inverse};
/// let a = Layout::new([4, 8], [8, 1])?;
/// assert_eq!(right_inverse(&a)?.to_string(), "(8,4):(4,1)");
/// # Ok::<(), cute_algebra::LayoutError>(())
/// ```
pub fn right_inverse(a: &Layout) -> Result<Layout, LayoutError> {
    let modes = sorted_modes(a).during("right_inverse", [a])?;
    let mut block = 1i64;
    let mut inverse = Vec::new();
    for mode in modes {
        if mode.stride == block {
            inverse.push((mode.extent, mode.weight.into()));
            // No overflow: the product of contiguous extents is at most the cosize.
            block *= mode.extent;
        }
    }
    Ok(from_flat(merge(inverse)))
}

/// L with `L(A(i)) = i`; where A repeats values through strides 0, `A(L(A(i))) = A(i)`.
///
/// Each stride of A, in ascending order, must be a multiple of the stride before times its extent.
/// ```
/// use cute_algebra::{Layout, left_inverse};
/// let a = Layout::new([4, 3], [3, 24])?;
/// assert_eq!(left_inverse(&a)?.to_string(), "(3,8,3):(0,1,4)");
/// # Ok::<(), cute_algebra::LayoutError>(())
/// ```
pub fn left_inverse(a: &Layout) -> Result<Layout, LayoutError> {
    quasi_inverse(a).during("left_inverse", [a])
}

fn quasi_inverse(a: &Layout) -> Result<Layout, LayoutError> {
    let modes = sorted_modes(a)?;
    if modes.is_empty() {
        // Zero everywhere, and then so is the inverse; CuTe keeps the size.
        return Ok(coalesce(a));
    }
    // A value is taken apart by the strides; the digit between two of them is the coordinate of the smaller one.
    let mut inverse = Vec::new();
    let mut last = Mode {
        path: Vec::new(),
        extent: 1,
        stride: 1,
        weight: 0,
    };
    for mode in modes {
        let place = Place::operand(0).mode(mode.path.as_slice()).stride();
        if mode.stride < 0 {
            return Err(ErrorKind::NegativeStride {
                stride: mode.stride,
            }
            .at(place));
        }
        if mode.stride % last.stride != 0 || mode.stride / last.stride < last.extent {
            let reach = last.stride.saturating_mul(last.extent);
            let nearest =
                nearest_multiples(mode.stride, last.stride).map(|nearest| nearest.max(reach));
            let previous = (last.extent, last.stride);
            return Err(ErrorKind::Overlap {
                previous,
                stride: mode.stride,
                nearest,
            }
            .at(place));
        }
        inverse.push((mode.stride / last.stride, last.weight.into()));
        last = mode;
    }
    inverse.push((last.extent, last.weight.into()));
    inverse.retain(|&(extent, _)| extent != 1);
    from_flat(merge(inverse)).validated()
}

/// The coordinates of A that its strides 0 make irrelevant: `A(N(i)) = 0` for every i.
///
/// These are all zeros of A where its other strides have one sign.
/// ```
/// use cute_algebra::{Layout, nullspace};
/// let a: Layout = "(4,3,2):(0,1,0)".parse()?;
/// assert_eq!(nullspace(&a).to_string(), "(4,2):(1,12)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn nullspace(a: &Layout) -> Layout {
    let mut weight = 1;
    let mut modes = Vec::new();
    for (extent, stride) in a.flat_modes() {
        if stride.is_zero() {
            modes.push((extent, weight.into()));
        }
        weight *= extent;
    }
    from_flat(modes)
}

/// The modes with non-zero strides in ascending order of strides.
fn sorted_modes(a: &Layout) -> Result<Vec<Mode>, LayoutError> {
    let mut weight = 1;
    let mut modes = Vec::new();
    for ((extent, stride), path) in a.integral_modes(0)?.into_iter().zip(a.shape().leaf_paths()) {
        modes.push(Mode {
            path,
            extent,
            stride,
            weight,
        });
        weight *= extent;
    }
    modes.retain(|mode| mode.extent != 1 && mode.stride != 0);
    modes.sort_by_key(|mode| (mode.stride, mode.extent));
    Ok(modes)
}
