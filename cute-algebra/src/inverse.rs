//! Inverses, and the coordinates that map to zero.

use crate::coalesce::{coalesce, from_flat, merge};
use crate::composition::nearest_multiples;
use crate::error::{ErrorKind, LayoutError, Place};
use crate::layout::Layout;

/// A leaf of a layout with the stride that its coordinate has in the 1-D coordinate of the whole.
struct Mode {
    extent: i64,
    stride: i64,
    weight: i64,
}

/// R with `A(R(i)) = i` for every `i < size(R)`, as large as the contiguous part of A.
/// ```
/// use cute_algebra::{Layout, right_inverse};
/// let a = Layout::new([4, 8], [8, 1])?;
/// assert_eq!(right_inverse(&a)?.to_string(), "(8,4):(4,1)");
/// # Ok::<(), cute_algebra::LayoutError>(())
/// ```
pub fn right_inverse(a: &Layout) -> Result<Layout, LayoutError> {
    let modes = sorted_modes(a).map_err(|error| error.during("right_inverse", [a.into()]))?;
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
/// ```
/// use cute_algebra::{Layout, left_inverse};
/// let a = Layout::new([4, 3], [3, 24])?;
/// assert_eq!(left_inverse(&a)?.to_string(), "(3,8,3):(0,1,4)");
/// # Ok::<(), cute_algebra::LayoutError>(())
/// ```
pub fn left_inverse(a: &Layout) -> Result<Layout, LayoutError> {
    quasi_inverse(a).map_err(|error| error.during("left_inverse", [a.into()]))
}

fn quasi_inverse(a: &Layout) -> Result<Layout, LayoutError> {
    let modes = sorted_modes(a)?;
    if let Some(mode) = modes.iter().find(|mode| mode.stride < 0) {
        return Err(ErrorKind::NegativeStride {
            stride: mode.stride,
        }
        .at(Place::operand(0).stride()));
    }
    if modes.is_empty() {
        // Zero everywhere, and then so is the inverse; CuTe keeps the size.
        return Ok(coalesce(a));
    }
    // A value is taken apart by the strides; the digit between two of them is the coordinate of the smaller one.
    let (mut inverse, mut block, mut last) = (Vec::new(), 1i64, (1, 1, 0));
    for Mode {
        extent,
        stride,
        weight,
    } in modes
    {
        let (previous_extent, previous_stride, previous_weight) = last;
        if stride % block != 0 || stride / block < previous_extent {
            let reach = block.saturating_mul(previous_extent);
            let kind = ErrorKind::Gap {
                previous: (previous_extent, previous_stride),
                stride,
                nearest: nearest_multiples(stride, reach),
            };
            return Err(kind.at(Place::operand(0).stride()));
        }
        inverse.push((stride / block, previous_weight.into()));
        block = stride;
        last = (extent, stride, weight);
    }
    inverse.push((last.0, last.2.into()));
    inverse.retain(|&(extent, _)| extent != 1);
    from_flat(merge(inverse)).validated()
}

/// The coordinates of A that its strides 0 make irrelevant: `A(N(i)) = 0` for every i.
///
/// These are all zeros of A where its other strides have one sign.
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
    a.require_integral(0)?;
    let mut weight = 1;
    let mut modes = Vec::new();
    for (extent, stride) in coalesce(a).flat_modes() {
        modes.push(Mode {
            extent,
            stride: stride.value(),
            weight,
        });
        weight *= extent;
    }
    modes.retain(|mode| mode.extent != 1 && mode.stride != 0);
    modes.sort_by_key(|mode| (mode.stride, mode.extent));
    Ok(modes)
}
