//! The part of a tensor that a thread copies.

use crate::kernel::access::crd2idx::crd2idx;
use crate::kernel::emit::builder::Builder;
use crate::kernel::value::{Fragment, Held, Tensor};
use cute_algebra::{Layout, coalesce};
use syn::Result;

/// The tensor that begins at the coordinate of the thread, and what its layout gives for each value of the fragment.
pub(super) fn partition(
    b: &mut Builder,
    tensor: &Tensor,
    fragment: &Fragment,
) -> Result<(Tensor, Vec<i64>)> {
    let Some(tile) = &fragment.tile else {
        return Ok((tensor.clone(), Vec::new()));
    };
    let modes = tensor.layout.layout().modes();
    let extents: Vec<i64> = modes.iter().map(Layout::size).collect();
    if !fragment.shape.leaves().eq(&extents) {
        return Err(b.error(format!(
            "the tensor has the shape {}, but the fragment has the shape {}",
            tensor.layout.layout().shape(),
            fragment.shape
        )));
    }
    let mut dynamic = tensor.dynamic.clone();
    for (mode, layout) in modes.iter().enumerate() {
        // A coordinate is the sum of the thread's coordinate and the value's. The layout may be applied to each alone
        // if their sum never carries across a boundary between modes of the layout.
        let mut boundary = 1;
        for (extent, _) in coalesce(layout).flat_modes() {
            boundary *= extent;
            let reach = tile.reach(mode, boundary);
            let worst = fragment
                .values
                .iter()
                .map(|value| value.coordinate[mode] % boundary)
                .max()
                .unwrap_or(0);
            if reach + worst >= boundary {
                return Err(b.error(format!(
                    "mode {mode} of the tensor, {layout}, has a boundary at {boundary}: a thread adds up to {reach} to a coordinate below it, a value up to {worst}, and the sum must stay below {boundary}"
                )));
            }
        }
        let offset = crd2idx(b, layout, &tile.origin[mode], tensor.width())?;
        dynamic = b.add(&dynamic, &offset)?;
    }
    let index = |value: &Held| {
        value
            .coordinate
            .iter()
            .zip(&modes)
            .map(|(coordinate, mode)| mode.at(*coordinate).unwrap_or_default())
            .sum()
    };
    let indices = fragment.values.iter().map(index).collect();
    Ok((
        Tensor {
            dynamic,
            ..tensor.clone()
        },
        indices,
    ))
}
