//! Operations that compare, and that require a property.

use crate::analysis::property::Property;
use crate::coordinate::{compatible_in, congruent, evenly_divides_in, weakly_congruent};
use crate::operations::operation::Run::Both;
use crate::operations::operation::{Operation, row};

#[rustfmt::skip] // Rows are easier to compare.
pub(super) const OPERATIONS: &[Operation] = &[
    row("congruent", "shape, shape", 2..=2,
        "true if both shapes are nested in the same way",
        "congruent((2,(3,4)), (5,(6,7)))",
        both!(|args, _| Ok(congruent(&args.shape(0)?, &args.shape(1)?).into()))),
    row("weakly_congruent", "shape, shape", 2..=2,
        "true if the first shape is the second with some subtrees replaced by integers",
        "weakly_congruent((6,12), (6,(3,4)))",
        both!(|args, _| Ok(weakly_congruent(&args.shape(0)?, &args.shape(1)?).into()))),
    row("compatible", "shape, shape", 2..=2,
        "true if every coordinate of the first shape is one of the second",
        "compatible((4,6), (4,(2,3)))",
        both!(|args, _| { let (a, b) = (args.shape(0)?, args.shape(1)?); Ok(compatible_in(args.d, &a, &b)?.into()) })),
    row("evenly_divides", "shape, shape", 2..=2,
        "true if each mode of the second shape divides that of the first",
        "evenly_divides((8,12), (4,5))",
        both!(|args, _| {
            let (shape, tiler) = (args.shape(0)?, args.tiler(1)?);
            Ok(evenly_divides_in(args.d, &shape, &tiler)?.into())
        })),
    row("equal", "layout | tuple, layout | tuple", 2..=2,
        "true if two layouts are the same function of the 1-D coordinate, or two tuples are the same",
        "equal((2,(3,4)):(1,(2,6)), 24:1)",
        Both(|args, _| Ok(args.equal()?.into()), |args, _| Ok(args.equal()?.into()))),
    row("is_injective", "layout", 1..=1,
        "true if no two coordinates have the same value",
        "is_injective((4,3):(1,2))",
        both!(|args, _| Ok(args.has(Property::Injective)?.into()))),
    row("is_bijective", "layout", 1..=1,
        "true if the values are 0, 1, …, size - 1, each once",
        "is_bijective((4,3):(3,1))",
        both!(|args, _| Ok(args.has(Property::Bijective)?.into()))),
    row("is_dense", "layout", 1..=1,
        "true if every value from the smallest to the largest occurs",
        "is_dense((4,3):(1,2))",
        both!(|args, _| Ok(args.has(Property::Dense)?.into()))),
    row("injective", "layout", 1..=1,
        "the layout itself, which is then known to be injective",
        "injective((4,3):(1,5))",
        both!(|args, _| args.required(Property::Injective)))
        .refuses("two coordinates have the same value",
            "injective((4,3):(1,2))"),
    row("bijective", "layout", 1..=1,
        "the layout itself, which is then known to be bijective",
        "bijective((4,3):(3,1))",
        both!(|args, _| args.required(Property::Bijective)))
        .refuses("the values are not 0, 1, …, size - 1, each once",
            "bijective((4,3):(1,5))"),
    row("dense", "layout", 1..=1,
        "the layout itself, which is then known to be dense",
        "dense((4,3):(1,2))",
        both!(|args, _| args.required(Property::Dense)))
        .refuses("a value between the smallest and the largest does not occur",
            "dense((4,3):(1,5))"),
];
