//! This thread's part of a tensor.

use crate::kernel::access::crd2idx::crd2idx;
use crate::kernel::emit::builder::Builder;
use crate::kernel::value::{Fragment, Held, Tensor};
use cute_algebra::{Layout, coalesce};
use syn::Result;

/// The tensor from this thread's own coordinate, and the index of each of its values.
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
            "a tensor of {} and a fragment of {}",
            tensor.layout.layout().shape(),
            fragment.shape
        )));
    }
    let mut dynamic = tensor.dynamic.clone();
    for (mode, layout) in modes.iter().enumerate() {
        // Thread and value each have a part of the coordinate; the layout passes the sum through if no part carries
        // into the other across a boundary of the layout.
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
                    "mode {mode} of the tensor, {layout}, breaks at {boundary}, but threads reach {reach} and values {worst} there"
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
