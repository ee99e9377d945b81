//! The leaves of a layout in the order of their strides.

use crate::domain::{Domain, product};
use crate::error::{LayoutError, Place};
use crate::integer::Integer;
use crate::layout::Layout;
use alloc::vec::Vec;

/// A leaf of a layout into the integers.
pub(crate) struct Step<I> {
    pub(crate) extent: I,
    pub(crate) stride: I,
    /// The product of the extents of the leaves before it.
    pub(crate) weight: I,
    pub(crate) place: Place,
}

/// The leaves from left to right. A layout into a coordinate space is refused.
pub(crate) fn steps<I: Integer>(a: &Layout<I>) -> Result<Vec<Step<I>>, LayoutError> {
    a.require_integral(0)?;
    let mut weight = I::ONE;
    let leaves = a.leaves().zip(a.shape().leaf_paths());
    leaves
        .map(|((extent, stride), path)| {
            let next = product(&weight, extent)?;
            Ok(Step {
                extent: extent.clone(),
                stride: stride.value(),
                weight: core::mem::replace(&mut weight, next),
                place: Place::operand(0).mode(path).stride(),
            })
        })
        .collect()
}

/// The leaves whose extent is above 1 and whose stride is not 0, in ascending order of strides. A negative stride
/// is refused.
pub(crate) fn ascending<D: Domain>(
    d: &D,
    a: &Layout<D::Int>,
) -> Result<Vec<Step<D::Int>>, LayoutError> {
    let mut sorted: Vec<Step<D::Int>> = Vec::new();
    for step in moving(a)? {
        d.require_positive(&step.stride, &step.place)?;
        let at = rank(d, &step, &sorted)?;
        sorted.insert(at, step);
    }
    Ok(sorted)
}

/// The leaves whose extent is above 1 and whose stride is not 0.
pub(crate) fn moving<I: Integer>(a: &Layout<I>) -> Result<Vec<Step<I>>, LayoutError> {
    let mut steps = steps(a)?;
    steps.retain(|step| !step.extent.is_one() && !step.stride.is_zero());
    Ok(steps)
}

/// The positions of all leaves in ascending order of strides; of equal strides, the left one first.
pub(crate) fn order<D: Domain>(d: &D, a: &Layout<D::Int>) -> Result<Vec<usize>, LayoutError> {
    let (mut sorted, mut order) = (Vec::new(), Vec::new());
    for (i, step) in steps(a)?.into_iter().enumerate() {
        let at = rank(d, &step, &sorted)?;
        sorted.insert(at, step);
        order.insert(at, i);
    }
    Ok(order)
}

/// The index at which a leaf is inserted among sorted ones: behind those with smaller or equal strides.
fn rank<D: Domain>(
    d: &D,
    step: &Step<D::Int>,
    sorted: &[Step<D::Int>],
) -> Result<usize, LayoutError> {
    let mut at = sorted.len();
    while at > 0 {
        if d.precedes(&sorted[at - 1].stride, &step.stride, &step.place)? {
            break;
        }
        at -= 1;
    }
    Ok(at)
}
