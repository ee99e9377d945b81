//! Bank conflicts and swizzles.

use super::MANY;
use crate::composed::ComposedLayout;
use crate::error::{ErrorKind, Place};
use crate::hopper::swizzles::best_swizzle;
use crate::operations::maps;
use crate::operations::operation::Run::Numbers;
use crate::operations::operation::{Operation, row};
use crate::value::Value;
use alloc::format;
use alloc::string::ToString;

const BANKS: &str = "bank conflicts are counted address by address";

#[rustfmt::skip] // Rows are easier to compare.
pub(super) const OPERATIONS: &[Operation] = &[
    row("bank_conflicts", "tile, element bits, threads and values, …", 3..=MANY,
        "the largest number of accesses that one bank of shared memory serves one after another; 1 means no conflict",
        "bank_conflicts((32,32):(32,1), 32, 32:1)",
        Numbers(|args, _| {
            let accesses = args.accesses()?;
            let worst = accesses.iter().map(|access| access.worst.degree).max().unwrap_or(0);
            Ok((worst as i64).into())
        }, BANKS))
        .refuses("an access is outside of the tile",
            "bank_conflicts(64:1, 32, 32:4)"),
    row("conflict_free", "tile, element bits, threads and values, …", 3..=MANY,
        "the tile itself, which is then known to have no bank conflicts",
        "conflict_free((32,32):(33,1), 32, 32:1)",
        Numbers(|args, _| {
            let worst = args.accesses()?.into_iter().enumerate().max_by_key(|(_, access)| access.worst.degree);
            if let Some((pattern, access)) = worst.filter(|(_, access)| access.worst.degree > 1) {
                let best = best_swizzle(args.composed(0)?.layout(), args.number(1)?, &args.layouts(2)?).ok();
                let better = best.and_then(|best| Some((best.swizzle, *best.degrees.iter().max()?)));
                let better = better.filter(|(_, degree)| *degree < access.worst.degree);
                let refusal = match better {
                    None => access.to_string(),
                    Some((swizzle, 1)) => format!("{access}; {swizzle} has no conflict"),
                    Some((swizzle, degree)) => format!("{access}; {swizzle} needs {degree}"),
                };
                return Err(ErrorKind::Hardware { refusal }.at(Place::operand(2 + pattern)));
            }
            args.get(0).cloned()
        }, BANKS))
        .refuses("there are bank conflicts",
            "conflict_free((32,32):(32,1), 32, 32:32, 32:1)"),
    row("best_swizzle", "layout, element bits, threads and values, …", 3..=MANY,
        "the layout under the swizzle with the fewest bank conflicts",
        "best_swizzle((32,32):(32,1), 32, 32:32, 32:1)",
        Numbers(|args, _| {
            let (tile, patterns) = (args.layout(0)?, args.layouts(2)?);
            let best = best_swizzle(&tile, args.number(1)?, &patterns)?;
            Ok(Value::simplest(ComposedLayout::new(best.swizzle, 0, tile)?))
        }, BANKS))
        .refuses("an access is outside of the tile",
            "best_swizzle(64:1, 32, 32:4)"),
    row("xor_map", "columns[, value]", 1..=2,
        "the map of bits that starts from a value, or 0, and exclusive-ors one column for each bit of the coordinate that is set",
        "xor_map((1,2,4,9))",
        Numbers(|args, _| maps::xor_map(args), "a column is exclusive-ored bit by bit"))
        .refuses("a column is negative or too large, or there are more than 62",
            "xor_map((1,-1))"),
    row("conflict_free_map", "layout, element bits, threads and values, …", 3..=MANY,
        "a map of bits without bank conflicts; for each pattern, accesses of the busiest bank with the map and without it",
        "conflict_free_map((32,32):(32,1), 32, 32:32, 32:1)",
        Numbers(|args, _| maps::conflict_free(args), BANKS))
        .refuses("an access is outside of the tile",
            "conflict_free_map(64:1, 32, 32:4)")
        .gives(&["map", "conflicts with it", "conflicts without it"]),
];
