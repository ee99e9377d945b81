//! Accesses of global memory without a proof that they are inside of the tensor.

use super::inside::Inside;
use crate::kernel::access::check::{self, check, check_inside};
use crate::kernel::access::coordinate::widened;
use crate::kernel::emit::builder::Builder;
use crate::kernel::emit::param::{ParamKind, Unproven};
use crate::kernel::value::{Global, Num, Value};
use cute_algebra::Shape;
use syn::Result;

/// Requires that elements are inside of the tensor. If there is no proof, a checked kernel checks it at run time, and another kernel must
/// be an `unsafe fn`. `instead` is what accesses only the elements inside, if there is such a function, for messages.
pub(crate) fn require(b: &mut Builder, mut inside: Inside, instead: Option<&str>) -> Result<()> {
    let Some(mode) = inside.first_open() else {
        return Ok(());
    };
    if !b.checked {
        unproven(b, &inside.global, |b| Some(inside.remedy(b, mode, instead)));
        return Ok(());
    }
    let Some(holds) = inside.all(b)? else {
        return Ok(());
    };
    let Inside { global, reach, .. } = &inside;
    let modes = 0..global.origin.len();
    let extents: Vec<Num> = modes.map(|mode| global.end(b, mode)).collect();
    let name = b.params[global.param].name.clone();
    check(b, &holds, &name, |b| {
        let places = global.origin.iter().zip(reach);
        let places = places.map(|(origin, reach)| match reach {
            0 => Ok(origin.clone()),
            reach => {
                let origin = widened(b, origin)?;
                b.add(&origin, &Num::from(*reach))
            }
        });
        let coordinate = joined(places.collect::<Result<_>>()?);
        Ok([coordinate, joined(extents.clone())])
    })?;
    for (origin, extent) in global.origin.iter().zip(&extents) {
        b.known.assume_below(origin, extent);
    }
    Ok(())
}

/// Requires that a coordinate is inside of the tile. If there is no proof, a checked kernel checks it at run time, and another kernel must
/// be an `unsafe fn`.
pub(super) fn require_in_tile(
    b: &mut Builder,
    global: &Global,
    shape: &Shape,
    coordinate: &Value,
) -> Result<()> {
    let open = check::unproven(b, shape, coordinate)?;
    let Some((place, Num::Const(size))) = open.first() else {
        return Ok(());
    };
    if !b.checked {
        let what = "its coordinate in the tile";
        unproven(b, global, |b| {
            let changing = b.changing(what, place, &size.to_string());
            let put = || format!("put it under a condition by which {what} is below {size}");
            Some(changing.unwrap_or_else(put))
        });
        return Ok(());
    }
    let name = format!("a tile of {}", b.params[global.param].name);
    check_inside(b, &open, shape, coordinate, &name)
}

/// Notes an access without a proof that it is inside of the tensor, unless there is one already.
pub(crate) fn unproven(
    b: &mut Builder,
    global: &Global,
    remedy: impl FnOnce(&Builder) -> Option<String>,
) {
    let kind = &b.params[global.param].kind;
    if !matches!(kind, ParamKind::Global { unproven: None, .. }) {
        return;
    }
    let (place, remedy) = (b.place(), remedy(b));
    if let ParamKind::Global { unproven, .. } = &mut b.params[global.param].kind {
        *unproven = Some(Unproven { place, remedy });
    }
}

/// A coordinate of these numbers.
fn joined(numbers: Vec<Num>) -> Value {
    match <[Num; 1]>::try_from(numbers) {
        Ok([number]) => number.into(),
        Err(numbers) => Value::Tuple(numbers.into_iter().map(Value::from).collect()),
    }
}
