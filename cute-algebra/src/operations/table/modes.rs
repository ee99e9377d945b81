//! Operations on modes.

use super::MANY;
use crate::operations::operation::{Operation, row};
use crate::regroup;
use crate::slice::{pick, slice_in};
use crate::sort::sort_in;
use crate::value::Value;
use alloc::vec;

#[rustfmt::skip] // Rows are easier to compare.
pub(super) const OPERATIONS: &[Operation] = &[
    row("get", "layout | tuple, mode, …", 2..=MANY,
        "the mode at a path of indices, the outermost first; of a tuple, the element",
        "get((2,(3,4)):(1,(2,6)), 1, 0)",
        both!(|args, _| {
            let path = args.numbers(1)?;
            match args.get(0)? {
                Value::Int(_) | Value::Tuple(_) => Ok(Value::of_sums(regroup::element(&args.tuple(0)?, &path)?)),
                Value::Coord(coord) => Ok(Value::of_coord(regroup::element(coord, &path)?)),
                Value::Stride(stride) => Ok(regroup::element(stride, &path)?.into()),
                _ => args.map(|_, a| regroup::get(a, &path)),
            }
        }))
        .refuses("there is no such mode",
            "get((2,(3,4)):(1,(2,6)), 2)"),
    row("select", "layout, mode, …", 2..=MANY,
        "the modes with these indices, in this order",
        "select((2,3,5,7):(1,2,6,30), 3, 1)",
        both!(|args, _| { let modes = args.numbers(1)?; args.map(|_, a| regroup::select(a, &modes)) }))
        .refuses("there is no such mode",
            "select((2,3,5,7):(1,2,6,30), 4)"),
    row("take", "layout, begin, end", 3..=3,
        "the modes from begin up to, but not including, end",
        "take((2,3,5,7):(1,2,6,30), 1, 3)",
        both!(|args, _| { let (begin, end) = (args.number(1)?, args.number(2)?); args.map(|_, a| regroup::take(a, begin, end)) }))
        .refuses("there are no such modes: no layout is empty",
            "take((2,3,5,7):(1,2,6,30), 1, 1)"),
    row("slice", "layout, coordinate", 2..=2,
        "the modes where the coordinate has `_`; for a swizzled layout, with the offset of the coordinate",
        "slice((4,(2,3)):(1,(12,4)), (_,(1,_)))",
        both!(|args, _| {
            let coord = args.coord(1)?;
            match args.get(0)? {
                Value::Composed(swizzled) => Ok(swizzled.slice_in(args.d, &coord)?.into()),
                _ => { let a = args.layout(0)?; Ok(slice_in(args.d, &a, &coord)?.0.into()) }
            }
        }))
        .refuses("the coordinate does not nest as the shape does, or is outside of it",
            "slice((4,(2,3)):(1,(12,4)), (4,_))"),
    row("slice_and_offset", "layout, coordinate", 2..=2,
        "the modes where the coordinate has `_`, and the value at which they begin",
        "slice_and_offset((4,(2,3)):(1,(12,4)), (_,(1,_)))",
        both!(|args, _| match args.get(0)? {
            Value::Composed(swizzled) => args.slice_and_offset(swizzled),
            _ => {
                let (a, coord) = (args.layout(0)?, args.coord(1)?);
                let (sliced, offset) = slice_in(args.d, &a, &coord)?;
                Ok(vec![sliced.into(), Value::of_sums(offset)].into())
            }
        }))
        .refuses("the coordinate does not nest as the shape does, or is outside of it",
            "slice_and_offset((4,(2,3)):(1,(12,4)), (4,_))")
        .gives(&["layout", "offset"]),
    row("dice", "layout, coordinate", 2..=2,
        "the modes where the coordinate has an integer",
        "dice((4,(2,3)):(1,(12,4)), (_,(1,_)))",
        both!(|args, _| { let coord = args.coord(1)?; args.map(|d, a| pick(d, a, &coord, false)) }))
        .refuses("the coordinate does not nest as the shape does, or is outside of it",
            "dice((4,(2,3)):(1,(12,4)), (4,_))"),
    row("group", "layout, begin, end", 3..=3,
        "the same layout with the modes from begin up to, but not including, end as one nested mode",
        "group((2,3,5,7):(1,2,6,30), 0, 2)",
        both!(|args, _| { let (begin, end) = (args.number(1)?, args.number(2)?); args.map(|_, a| regroup::group(a, begin, end)) }))
        .refuses("there are no such modes",
            "group((2,3,5,7):(1,2,6,30), 3, 5)"),
    row("flatten", "layout", 1..=1,
        "the layout with all leaves as top-level modes",
        "flatten((2,(3,(4,5))):(1,(2,(6,24))))",
        both!(|args, _| args.map(|_, a| Ok(regroup::flatten(a))))),
    row("unflatten", "layout, profile", 2..=2,
        "the layout with its leaves nested like the profile",
        "unflatten((2,3,4):(1,2,6), (0,(0,0)))",
        both!(|args, _| { let profile = args.profile(1)?; args.map(|_, a| regroup::unflatten(a, &profile)) }))
        .refuses("the profile has another number of leaves",
            "unflatten((2,3,4):(1,2,6), (0,0))"),
    row("append", "layout, layout | rank[, layout]", 2..=3,
        "the layout with a further mode at the end; with a rank, with modes `1:0`, or copies of the given one, up to that rank",
        "append(3:1, 4:3)",
        both!(|args, _| match args.rank(1)? {
            Some(rank) => { let mode = args.optional_layout(2)?; args.map(|_, a| regroup::append_to_rank(a, rank, &mode)) }
            None => { let mode = args.layout(1)?; args.map(|_, a| regroup::append(a, &mode)) }
        }))
        .refuses("the layout has a higher rank already",
            "append((2,3,4):(1,2,6), 2)"),
    row("prepend", "layout, layout | rank[, layout]", 2..=3,
        "the layout with a further mode at the beginning; with a rank, with modes `1:0`, or copies of the given one, up to that rank",
        "prepend(3:1, 4:3)",
        both!(|args, _| match args.rank(1)? {
            Some(rank) => { let mode = args.optional_layout(2)?; args.map(|_, a| regroup::prepend_to_rank(a, rank, &mode)) }
            None => { let mode = args.layout(1)?; args.map(|_, a| regroup::prepend(a, &mode)) }
        }))
        .refuses("the layout has a higher rank already",
            "prepend((2,3,4):(1,2,6), 2)"),
    row("replace", "layout, mode, layout", 3..=3,
        "the layout with another mode in the place of the one with this index",
        "replace((2,3,5):(1,2,6), 1, 4:8)",
        both!(|args, _| { let (i, mode) = (args.number(1)?, args.layout(2)?); args.map(|_, a| regroup::replace(a, i, &mode)) }))
        .refuses("there is no such mode",
            "replace((2,3,5):(1,2,6), 3, 4:8)"),
    row("zip", "layout[, layout]", 1..=2,
        "((a0, b0), (a1, b1), …) of two layouts with the modes a0, a1, … and b0, b1, …, or of one layout ((a0, a1, …), (b0, b1, …))",
        "zip((2,3):(1,2), (4,5):(6,24))",
        both!(|args, _| match args.count() {
            1 => args.map(|_, a| regroup::transpose_modes(a)),
            _ => Ok(regroup::zip(&args.layout(0)?, &args.layout(1)?)?.into()),
        }))
        .refuses("the two have different ranks",
            "zip((2,3):(1,2), (4,5,6):(6,24,120))"),
    row("unzip", "layout", 1..=1,
        "((a0, a1, …), (b0, b1, …)) of a layout ((a0, b0), (a1, b1), …)",
        "unzip(((2,4),(3,5)):((1,6),(2,24)))",
        both!(|args, _| args.map(|_, a| regroup::transpose_modes(a))))
        .refuses("the modes have different ranks",
            "unzip(((2,4),(3,5,6)):((1,6),(2,24,120)))"),
    row("sort", "layout", 1..=1,
        "the leaves in ascending order of their strides, which changes the order of the values",
        "sort((4,(2,3)):(6,(1,2)))",
        both!(|args, _| args.map(sort_in)))
        .refuses("the values are coordinates",
            "sort((4,8):(1@1,1@0))"),
];
