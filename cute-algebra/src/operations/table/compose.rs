//! The algebra: functions of layouts.

use crate::alignment::{max_alignment_in, max_common_layout_in, max_common_vector_in};
use crate::coalesce::{by_profile, coalesce, coalesce_by, filter_zeros_in};
use crate::complement::{complement_in, holes};
use crate::composed::ComposedLayout;
use crate::composition::compose_by;
use crate::extension::extension_in;
use crate::inverse::{left_inverse_in, nullspace_in, right_inverse_in};
use crate::operations::Operations;
use crate::operations::args::Inverse;
use crate::operations::operation::{Operation, ragged_row, row};
use crate::overhang::Overhang;
use crate::tuple::Tuple;
use crate::value::Value;

/// `A o B`, of which `with_shape` is a case.
#[rustfmt::skip]
const COMPOSITION: Operation = ragged_row("composition", "A, B", 2..=2,
    "the layout A(B(c)), which is also written `A o B`",
    "(6,2):(8,2) o (4,3):(3,1)",
    both!(|args, overhang| {
        if let Some(composed) = args.composition_of_bits()? {
            return Ok(composed);
        }
        match args.get(0)? {
            Value::Swizzle(a) => Ok(Value::simplest(ComposedLayout::new(*a, 0.into(), args.layout(1)?)?)),
            _ => { let tiler = args.tiler(1)?; args.map(|d, a| compose_by(d, a, &tiler, overhang)) }
        }
    }))
    .refuses("a value of B is past the end of A, or no layout has the values A(B(c))",
        "composition((5,3):(1,10), 6:2)");

#[rustfmt::skip] // Rows are easier to compare.
pub(super) const OPERATIONS: &[Operation] = &[
    row("coalesce", "layout[, profile]", 1..=2,
        "the same function with the fewest modes; with a profile, within each of its modes",
        "coalesce((2,(1,6)):(1,(6,2)))",
        both!(|args, _| match args.count() {
            1 => args.map(|_, a| Ok(coalesce(a))),
            _ => { let profile = args.profile(1)?; args.map(|_, a| coalesce_by(a, &profile)) }
        }))
        .refuses("the profile has more modes than the layout",
            "coalesce((2,(1,6)):(1,(6,2)), (1,1,1))"),
    row("filter", "layout[, profile]", 1..=2,
        "the layout without modes of stride 0, coalesced; with a profile, within each of its modes",
        "filter((2,(4,3)):(1,(0,2)))",
        both!(|args, _| match args.count() {
            1 => args.map(|d, a| Ok(coalesce(&filter_zeros_in(d, a)?))),
            _ => {
                let profile = args.profile(1)?;
                args.map(|d, a| by_profile(a, &profile, &mut |part| Ok(coalesce(&filter_zeros_in(d, part)?))))
            }
        }))
        .refuses("the profile has more modes than the layout",
            "filter((2,(4,3)):(1,(0,2)), (1,1,1))"),
    row("filter_zeros", "layout", 1..=1,
        "the same layout with extent 1 wherever the stride is 0",
        "filter_zeros((2,(4,3)):(1,(0,2)))",
        both!(|args, _| args.map(|d, a| filter_zeros_in(d, a)))),
    COMPOSITION,
    ragged_row("with_shape", "layout, shape", 2..=2,
        "the layout A under another shape: A(B(c)) for the compact layout B of the shape, in which the leftmost mode varies fastest",
        "with_shape((4,8):(8,1), (8,4))",
        both!(|args, overhang| {
            let b = match args.get(1)? {
                swizzled @ Value::Composed(_) => swizzled.clone(),
                _ => args.layout(1)?.into(),
            };
            let operands = [args.get(0)?.clone(), b];
            args.d.apply(&COMPOSITION, &operands, overhang == Overhang::Ragged)
        }))
        .refuses("the shape is larger than A, or no layout has these values",
            "with_shape((4,8):(8,1), (8,5))"),
    row("extension", "layout, size", 2..=2,
        "the layout extended or cut to that size by its last mode",
        "extension((2,5):(1,4), 14)",
        both!(|args, _| { let size = args.product(1)?; args.map(|d, a| extension_in(d, a, &size)) }))
        .refuses("the size is not a multiple of the extents before the last one",
            "extension((2,5):(1,4), 13)"),
    ragged_row("complement", "layout[, target]", 1..=2,
        "the layout with increasing values that fills the target together with the layout, or without a target the span of the layout; strides 0 are left out",
        "complement((2,2):(1,6), 24)",
        both!(|args, overhang| {
            if let Some(complement) = args.complement_of_bits(overhang)? {
                return Ok(complement);
            }
            let a = args.layout(0)?;
            if args.count() == 1 {
                return Ok(holes(args.d, &a)?.into());
            }
            let target = args.product(1)?;
            Ok(complement_in(args.d, &a, &target, overhang)?.0.into())
        }))
        .refuses("a stride is not a multiple of the next smaller one times its extent, or the target is not a multiple of the largest stride times its extent",
            "complement(4:1, 6)"),
    row("right_inverse", "layout", 1..=1,
        "the largest layout R with A(R(i)) = i",
        "right_inverse((4,8):(8,1))",
        both!(|args, _| match args.inverse_of_bits(Inverse::Right)? {
            Some(inverse) => Ok(inverse),
            None => { let a = args.layout(0)?; Ok(right_inverse_in(args.d, &a)?.into()) }
        }))
        .refuses("the values are coordinates, or the operand is a map of bits that is not a bijection",
            "right_inverse((4,8):(1@0,1@1))"),
    row("left_inverse", "layout", 1..=1,
        "a layout L with L(A(i)) = i",
        "left_inverse((4,8):(1,5))",
        both!(|args, _| match args.inverse_of_bits(Inverse::Left)? {
            Some(inverse) => Ok(inverse),
            None => { let a = args.layout(0)?; Ok(left_inverse_in(args.d, &a)?.into()) }
        }))
        .refuses("two coordinates have the same value, or no layout is such a function",
            "left_inverse((5,3):(3,6))"),
    row("nullspace", "layout", 1..=1,
        "the layout N with A(N(i)) = 0 that consists of the modes of stride 0",
        "nullspace((2,4,3):(0,1,0))",
        both!(|args, _| { let a = args.with_the_same_zeros(0)?; Ok(nullspace_in(args.d, &a)?.into()) })),
    row("max_common_layout", "layout, layout", 2..=2,
        "the largest layout C with A(C(i)) = B(C(i)) = i",
        "max_common_layout((4,8):(1,4), (4,8):(1,8))",
        both!(|args, _| { let (a, b) = (args.composed(0)?, args.composed(1)?); Ok(max_common_layout_in(args.d, &a, &b)?.into()) }))
        .refuses("values are coordinates",
            "max_common_layout((4,8):(1@0,1@1), 32:1)"),
    row("max_common_vector", "layout, layout", 2..=2,
        "the size of the largest layout C with A(C(i)) = B(C(i)) = i: as many elements can be copied at once",
        "max_common_vector((4,8):(1,4), (4,8):(1,8))",
        both!(|args, _| {
            let (a, b) = (args.composed(0)?, args.composed(1)?);
            Ok(Tuple::Leaf(max_common_vector_in(args.d, &a, &b)?).into())
        }))
        .refuses("values are coordinates",
            "max_common_vector((4,8):(1@0,1@1), 32:1)"),
    row("max_alignment", "layout", 1..=1,
        "the number of contiguous, aligned elements that begin at each value",
        "max_alignment((4,8):(1,8))",
        both!(|args, _| { let a = args.composed(0)?; Ok(Tuple::Leaf(max_alignment_in(args.d, &a)?).into()) }))
        .refuses("the values are coordinates",
            "max_alignment((4,8):(1@0,1@1))"),
];
