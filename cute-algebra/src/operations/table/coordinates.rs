//! Operations between coordinates and values.

use crate::composed::Swizzling;
use crate::coordinate::{crd2crd_in, crd2idx_in, idx2crd_in, idx2crd_stride_in};
use crate::operations::operation::{Operation, ragged_row};
use crate::value::Value;

#[rustfmt::skip] // Rows are easier to compare.
pub(super) const OPERATIONS: &[Operation] = &[
    ragged_row("crd2idx", "coordinate, layout | shape[, stride]", 2..=3,
        "the value of a layout at a coordinate",
        "crd2idx((1,(1,2)), (3,(2,3)):(3,(12,1)))",
        both!(|args, overhang| {
            let coord = args.coord(0)?;
            match args.get(1)? {
                Value::Composed(swizzled) if args.count() == 2 => Ok(Value::Int(swizzled.crd2idx_in(args.d, &coord, overhang)?)),
                Value::Swizzle(swizzle) if args.count() == 2 => {
                    let (swizzle, index) = (*swizzle, args.integer(0)?);
                    Ok(Value::Int(args.d.swizzled(swizzle, &index)?))
                }
                Value::XorMap(map) if args.count() == 2 => Ok(map.crd2idx(&args.known_coord(0)?)?.into()),
                _ => { let a = args.shape_and_stride(1)?; Ok(Value::of_sums(crd2idx_in(args.d, &coord, &a, overhang)?)) }
            }
        }))
        .refuses("the coordinate does not nest as the shape does, or is outside of it",
            "crd2idx((3,0), (3,(2,3)):(3,(12,1)))"),
    ragged_row("idx2crd", "coordinate, shape[, stride]", 2..=3,
        "the natural coordinate, which has one integer for each leaf of the shape; with a stride, the coordinate at which a compact layout has that value",
        "idx2crd(16, (3,(2,3)))",
        both!(|args, overhang| Ok(Value::of_sums(match args.count() {
            2 => {
                let (coord, shape) = (args.point(0)?, args.shape(1)?);
                idx2crd_in(args.d, &coord, &shape, overhang)?
            }
            _ => {
                let (index, a) = (args.integer(0)?, args.shape_and_stride(1)?);
                idx2crd_stride_in(args.d, &index, &a, overhang)?
            }
        }))))
        .refuses("the coordinate is outside of the shape, or the value is not below the cosize",
            "idx2crd(18, (3,(2,3)))"),
    ragged_row("crd2crd", "coordinate, shape, shape", 3..=3,
        "the coordinate of the second shape that has the same 1-D coordinate as in the first shape",
        "crd2crd((1,5), (3,6), (3,(2,3)))",
        both!(|args, overhang| {
            let (coord, source, target) = (args.point(0)?, args.shape(1)?, args.shape(2)?);
            Ok(Value::of_sums(crd2crd_in(args.d, &coord, &source, &target, overhang)?))
        }))
        .refuses("the coordinate is outside of the first shape or of the second",
            "crd2crd((3,0), (3,6), (3,(2,3)))"),
];
