//! What the table of operations does where operands hold run-time integers.

pub(crate) use super::chain::{
    complement, complement_within, left_inverse, max_common_layout, nullspace, right_inverse, size,
};
pub(crate) use super::composition::{divide, product_by, ranked_product};
pub(crate) use super::construct::{
    make_fragment_like, make_identity_layout, make_layout_like, make_ordered_layout, tile_to_shape,
    with_shape,
};
pub(crate) use super::coordinate::{
    compatible, coshape, cosize, crd2idx, evenly_divides, idx2crd_stride, slice,
};
pub(crate) use super::property::{alignment, domain_distribute, max_alignment, max_common_vector};

use super::composed::SymbolicComposed;
use super::composition::{compose, compose_by};
use super::layout::SymbolicLayout;
use super::recast::{downcast, upcast};
use super::term::{Sum, Term};
use super::value::{SymbolicArgs, SymbolicValue};
use super::{SymbolicError, SymbolicErrorKind};
use crate::composition::Overhang;
use crate::error::Place;
use crate::recast::Cast;

type Result<T> = std::result::Result<T, SymbolicError>;

/// The strides, if they are integers.
pub(crate) fn stride(a: &SymbolicLayout) -> Result<SymbolicValue> {
    if !a.is_integral() {
        let what = "a tuple of strides along coordinates";
        return Err(SymbolicErrorKind::Unsupported(what).at(Place::operand(0)));
    }
    Ok(a.tree().map(|mode| Sum::from(&mode.stride)).into())
}

/// A after B, each a layout, swizzled or not, or a swizzle.
pub(crate) fn composition(
    args: &mut SymbolicArgs<'_>,
    overhang: Overhang,
) -> Result<SymbolicValue> {
    let conjugated = || {
        let what = "a layout whose swizzle is before it";
        Err(SymbolicErrorKind::Unsupported(what).at(Place::operand(0)))
    };
    if let Some(swizzle) = args.swizzle(0)? {
        let inner = args.composed(1)?;
        let both = swizzle.after(inner.swizzle)?;
        return Ok(SymbolicComposed::new(both, inner.offset, inner.layout)?.simplest());
    }
    if args.swizzle(1)?.is_some() {
        return conjugated();
    }
    if let Some(inner) = args.swizzled(1)? {
        if !inner.swizzle.is_identity() {
            return conjugated();
        }
        let outer = args.composed(0)?;
        if outer.offset != Sum::default() || inner.offset != Sum::default() {
            let what = "a composition of swizzled layouts with offsets";
            return Err(SymbolicErrorKind::Unsupported(what).at(Place::operand(0)));
        }
        let composed = outer.map(|a| compose(args.scope, a, &inner.layout, overhang, None))?;
        return Ok(composed.simplest());
    }
    let tiler = args.tiler(1)?;
    args.map(|scope, a| compose_by(scope, a, &tiler, overhang))
}

/// The same memory in larger or smaller elements.
pub(crate) fn recast(
    args: &mut SymbolicArgs<'_>,
    cast: impl FnOnce(&mut SymbolicArgs<'_>) -> Result<Cast<Term>>,
    overhang: Overhang,
) -> Result<SymbolicValue> {
    let cast = cast(args)?;
    let Some(swizzled) = args.swizzled(0)? else {
        let a = args.layout(0)?;
        return Ok(match cast {
            Cast::Up(factor) => upcast(args.scope, &a, &factor, overhang)?.into(),
            Cast::Down(factor) => downcast(args.scope, &a, &factor)?.into(),
        });
    };
    let number = |factor: Term| {
        let what = "the factor of a swizzle's recast";
        let needs = SymbolicErrorKind::Unsupported(what).at(Place::operand(1));
        factor.as_constant().ok_or(needs)
    };
    Ok(match cast {
        Cast::Up(factor) => swizzled.upcast(args.scope, number(factor)?, overhang)?,
        Cast::Down(factor) => swizzled.downcast(args.scope, number(factor)?)?,
    }
    .simplest())
}
