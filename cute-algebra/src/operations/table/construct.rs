//! Operations that make layouts.

use super::MANY;
use crate::construct::{
    compact_left, compact_right, fragment_like, identity, layout_like, ordered,
};
use crate::error::{ErrorKind, Place};
use crate::from_table::admitting;
use crate::layout::Layout;
use crate::operations::operation::Run::Numbers;
use crate::operations::operation::{Operation, ragged_row, row};
use crate::tuple::Tuple;
use crate::value::Value;
use alloc::vec::Vec;

#[rustfmt::skip] // Rows are easier to compare.
pub(super) const OPERATIONS: &[Operation] = &[
    row("make_layout_left", "shape", 1..=1,
        "the compact layout of a shape in which the leftmost mode varies fastest",
        "make_layout_left((2,(3,4)))",
        both!(|args, _| { let shape = args.shape(0)?; Ok(compact_left(args.d, &shape)?.into()) })),
    row("make_layout_right", "shape", 1..=1,
        "the compact layout of a shape in which the rightmost mode varies fastest",
        "make_layout_right((2,(3,4)))",
        both!(|args, _| { let shape = args.shape(0)?; Ok(compact_right(args.d, &shape)?.into()) })),
    row("make_ordered_layout", "shape, order", 2..=2,
        "the compact layout of a shape in which the mode with the smallest number in the order varies fastest",
        "make_ordered_layout((2,3,4), (1,2,0))",
        both!(|args, _| {
            let (shape, order) = (args.shape(0)?, args.order(1)?.unwrap_or(Tuple::Leaf(0)));
            Ok(ordered(args.d, &shape, &order)?.into())
        }))
        .refuses("the order does not nest as the shape does",
            "make_ordered_layout((2,3,4), (1,0))"),
    row("make_identity_layout", "shape", 1..=1,
        "the layout that maps each coordinate to itself",
        "make_identity_layout((4,(2,3)))",
        both!(|args, _| { let shape = args.shape(0)?; Ok(identity(args.d, &shape)?.into()) })),
    row("make_layout_like", "layout", 1..=1,
        "the compact layout with the shape of a layout, its modes varying fastest in the same order; modes of stride 0 keep it",
        "make_layout_like((4,6):(12,2))",
        both!(|args, _| { let a = args.inner(0)?; Ok(layout_like(args.d, &a)?.into()) }))
        .refuses("the values are coordinates",
            "make_layout_like((4,8):(1@0,1@1))"),
    row("make_fragment_like", "layout", 1..=1,
        "the compact layout with the shape of a layout in which the first mode varies fastest, and the others in the order of their strides",
        "make_fragment_like((4,2,3):(6,1,2))",
        both!(|args, _| { let a = args.inner(0)?; Ok(fragment_like(args.d, &a)?.into()) }))
        .refuses("the values are coordinates",
            "make_fragment_like((4,8):(1@0,1@1))"),
    row("concat", "layout, …", 1..=MANY,
        "the layout whose modes are these layouts",
        "concat(4:2, (2,3):(1,8))",
        both!(|args, _| {
            let modes: Result<Vec<_>, _> = (0..args.count()).map(|i| args.layout(i)).collect();
            Ok(Layout::concat(modes?)?.into())
        }))
        .refuses("some values are integers and others are coordinates",
            "concat(4:1, 4:1@0)"),
    ragged_row("from_table", "integer, …", 1..=MANY,
        "the layout with these values, in the order of its 1-D coordinates; in the ragged form, the layout that begins with them",
        "from_table(0, 1, 4, 5, 8, 9)",
        Numbers(|args, overhang| {
            let (values, listed): (Vec<_>, _) = match args.get(0)? {
                Value::Tuple(tuple) if tuple.depth() == 1 && args.count() == 1 => (tuple.leaves().copied().collect(), false),
                _ => (args.numbers(0)?, true),
            };
            let place = |position: i64| match listed {
                true => Place::operand(position as usize),
                false => Place::operand(0).mode([position as usize]),
            };
            let layout = admitting(&values, overhang).map_err(|error| match *error.kind() {
                ErrorKind::NotALayout { position, .. } => error.relocate(|_| place(position)),
                _ => error,
            });
            Ok(layout?.into())
        }, "a layout is recovered from values"))
        .refuses("no layout has these values",
            "from_table(0, 1, 10, 12)"),
];
