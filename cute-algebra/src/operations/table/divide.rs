//! Divisions.

use crate::alignment::domain_distribute_in;
use crate::composed::not_a_swizzle;
use crate::divide::{Form, divide};
use crate::error::LayoutError;
use crate::local::{in_tiles, thread_coordinate, thread_tiler, tile_coordinate, tiles_in};
use crate::operations::operation::{Operation, ragged_row, row};
use crate::shape_div::{elementwise, from_the_left, remaining};
use crate::slice::slice_in;
use crate::value::Value;
use alloc::vec;

/// The code of a division.
macro_rules! division {
    ($form:expr) => {
        both!(|args, overhang| {
            if let Some(divided) = args.division_of_bits($form, overhang)? {
                return Ok(divided);
            }
            let tiler = args.tiler(1)?;
            args.map(|d, a| divide(d, a, &tiler, $form, overhang))
        })
    };
}

#[rustfmt::skip] // Rows are easier to compare.
pub(super) const OPERATIONS: &[Operation] = &[
    ragged_row("logical_divide", "layout, tiler", 2..=2,
        "((tile, rest), …): the tile and the rest of each mode",
        "logical_divide((8,12):(12,1), <4,3>)",
        division!(Form::Logical))
        .refuses("the tiler does not divide the layout",
            "logical_divide(10:1, 4:1)"),
    ragged_row("zipped_divide", "layout, tiler", 2..=2,
        "((tile, …), (rest, …)): all tiles in mode 0, and all rests in mode 1",
        "zipped_divide((8,12):(12,1), <4,3>)",
        division!(Form::Zipped))
        .refuses("the tiler does not divide the layout",
            "zipped_divide((8,12):(12,1), <3,3>)"),
    ragged_row("tiled_divide", "layout, tiler", 2..=2,
        "((tile, …), rest, …): all tiles in mode 0, and then the rest of each mode",
        "tiled_divide((8,12):(12,1), <4,3>)",
        division!(Form::Tiled))
        .refuses("the tiler does not divide the layout",
            "tiled_divide((8,12):(12,1), <3,3>)"),
    ragged_row("flat_divide", "layout, tiler", 2..=2,
        "(tile, …, rest, …): the tile of each mode, and then the rest of each mode",
        "flat_divide((8,12):(12,1), <4,3>)",
        division!(Form::Flat))
        .refuses("the tiler does not divide the layout",
            "flat_divide((8,12):(12,1), <3,3>)"),
    ragged_row("local_tile", "layout, tiler, coordinate", 3..=3,
        "the tile at a coordinate of tiles, with further modes where it has `_`, and the value where it begins",
        "local_tile((8,12):(12,1), <4,3>, (1,2))",
        both!(|args, overhang| {
            let coord = args.coord(2)?;
            let in_coord = |error| in_tiles(error, &coord);
            let tiles = match args.division_of_bits(Form::Zipped, overhang)? {
                Some(tiles) => tiles,
                None => { let tiler = args.tiler(1)?; args.map(|d, a| tiles_in(d, a, &tiler, overhang))? }
            };
            Ok(match tiles {
                Value::Composed(tiles) => {
                    let at = tile_coordinate(tiles.layout(), &coord);
                    vec![tiles.slice_in(args.d, &at).map_err(in_coord)?.into(), 0.into()].into()
                }
                Value::Layout(tiles) => {
                    let (tile, offset) = slice_in(args.d, &tiles, &tile_coordinate(&tiles, &coord)).map_err(in_coord)?;
                    vec![tile.into(), Value::of_sums(offset)].into()
                }
                _ => return Err(not_a_swizzle("the layout divided into these tiles").blame(1)),
            })
        }))
        .refuses("the tiler does not divide the layout, or there is no such tile",
            "local_tile((8,12):(12,1), <4,3>, (2,0))")
        .gives(&["layout", "offset"]),
    ragged_row("local_partition", "layout, threads, thread", 3..=3,
        "what a thread has of a layout over which the threads are repeated, and the value where it begins",
        "local_partition((8,12):(12,1), (2,4):(4,1), 5)",
        both!(|args, overhang| {
            let (threads, index) = args.thread()?;
            let tiler = thread_tiler(args.d, &threads)?;
            let in_threads = |error: LayoutError| error.blame(1);
            if let Value::Composed(swizzled) = args.get(0)? {
                let tiles = swizzled.map(|layout| tiles_in(args.d, layout, &tiler, overhang))?;
                let coord = thread_coordinate(args.d, tiles.layout(), &threads, &index)?;
                return Ok(vec![tiles.slice_in(args.d, &coord).map_err(in_threads)?.into(), 0.into()].into());
            }
            let a = args.layout(0)?;
            let tiles = tiles_in(args.d, &a, &tiler, overhang)?;
            let coord = thread_coordinate(args.d, &tiles, &threads, &index)?;
            let (mine, offset) = slice_in(args.d, &tiles, &coord).map_err(in_threads)?;
            Ok(vec![mine.into(), Value::of_sums(offset)].into())
        }))
        .refuses("the threads do not divide the layout, or there is no such thread",
            "local_partition((8,12):(12,1), (2,4):(4,1), 8)")
        .gives(&["layout", "offset"]),
    row("shape_div", "shape, divisor[, CEIL | FLOOR | EXACT]", 2..=3,
        "the shape of every n-th element, for n the divisor, or mode by mode for a tuple of divisors; with a rounding, each extent divided",
        "shape_div((3,6,2,8), 9)",
        both!(|args, _| match args.count() {
            2 => {
                let (shape, divisor) = (args.shape(0)?, args.shape(1)?);
                Ok(remaining(args.d, &shape, &divisor)?.into())
            }
            _ => {
                let (shape, divisor, rounding) = (args.shape(0)?, args.shape(1)?, args.rounding(2)?);
                Ok(Value::of_sums(elementwise(args.d, &shape, &divisor, rounding)?))
            }
        }))
        .refuses("an extent and what is left of the divisor do not divide one another",
            "shape_div((3,6,2,8), 4)"),
    row("shape_mod", "shape, integer", 2..=2,
        "the shape of the first elements, as many as the integer",
        "shape_mod((3,6,2,8), 9)",
        both!(|args, _| {
            let (shape, count) = (args.shape(0)?, args.factor(1)?);
            Ok(from_the_left(args.d, &shape, &count)?.first.into())
        }))
        .refuses("an extent and what is left of the integer do not divide one another",
            "shape_mod((3,6,2,8), 4)"),
    row("domain_distribute", "shape, integer", 2..=2,
        "a layout that spreads an integer over the extents of a shape from left to right; each takes the largest common divisor of itself and what is left",
        "domain_distribute((15,14), 6)",
        both!(|args, _| {
            let (shape, count) = (args.shape(0)?, args.factor(1)?);
            Ok(domain_distribute_in(args.d, &shape, &count)?.into())
        })),
];
