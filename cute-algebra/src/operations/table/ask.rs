//! Operations that ask a layout for a number.

use crate::alignment::{alignment_in, vector_width_in};
use crate::coordinate::{coshape_in, cosize_in};
use crate::domain::overflow;
use crate::operations::operation::Run::Numbers;
use crate::operations::operation::{Operation, row};
use crate::tuple::Tuple;
use crate::value::Value;
use alloc::string::ToString;

#[rustfmt::skip] // Rows are easier to compare.
pub(super) const OPERATIONS: &[Operation] = &[
    row("shape", "layout", 1..=1,
        "the extents of a layout",
        "shape((4,(2,3)):(1,(12,4)))",
        both!(|args, _| Ok(args.domain(0)?.into()))),
    row("stride", "layout", 1..=1,
        "the strides of a layout",
        "stride((4,8):row)",
        both!(|args, _| Ok(args.inner(0)?.stride().clone().into()))),
    row("size", "layout", 1..=1,
        "the number of coordinates",
        "size((4,(2,3)):(0,(1,2)))",
        both!(|args, _| Ok(Tuple::Leaf(args.domain(0)?.product().ok_or_else(overflow)?).into()))),
    row("rank", "layout", 1..=1,
        "the number of top-level modes",
        "rank((2,(3,4)))",
        both!(|args, _| Ok((args.domain(0)?.rank() as i64).into()))),
    row("depth", "layout", 1..=1,
        "the number of levels of nesting of the shape",
        "depth((2,(3,(4,5))))",
        both!(|args, _| Ok((args.domain(0)?.depth() as i64).into()))),
    row("cosize", "layout", 1..=1,
        "the span of the values: one more than the sum of (extent - 1) * |stride|; of a swizzled layout, one more than the largest value",
        "cosize((4,8):(10,1))",
        both!(|args, _| Ok(Value::Int(match args.get(0)? {
            Value::Composed(swizzled) => swizzled.cosize_in(args.d)?,
            _ => { let a = args.layout(0)?; cosize_in(args.d, &a)? }
        })))),
    row("cosize_bound", "layout", 1..=1,
        "an upper bound of the span: the end of the block inside which a swizzle moves values",
        "cosize_bound(Sw<2,0,3> o (3,8):(8,1))",
        both!(|args, _| Ok(Value::Int(match args.get(0)? {
            Value::Composed(swizzled) => swizzled.cosize_bound_in(args.d)?,
            _ => { let a = args.layout(0)?; cosize_in(args.d, &a)? }
        })))),
    row("coshape", "layout", 1..=1,
        "the span of the values along each coordinate",
        "coshape((4,8):(1@0,2@1))",
        both!(|args, _| { let a = args.layout(0)?; Ok(Value::of_sums(coshape_in(args.d, &a)?)) })),
    row("is_integral", "layout | tuple", 1..=1,
        "true if the operand is an integer, or a layout whose values are integers",
        "is_integral((4,8):(1@0,1@1))",
        both!(|args, _| Ok(match args.get(0)? {
            Value::Int(_) | Value::Composed(_) => true,
            Value::Layout(a) => a.is_integral(),
            _ => false,
        }.into()))),
    row("alignment", "layout", 1..=1,
        "the largest number that divides all values",
        "alignment((4,8):(12,16))",
        both!(|args, _| {
            let a = args.composed(0)?;
            let alignment = alignment_in(args.d, a.layout())?;
            Ok(Tuple::Leaf(a.whole(args.d, &alignment)?).into())
        }))
        .refuses("the values are coordinates",
            "alignment((4,8):(1@0,1@1))"),
    row("vector_width", "layout", 1..=1,
        "the largest number v such that every v elements along the 1-D coordinate are contiguous and aligned",
        "vector_width(Sw<3,3,3> o (64,8):(1,64))",
        both!(|args, _| {
            let a = args.composed(0)?;
            let width = vector_width_in(args.d, a.layout())?;
            Ok(Tuple::Leaf(a.whole(args.d, &width)?).into())
        }))
        .refuses("the values are coordinates",
            "vector_width((4,8):(1@0,1@1))"),
    row("index_form", "layout", 1..=1,
        "the cheapest arithmetic that computes the value at the 1-D coordinate x",
        "index_form((4,(2,3)):(6,(1,2)))",
        Numbers(|args, _| {
            let form = args.layout(0)?.index_form().ok_or_else(|| args.wrong(0, "a layout of integers"))?;
            Ok(Value::Word(form.to_string()))
        }, "the cheapest form depends on which extents are powers of two"))
        .refuses("the values are coordinates",
            "index_form((4,8):(1@0,1@1))"),
];
