//! Elements of other sizes.

use crate::operations::operation::{Operation, ragged_row, row};
use crate::recast::{Cast, recast_factor};

#[rustfmt::skip] // Rows are easier to compare.
pub(super) const OPERATIONS: &[Operation] = &[
    ragged_row("upcast", "layout, integer", 2..=2,
        "the layout in units of that many elements",
        "upcast((8,4):(1,8), 4)",
        both!(|args, overhang| { let factor = args.factor(1)?; args.cast(Cast::Up(factor), overhang) }))
        .refuses("a stride and the number do not divide one another, or the elements of a unit are not all there",
            "upcast((2,8):(1,4), 4)"),
    row("downcast", "layout, integer", 2..=2,
        "the layout in units of an element split into that many parts",
        "downcast((2,4):(1,2), 4)",
        both!(|args, overhang| { let factor = args.factor(1)?; args.cast(Cast::Down(factor), overhang) }))
        .refuses("the number of modes with stride 1 is not one",
            "downcast((32,1):(1,1), 3)"),
    ragged_row("recast", "layout, old bits, new bits", 3..=3,
        "the layout of elements of old bits as a layout of elements of new bits",
        "recast((8,4):(1,8), 8, 16)",
        both!(|args, overhang| { let cast = recast_factor(args.number(1)?, args.number(2)?)?; args.cast(cast.lift(), overhang) }))
        .refuses("neither size divides the other, or the elements of a larger one are not all there",
            "recast((8,4):(1,8), 8, 12)"),
];
