//! The part of a tensor that a thread copies.

use crate::kernel::access::crd2idx::crd2idx;
use crate::kernel::emit::builder::Builder;
use crate::kernel::value::{Element, Fragment, Held, Num};
use cute_algebra::{Layout, coalesce};
use syn::Result;

/// The value of an integral layout of the tensor at the coordinate of the thread, times `unit`, and its value for each value of the
/// fragment. The index of a value is their sum.
pub(super) fn partition(
    b: &mut Builder,
    layout: &Layout,
    fragment: &Fragment,
    unit: i64,
) -> Result<(Num, Vec<i64>)> {
    let fragment = &*fragment.in_modes(layout.rank());
    let Some(tile) = &fragment.tile else {
        let (size, values) = (layout.size(), fragment.values.len());
        if size != values as i64 {
            return Err(b.error(format!(
                "the tensor has {size} elements, but the fragment has {values}"
            )));
        }
        return Ok((Num::Const(0), layout.values().collect()));
    };
    let modes = layout.modes();
    let extents: Vec<i64> = modes.iter().map(Layout::size).collect();
    if !fragment.shape.leaves().eq(&extents) {
        return Err(b.error(format!(
            "the tensor has the shape {}, but the fragment has the shape {}",
            layout.shape(),
            fragment.shape
        )));
    }
    let mut dynamic = Num::Const(0);
    for (mode, layout) in modes.iter().enumerate() {
        // A coordinate is the sum of the thread's coordinate and the value's. The layout may be applied to each one if their sum never
        // carries across a boundary between modes of the layout.
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
        let offset = crd2idx(b, layout, &tile.origin[mode], unit)?;
        dynamic = b.add(&dynamic, &offset)?;
    }
    let index = |value: &Held| {
        let coordinates = value.coordinate.iter().zip(&modes);
        let indices = coordinates.map(|(coordinate, mode)| {
            let index = mode.at(*coordinate);
            index.ok_or_else(|| {
                b.error(format!(
                    "a value of the fragment has coordinate {coordinate}, which is outside of {mode} (a defect)"
                ))
            })
        });
        indices.sum::<Result<i64>>()
    };
    let indices = fragment.values.iter().map(index).collect::<Result<_>>()?;
    Ok((dynamic, indices))
}

/// Refuses a fragment of other elements than the tensor's.
pub(super) fn check_elements(b: &Builder, tensor: Element, fragment: Element) -> Result<()> {
    if tensor == fragment {
        return Ok(());
    }
    Err(b.error(format!(
        "the tensor has elements of `{tensor}`, but the fragment has elements of `{fragment}`: a copy converts nothing, so the fragment is of `{tensor}`, and `convert::<…>(fragment)` makes another one of it"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::value::Distributed;

    #[test]
    fn no_value_is_outside_of_the_tensor() {
        let layout = Layout::new([8], [1]).unwrap();
        let tile = Distributed {
            threads: vec![Layout::new(1, 1).unwrap()],
            origin: vec![Num::Const(0)],
        };
        for (coordinate, is_inside) in [(7, true), (-1, false)] {
            let held = Held {
                slot: 0,
                coordinate: vec![coordinate],
            };
            let fragment = Fragment {
                element: Element::F32,
                registers: Vec::new(),
                values: vec![held],
                tile: Some(tile.clone()),
                shape: layout.shape().clone(),
                is_variable: false,
            };
            let mut b = Builder::new(32, [1, 1, 1]);
            match partition(&mut b, &layout, &fragment, 4) {
                Ok((_, indices)) => assert!(is_inside && indices == [coordinate]),
                Err(error) => assert!(!is_inside && error.to_string().contains("a defect")),
            }
        }
    }
}
