//! The rows of the table of operations.

use super::Operations;
use super::args::Inverse;
use super::hopper::{SIDES, refused, shifted};
use super::maps;
use super::operation::Operation;
use super::operation::Run::{self, Both, Numbers};
use crate::alignment::{
    alignment_in, domain_distribute_in, max_alignment_in, max_common_layout_in,
    max_common_vector_in, vector_width_in,
};
use crate::analysis::property::Property;
use crate::coalesce::{by_profile, coalesce, coalesce_by, filter_zeros_in};
use crate::complement::{complement_in, holes};
use crate::composed::ComposedLayout;
use crate::composed::{Swizzling, not_a_swizzle};
use crate::composition::compose_by;
use crate::construct::{
    compact_left, compact_right, fragment_like, identity, layout_like, ordered,
};
use crate::coordinate::{
    compatible_in, congruent, coshape_in, cosize_in, crd2crd_in, crd2idx_in, evenly_divides_in,
    idx2crd_in, idx2crd_stride_in, weakly_congruent,
};
use crate::divide::{Form, divide};
use crate::domain::overflow;
use crate::error::{ErrorKind, LayoutError, Place};
use crate::extension::extension_in;
use crate::from_table::admitting;
use crate::hopper::atoms::{CopySide, MmaOperand, smem_atom, smem_tile_to_shape};
use crate::hopper::ldmatrix::matrix_operand;
use crate::hopper::swizzles::best_swizzle;
use crate::hopper::tensor_map::tensor_map;
use crate::hopper::wgmma::{Major, wgmma_operand};
use crate::inverse::{left_inverse_in, nullspace_in, right_inverse_in};
use crate::layout::Layout;
use crate::local::{in_tiles, thread_coordinate, thread_tiler, tile_coordinate, tiles_in};
use crate::overhang::Overhang;
use crate::product::{Order, Product, product_by, ranked_product};
use crate::recast::{Cast, recast_factor};
use crate::regroup;
use crate::shape_div::{elementwise, from_the_left, remaining};
use crate::slice::{pick, slice_in};
use crate::sort::sort_in;
use crate::tile_to_shape::tile;
use crate::tuple::{IntTuple, Tuple};
use crate::value::Value;
use alloc::format;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::RangeInclusive;

const OPERANDS: [MmaOperand; 3] = [MmaOperand::A, MmaOperand::B, MmaOperand::C];

/// The upper end of the range of counts for an operand that may be repeated.
const MANY: usize = usize::MAX;

const TABLE: &str = "the layouts of a hardware operation are tables of numbers";
const BANKS: &str = "bank conflicts are counted address by address";
const FORMAT: &str = "the fields of a descriptor are numbers";

/// Compiles one closure for numbers and for run-time integers.
macro_rules! both {
    ($run:expr) => {
        Both($run, $run)
    };
}

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

/// The code of a product.
macro_rules! product {
    ($product:expr) => {
        both!(|args, _| {
            if let Some(product) = args.product_of_bits($product)? {
                return Ok(product);
            }
            match $product {
                Product::By(form) => {
                    let tiler = args.tiler(1)?;
                    args.map(|d, a| product_by(d, a, &tiler, form))
                }
                Product::Ranked(order) => {
                    let b = args.layout(1)?;
                    args.map(|d, a| ranked_product(d, a, &b, order))
                }
            }
        })
    };
}

const fn row(
    name: &'static str,
    signature: &'static str,
    counts: RangeInclusive<usize>,
    doc: &'static str,
    example: &'static str,
    run: Run,
) -> Operation {
    Operation {
        name,
        signature,
        counts,
        doc,
        example,
        results: &[],
        ragged: false,
        run,
    }
}

const fn ragged_row(
    name: &'static str,
    signature: &'static str,
    counts: RangeInclusive<usize>,
    doc: &'static str,
    example: &'static str,
    run: Run,
) -> Operation {
    Operation {
        name,
        signature,
        counts,
        doc,
        example,
        results: &[],
        ragged: true,
        run,
    }
}

/// `A o B`, of which `with_shape` is a case.
#[rustfmt::skip]
const COMPOSITION: Operation = ragged_row("composition", "A, B", 2..=2, "A(B(c))",
    "(6,2):(8,2) o (4,3):(3,1)",
    both!(|args, overhang| {
        if let Some(composed) = args.composition_of_bits()? {
            return Ok(composed);
        }
        match args.get(0)? {
            Value::Swizzle(a) => Ok(Value::simplest(ComposedLayout::new(*a, 0.into(), args.layout(1)?)?)),
            _ => { let tiler = args.tiler(1)?; args.map(|d, a| compose_by(d, a, &tiler, overhang)) }
        }
    }));

/// All operations.
#[rustfmt::skip] // Rows on one line are easier to compare.
pub static OPERATIONS: &[Operation] = &[
    // Layouts from shapes, from layouts, and from values.
    row("make_layout_left", "shape", 1..=1, "the compact layout in which the leftmost mode varies fastest",
        "make_layout_left((2,(3,4)))",
        both!(|args, _| { let shape = args.shape(0)?; Ok(compact_left(args.d, &shape)?.into()) })),
    row("make_layout_right", "shape", 1..=1, "the compact layout in which the rightmost mode varies fastest",
        "make_layout_right((2,(3,4)))",
        both!(|args, _| { let shape = args.shape(0)?; Ok(compact_right(args.d, &shape)?.into()) })),
    row("make_ordered_layout", "shape, order", 2..=2, "the compact layout whose modes vary fastest in that order",
        "make_ordered_layout((2,3,4), (1,2,0))",
        both!(|args, _| {
            let (shape, order) = (args.shape(0)?, args.order(1)?.unwrap_or(Tuple::Leaf(0)));
            Ok(ordered(args.d, &shape, &order)?.into())
        })),
    row("make_identity_layout", "shape", 1..=1, "the layout that maps each coordinate to itself",
        "make_identity_layout((4,(2,3)))",
        both!(|args, _| { let shape = args.shape(0)?; Ok(identity(args.d, &shape)?.into()) })),
    row("make_layout_like", "layout", 1..=1, "the compact layout with the same shape and the same order of strides",
        "make_layout_like((4,6):(12,2))",
        both!(|args, _| { let a = args.inner(0)?; Ok(layout_like(args.d, &a)?.into()) })),
    row("make_fragment_like", "layout", 1..=1, "the same, but the first mode varies fastest",
        "make_fragment_like((4,2,3):(6,1,2))",
        both!(|args, _| { let a = args.inner(0)?; Ok(fragment_like(args.d, &a)?.into()) })),
    row("concat", "layout, …", 1..=MANY, "the layouts as modes of one",
        "concat(4:2, (2,3):(1,8))",
        both!(|args, _| {
            let modes: Result<Vec<_>, _> = (0..args.count()).map(|i| args.layout(i)).collect();
            Ok(Layout::concat(modes?)?.into())
        })),
    ragged_row("from_table", "integer, …", 1..=MANY, "the layout with these values; ragged, the one that begins with them",
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
        }, "a layout is recovered from values")),
    // Queries.
    row("shape", "layout", 1..=1, "the extents of the layout",
        "shape((4,(2,3)):(1,(12,4)))",
        both!(|args, _| Ok(args.domain(0)?.into()))),
    row("stride", "layout", 1..=1, "the strides of the layout",
        "stride((4,8):row)",
        both!(|args, _| Ok(args.inner(0)?.stride().clone().into()))),
    row("size", "layout", 1..=1, "the number of coordinates",
        "size((4,(2,3)):(0,(1,2)))",
        both!(|args, _| Ok(Tuple::Leaf(args.domain(0)?.product().ok_or_else(overflow)?).into()))),
    row("cosize", "layout", 1..=1, "the span of the values: one more than the sum of (extent - 1) * |stride|",
        "cosize((4,8):(10,1))",
        both!(|args, _| Ok(Value::Int(match args.get(0)? {
            Value::Composed(swizzled) => swizzled.cosize_in(args.d)?,
            _ => { let a = args.layout(0)?; cosize_in(args.d, &a)? }
        })))),
    row("cosize_bound", "layout", 1..=1, "an upper bound of the span: the end of the block inside which a swizzle moves values",
        "cosize_bound(Sw<2,0,3> o (3,8):(8,1))",
        both!(|args, _| Ok(Value::Int(match args.get(0)? {
            Value::Composed(swizzled) => swizzled.cosize_bound_in(args.d)?,
            _ => { let a = args.layout(0)?; cosize_in(args.d, &a)? }
        })))),
    row("coshape", "layout", 1..=1, "the span of the values along each coordinate",
        "coshape((4,8):(1@0,2@1))",
        both!(|args, _| { let a = args.layout(0)?; Ok(Value::of_sums(coshape_in(args.d, &a)?)) })),
    row("rank", "layout", 1..=1, "the number of top-level modes",
        "rank((2,(3,4)))",
        both!(|args, _| Ok((args.domain(0)?.rank() as i64).into()))),
    row("depth", "layout", 1..=1, "how deep the shape is nested",
        "depth((2,(3,(4,5))))",
        both!(|args, _| Ok((args.domain(0)?.depth() as i64).into()))),
    ragged_row("crd2idx", "coordinate, layout | shape[, stride]", 2..=3, "the value at a coordinate",
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
        })),
    ragged_row("idx2crd", "coordinate, shape[, stride]", 2..=3,
        "the natural coordinate; with a stride, the coordinate at which a compact layout has that value",
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
        })))),
    ragged_row("crd2crd", "coordinate, shape, shape", 3..=3, "the same 1-D coordinate in another shape",
        "crd2crd((1,5), (3,6), (3,(2,3)))",
        both!(|args, overhang| {
            let (coord, source, target) = (args.point(0)?, args.shape(1)?, args.shape(2)?);
            Ok(Value::of_sums(crd2crd_in(args.d, &coord, &source, &target, overhang)?))
        })),
    row("congruent", "shape, shape", 2..=2, "whether both are nested in the same way",
        "congruent((2,(3,4)), (5,(6,7)))",
        both!(|args, _| Ok(congruent(&args.shape(0)?, &args.shape(1)?).into()))),
    row("weakly_congruent", "shape, shape", 2..=2, "whether the first is the second with some subtrees replaced by leaves",
        "weakly_congruent((6,12), (6,(3,4)))",
        both!(|args, _| Ok(weakly_congruent(&args.shape(0)?, &args.shape(1)?).into()))),
    row("compatible", "shape, shape", 2..=2, "whether every coordinate of the first is one of the second",
        "compatible((4,6), (4,(2,3)))",
        both!(|args, _| { let (a, b) = (args.shape(0)?, args.shape(1)?); Ok(compatible_in(args.d, &a, &b)?.into()) })),
    row("evenly_divides", "shape, shape", 2..=2, "whether each mode of the second divides that of the first",
        "evenly_divides((8,12), (4,5))",
        both!(|args, _| {
            let (shape, tiler) = (args.shape(0)?, args.tiler(1)?);
            Ok(evenly_divides_in(args.d, &shape, &tiler)?.into())
        })),
    row("equal", "layout | tuple, layout | tuple", 2..=2, "whether layouts are the same function, or tuples are the same",
        "equal((2,(3,4)):(1,(2,6)), 24:1)",
        Both(|args, _| Ok(args.equal()?.into()), |args, _| Ok(args.equal()?.into()))),
    row("is_integral", "layout | tuple", 1..=1, "whether it is an integer, or a layout whose values are integers",
        "is_integral((4,8):(1@0,1@1))",
        both!(|args, _| Ok(match args.get(0)? {
            Value::Int(_) | Value::Composed(_) => true,
            Value::Layout(a) => a.is_integral(),
            _ => false,
        }.into()))),
    // Shapes divided.
    row("shape_div", "shape, divisor[, CEIL | FLOOR | EXACT]", 2..=3,
        "the shape that is left without the first elements, as many as the divisor, mode by mode for a tuple of divisors; with a rounding, each extent divided",
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
        })),
    row("shape_mod", "shape, integer", 2..=2, "the shape of the first elements, as many as the integer",
        "shape_mod((3,6,2,8), 9)",
        both!(|args, _| {
            let (shape, count) = (args.shape(0)?, args.factor(1)?);
            Ok(from_the_left(args.d, &shape, &count)?.first.into())
        })),
    // Regrouping.
    row("sort", "layout", 1..=1, "the leaves in ascending order of their strides",
        "sort((4,(2,3)):(6,(1,2)))",
        both!(|args, _| args.map(sort_in))),
    row("extension", "layout, size", 2..=2, "the layout extended to that size by its last mode",
        "extension((2,5):(1,4), 14)",
        both!(|args, _| { let size = args.product(1)?; args.map(|d, a| extension_in(d, a, &size)) })),
    row("get", "layout | tuple, mode, …", 2..=MANY, "the mode at a path; of a tuple, the element",
        "get((2,(3,4)):(1,(2,6)), 1, 0)",
        both!(|args, _| {
            let path = args.numbers(1)?;
            match args.get(0)? {
                Value::Int(_) | Value::Tuple(_) => Ok(Value::of_sums(regroup::element(&args.tuple(0)?, &path)?)),
                Value::Coord(coord) => Ok(Value::of_coord(regroup::element(coord, &path)?)),
                Value::Stride(stride) => Ok(regroup::element(stride, &path)?.into()),
                _ => args.map(|_, a| regroup::get(a, &path)),
            }
        })),
    row("select", "layout, mode, …", 2..=MANY, "the listed modes",
        "select((2,3,5,7):(1,2,6,30), 3, 1)",
        both!(|args, _| { let modes = args.numbers(1)?; args.map(|_, a| regroup::select(a, &modes)) })),
    row("take", "layout, begin, end", 3..=3, "the modes from begin up to, but not including, end",
        "take((2,3,5,7):(1,2,6,30), 1, 3)",
        both!(|args, _| { let (begin, end) = (args.number(1)?, args.number(2)?); args.map(|_, a| regroup::take(a, begin, end)) })),
    row("group", "layout, begin, end", 3..=3, "the same layout with those modes grouped to one",
        "group((2,3,5,7):(1,2,6,30), 0, 2)",
        both!(|args, _| { let (begin, end) = (args.number(1)?, args.number(2)?); args.map(|_, a| regroup::group(a, begin, end)) })),
    row("flatten", "layout", 1..=1, "all leaves as top-level modes",
        "flatten((2,(3,(4,5))):(1,(2,(6,24))))",
        both!(|args, _| args.map(|_, a| Ok(regroup::flatten(a))))),
    row("unflatten", "layout, profile", 2..=2, "the leaves nested like the profile",
        "unflatten((2,3,4):(1,2,6), (0,(0,0)))",
        both!(|args, _| { let profile = args.profile(1)?; args.map(|_, a| regroup::unflatten(a, &profile)) })),
    row("append", "layout, layout | rank[, layout]", 2..=3, "modes added at the end",
        "append(3:1, 4:3)",
        both!(|args, _| match args.rank(1)? {
            Some(rank) => { let mode = args.optional_layout(2)?; args.map(|_, a| regroup::append_to_rank(a, rank, &mode)) }
            None => { let mode = args.layout(1)?; args.map(|_, a| regroup::append(a, &mode)) }
        })),
    row("prepend", "layout, layout | rank[, layout]", 2..=3, "modes added at the beginning",
        "prepend(3:1, 4:3)",
        both!(|args, _| match args.rank(1)? {
            Some(rank) => { let mode = args.optional_layout(2)?; args.map(|_, a| regroup::prepend_to_rank(a, rank, &mode)) }
            None => { let mode = args.layout(1)?; args.map(|_, a| regroup::prepend(a, &mode)) }
        })),
    row("replace", "layout, mode, layout", 3..=3, "one mode replaced",
        "replace((2,3,5):(1,2,6), 1, 4:8)",
        both!(|args, _| { let (i, mode) = (args.number(1)?, args.layout(2)?); args.map(|_, a| regroup::replace(a, i, &mode)) })),
    row("zip", "layout[, layout]", 1..=2, "((a0, b0), (a1, b1), …)",
        "zip((2,3):(1,2), (4,5):(6,24))",
        both!(|args, _| match args.count() {
            1 => args.map(|_, a| regroup::transpose_modes(a)),
            _ => Ok(regroup::zip(&args.layout(0)?, &args.layout(1)?)?.into()),
        })),
    row("unzip", "layout", 1..=1, "((a0, a1, …), (b0, b1, …)) of ((a0, b0), (a1, b1), …)",
        "unzip(((2,4),(3,5)):((1,6),(2,24)))",
        both!(|args, _| args.map(|_, a| regroup::transpose_modes(a)))),
    row("slice", "layout, coordinate", 2..=2, "the modes where the coordinate has `_`; for a swizzled layout, with the offset of the coordinate",
        "slice((4,(2,3)):(1,(12,4)), (_,(1,_)))",
        both!(|args, _| {
            let coord = args.coord(1)?;
            match args.get(0)? {
                Value::Composed(swizzled) => Ok(swizzled.slice_in(args.d, &coord)?.into()),
                _ => { let a = args.layout(0)?; Ok(slice_in(args.d, &a, &coord)?.0.into()) }
            }
        })),
    row("slice_and_offset", "layout, coordinate", 2..=2, "the same, and the offset at which it begins",
        "slice_and_offset((4,(2,3)):(1,(12,4)), (_,(1,_)))",
        both!(|args, _| match args.get(0)? {
            Value::Composed(swizzled) => args.slice_and_offset(swizzled),
            _ => {
                let (a, coord) = (args.layout(0)?, args.coord(1)?);
                let (sliced, offset) = slice_in(args.d, &a, &coord)?;
                Ok(vec![sliced.into(), Value::of_sums(offset)].into())
            }
        }))
        .gives(&["layout", "offset"]),
    row("dice", "layout, coordinate", 2..=2, "the modes where the coordinate has an integer",
        "dice((4,(2,3)):(1,(12,4)), (_,(1,_)))",
        both!(|args, _| { let coord = args.coord(1)?; args.map(|d, a| pick(d, a, &coord, false)) })),
    // The algebra.
    row("coalesce", "layout[, profile]", 1..=2, "the same function with the fewest modes",
        "coalesce((2,(1,6)):(1,(6,2)))",
        both!(|args, _| match args.count() {
            1 => args.map(|_, a| Ok(coalesce(a))),
            _ => { let profile = args.profile(1)?; args.map(|_, a| coalesce_by(a, &profile)) }
        })),
    row("filter", "layout[, profile]", 1..=2, "the layout without modes of stride 0, coalesced",
        "filter((2,(4,3)):(1,(0,2)))",
        both!(|args, _| match args.count() {
            1 => args.map(|d, a| Ok(coalesce(&filter_zeros_in(d, a)?))),
            _ => {
                let profile = args.profile(1)?;
                args.map(|d, a| by_profile(a, &profile, &mut |part| Ok(coalesce(&filter_zeros_in(d, part)?))))
            }
        })),
    row("filter_zeros", "layout", 1..=1, "the same layout with extent 1 wherever the stride is 0",
        "filter_zeros((2,(4,3)):(1,(0,2)))",
        both!(|args, _| args.map(|d, a| filter_zeros_in(d, a)))),
    COMPOSITION,
    ragged_row("with_shape", "layout, shape", 2..=2, "A(B(c)) for the compact layout B of the shape, in which the leftmost mode varies fastest",
        "with_shape((4,8):(8,1), (8,4))",
        both!(|args, overhang| {
            let b = match args.get(1)? {
                swizzled @ Value::Composed(_) => swizzled.clone(),
                _ => args.layout(1)?.into(),
            };
            let operands = [args.get(0)?.clone(), b];
            args.d.apply(&COMPOSITION, &operands, overhang == Overhang::Ragged)
        })),
    ragged_row("complement", "layout[, target]", 1..=2, "the ordered layout that fills the target together with the layout; strides 0 are left out",
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
        })),
    row("right_inverse", "layout", 1..=1, "R with A(R(i)) = i",
        "right_inverse((4,8):(8,1))",
        both!(|args, _| match args.inverse_of_bits(Inverse::Right)? {
            Some(inverse) => Ok(inverse),
            None => { let a = args.layout(0)?; Ok(right_inverse_in(args.d, &a)?.into()) }
        })),
    row("left_inverse", "layout", 1..=1, "L with L(A(i)) = i",
        "left_inverse((4,8):(1,5))",
        both!(|args, _| match args.inverse_of_bits(Inverse::Left)? {
            Some(inverse) => Ok(inverse),
            None => { let a = args.layout(0)?; Ok(left_inverse_in(args.d, &a)?.into()) }
        })),
    row("nullspace", "layout", 1..=1, "N with A(N(i)) = 0, for the modes of stride 0",
        "nullspace((2,4,3):(0,1,0))",
        both!(|args, _| { let a = args.with_the_same_zeros(0)?; Ok(nullspace_in(args.d, &a)?.into()) })),
    row("max_common_layout", "layout, layout", 2..=2, "the largest C with A(C(i)) = B(C(i)) = i",
        "max_common_layout((4,8):(1,4), (4,8):(1,8))",
        both!(|args, _| { let (a, b) = (args.composed(0)?, args.composed(1)?); Ok(max_common_layout_in(args.d, &a, &b)?.into()) })),
    row("max_common_vector", "layout, layout", 2..=2, "the size of their max_common_layout",
        "max_common_vector((4,8):(1,4), (4,8):(1,8))",
        both!(|args, _| {
            let (a, b) = (args.composed(0)?, args.composed(1)?);
            Ok(Tuple::Leaf(max_common_vector_in(args.d, &a, &b)?).into())
        })),
    row("max_alignment", "layout", 1..=1, "how many elements are contiguous and aligned",
        "max_alignment((4,8):(1,8))",
        both!(|args, _| { let a = args.composed(0)?; Ok(Tuple::Leaf(max_alignment_in(args.d, &a)?).into()) })),
    row("domain_distribute", "shape, integer", 2..=2, "a layout of that size, spread over the extents of the shape from left to right",
        "domain_distribute((15,14), 6)",
        both!(|args, _| {
            let (shape, count) = (args.shape(0)?, args.factor(1)?);
            Ok(domain_distribute_in(args.d, &shape, &count)?.into())
        })),
    ragged_row("logical_divide", "layout, tiler", 2..=2, "((tile, rest), …)",
        "logical_divide((8,12):(12,1), <4,3>)",
        division!(Form::Logical)),
    ragged_row("zipped_divide", "layout, tiler", 2..=2, "((tile, …), (rest, …))",
        "zipped_divide((8,12):(12,1), <4,3>)",
        division!(Form::Zipped)),
    ragged_row("tiled_divide", "layout, tiler", 2..=2, "((tile, …), rest, …)",
        "tiled_divide((8,12):(12,1), <4,3>)",
        division!(Form::Tiled)),
    ragged_row("flat_divide", "layout, tiler", 2..=2, "(tile, …, rest, …)",
        "flat_divide((8,12):(12,1), <4,3>)",
        division!(Form::Flat)),
    ragged_row("local_tile", "layout, tiler, coordinate", 3..=3, "the tile at a coordinate of tiles, with further modes where it has `_`, and the value where it begins",
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
        })).gives(&["layout", "offset"]),
    ragged_row("local_partition", "layout, threads, thread", 3..=3, "what a thread has of a layout over which the threads are repeated, and the value where it begins",
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
        })).gives(&["layout", "offset"]),
    row("logical_product", "layout, tiler", 2..=2, "((layout, copies), …)",
        "logical_product((2,5):(5,1), <3:5,4:6>)",
        product!(Product::By(Form::Logical))),
    row("zipped_product", "layout, tiler", 2..=2, "((layout, …), (copies, …))",
        "zipped_product((2,5):(5,1), <3:5,4:6>)",
        product!(Product::By(Form::Zipped))),
    row("tiled_product", "layout, tiler", 2..=2, "((layout, …), copies, …)",
        "tiled_product((2,5):(5,1), <3:5,4:6>)",
        product!(Product::By(Form::Tiled))),
    row("flat_product", "layout, tiler", 2..=2, "(layout, …, copies, …)",
        "flat_product((2,5):(5,1), <3:5,4:6>)",
        product!(Product::By(Form::Flat))),
    row("blocked_product", "layout, layout", 2..=2, "((A0, B0), …), blocks together",
        "blocked_product((2,5):(5,1), (3,4):(1,3))",
        product!(Product::Ranked(Order::Blocked))),
    row("raked_product", "layout, layout", 2..=2, "((B0, A0), …), blocks apart",
        "raked_product((2,5):(5,1), (3,4):(1,3))",
        product!(Product::Ranked(Order::Raked))),
    ragged_row("tile_to_shape", "layout, shape[, order]", 2..=3, "the block repeated over a shape",
        "tile_to_shape((2,2):(2,1), (4,6))",
        both!(|args, overhang| {
            let (shape, order) = (args.shape(1)?, args.order(2)?);
            args.map(|d, a| tile(d, a, &shape, order.as_ref(), overhang))
        })),
    // Elements of other sizes.
    ragged_row("upcast", "layout, integer", 2..=2, "the layout in units of that many elements",
        "upcast((8,4):(1,8), 4)",
        both!(|args, overhang| { let factor = args.factor(1)?; args.cast(Cast::Up(factor), overhang) })),
    row("downcast", "layout, integer", 2..=2, "the layout in units of an element split into that many parts",
        "downcast((2,4):(1,2), 4)",
        both!(|args, overhang| { let factor = args.factor(1)?; args.cast(Cast::Down(factor), overhang) })),
    ragged_row("recast", "layout, old bits, new bits", 3..=3, "the layout in elements of another size",
        "recast((8,4):(1,8), 8, 16)",
        both!(|args, overhang| { let cast = recast_factor(args.number(1)?, args.number(2)?)?; args.cast(cast.lift(), overhang) })),
    // Properties of a layout.
    row("is_injective", "layout", 1..=1, "whether no two coordinates have the same value",
        "is_injective((4,3):(1,2))",
        both!(|args, _| Ok(args.has(Property::Injective)?.into()))),
    row("is_bijective", "layout", 1..=1, "whether the values are 0, 1, …, size - 1, each once",
        "is_bijective((4,3):(3,1))",
        both!(|args, _| Ok(args.has(Property::Bijective)?.into()))),
    row("is_dense", "layout", 1..=1, "whether every value from the smallest to the largest occurs",
        "is_dense((4,3):(1,2))",
        both!(|args, _| Ok(args.has(Property::Dense)?.into()))),
    row("injective", "layout", 1..=1, "the layout; an error with a witness if it is not injective",
        "injective((4,3):(1,5))",
        both!(|args, _| args.required(Property::Injective))),
    row("bijective", "layout", 1..=1, "the layout; an error with a witness if it is not bijective",
        "bijective((4,3):(3,1))",
        both!(|args, _| args.required(Property::Bijective))),
    row("dense", "layout", 1..=1, "the layout; an error with a witness if it is not dense",
        "dense((4,3):(1,2))",
        both!(|args, _| args.required(Property::Dense))),
    row("vector_width", "layout", 1..=1, "how many elements are contiguous and aligned along the 1-D coordinate",
        "vector_width(Sw<3,3,3> o (64,8):(1,64))",
        both!(|args, _| {
            let a = args.composed(0)?;
            let width = vector_width_in(args.d, a.layout())?;
            Ok(Tuple::Leaf(a.whole(args.d, &width)?).into())
        })),
    row("alignment", "layout", 1..=1, "the largest number that divides all values",
        "alignment((4,8):(12,16))",
        both!(|args, _| {
            let a = args.composed(0)?;
            let alignment = alignment_in(args.d, a.layout())?;
            Ok(Tuple::Leaf(a.whole(args.d, &alignment)?).into())
        })),
    row("index_form", "layout", 1..=1, "the cheapest arithmetic that computes the value at coordinate x",
        "index_form((4,(2,3)):(6,(1,2)))",
        Numbers(|args, _| {
            let form = args.layout(0)?.index_form().ok_or_else(|| args.wrong(0, "a layout of integers"))?;
            Ok(Value::Word(form.to_string()))
        }, "the cheapest form depends on which extents are powers of two")),
    // How the hardware accesses a layout.
    row("bank_conflicts", "tile, element bits, threads and values, …", 3..=MANY, "how often the busiest bank of shared memory is accessed at once; 1 means no conflict",
        "bank_conflicts((32,32):(32,1), 32, 32:1)",
        Numbers(|args, _| {
            let accesses = args.accesses()?;
            let worst = accesses.iter().map(|access| access.worst.degree).max().unwrap_or(0);
            Ok((worst as i64).into())
        }, BANKS)),
    row("conflict_free", "tile, element bits, threads and values, …", 3..=MANY, "the tile; an error with a witness if there are bank conflicts",
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
        }, BANKS)),
    row("xor_map", "columns[, value]", 1..=2, "the map of bits that starts from a value, or 0, and exclusive-ors one column for each bit of the coordinate that is set",
        "xor_map((1,2,4,9))",
        Numbers(|args, _| maps::xor_map(args), "a column is exclusive-ored bit by bit")),
    row("conflict_free_map", "layout, element bits, threads and values, …", 3..=MANY, "a map of bits without bank conflicts; for each pattern, accesses of the busiest bank with the map and without it",
        "conflict_free_map((32,32):(32,1), 32, 32:32, 32:1)",
        Numbers(|args, _| maps::conflict_free(args), BANKS))
        .gives(&["map", "conflicts with it", "conflicts without it"]),
    row("best_swizzle", "layout, element bits, threads and values, …", 3..=MANY, "the layout under the swizzle with the fewest bank conflicts",
        "best_swizzle((32,32):(32,1), 32, 32:32, 32:1)",
        Numbers(|args, _| {
            let (tile, patterns) = (args.layout(0)?, args.layouts(2)?);
            let best = best_swizzle(&tile, args.number(1)?, &patterns)?;
            Ok(Value::simplest(ComposedLayout::new(best.swizzle, 0, tile)?))
        }, BANKS)),
    row("wgmma_operand", "tile, element bits", 2..=2, "the fields of a wgmma descriptor: K or MN, swizzle, leading and stride byte offset; and where each instruction starts",
        "wgmma_operand(smem_atom(K, SW128, 16), 16)",
        Numbers(|args, _| {
            let operand = wgmma_operand(args.bits(1)?, &args.composed(0)?)
                .map_err(|error| refused(&error))?;
            let major = match operand.major {
                Major::K => "K",
                Major::MN => "MN",
            };
            Ok(vec![
                Value::Word(major.into()),
                Value::Word(operand.swizzle.name().into()),
                operand.leading.into(),
                operand.stride.into(),
                Value::integers(&operand.steps),
            ]
            .into())
        }, FORMAT))
        .gives(&["major", "swizzle", "leading byte offset", "stride byte offset", "starts of the instructions"]),
    row("matrix_operand", "tile, element bits", 2..=2, "for ldmatrix and stmatrix: whether transposed, how many matrices at once, where rows begin, bank conflicts",
        "matrix_operand(smem_atom(MN, SW64, 16), 16)",
        Numbers(|args, _| {
            let operand = matrix_operand(args.bits(1)?, &args.composed(0)?)
                .map_err(|error| refused(&error))?;
            let conflicts = operand.conflicts as i64;
            Ok(vec![operand.transposed.into(), operand.count.into(), Value::simplest(operand.rows), conflicts.into()].into())
        }, FORMAT))
        .gives(&["transposed", "matrices at once", "rows", "bank conflicts"]),
    row("tensor_map", "tile, tensor, element bits", 3..=3, "for TMA: order of the modes, extents, byte strides, box, swizzle, number of boxes",
        "tensor_map(smem_atom(K, SW128, 16), (4096,1000):(1000,1), 16)",
        Numbers(|args, _| {
            let map = tensor_map(args.bits(2)?, &args.composed(0)?, &args.layout(1)?)
                .map_err(|error| refused(&error))?;
            let order: Vec<i64> = map.order.iter().map(|&mode| mode as i64).collect();
            Ok(vec![
                Value::integers(&order),
                Value::integers(&map.extents),
                Value::integers(&map.strides),
                Value::integers(&map.box_extents),
                Value::Word(map.plan.swizzle.name().into()),
                (map.plan.pieces.len() as i64).into(),
            ]
            .into())
        }, FORMAT))
        .gives(&["order of the modes", "extents", "byte strides", "box", "swizzle", "boxes"]),
    // Layouts that the hardware prescribes.
    row("smem_atom", "K | MN, INTER | SW32 | SW64 | SW128, element bits", 3..=3, "a swizzled tile of shared memory",
        "smem_atom(K, SW128, 16)",
        Numbers(|args, _| Ok(Value::simplest(smem_atom(args.major(0)?, args.swizzle_mode(1)?, args.number(2)?)?)), TABLE)),
    row("smem_tile_to_shape", "K | MN, INTER | SW32 | SW64 | SW128, element bits, shape[, order]", 4..=5, "the same tile repeated over a shape",
        "smem_tile_to_shape(K, SW128, 16, (128,64))",
        Numbers(|args, _| {
            let order = args.order(4)?;
            let (major, mode, bits) = (args.major(0)?, args.swizzle_mode(1)?, args.number(2)?);
            Ok(Value::simplest(smem_tile_to_shape(
                major,
                mode,
                bits,
                &args.shape(3)?,
                order.as_ref(),
            )?))
        }, TABLE)),
    row("mma_atom", "operation, Shape_MNK | ThrID | ALayout | BLayout | CLayout", 2..=2, "the shape of an MMA operation, its threads, or a TV layout",
        "mma_atom(SM80_16x8x8_F32F16F16F32_TN, CLayout)",
        Numbers(|args, _| {
            let atom = args.mma_atom(0)?;
            Ok(match args.field(1, &["Shape_MNK", "ThrID", "ALayout", "BLayout", "CLayout"])? {
                0 => IntTuple::from(atom.shape_mnk()).into(),
                1 => atom.thr_id().into(),
                operand => atom.layout(OPERANDS[operand - 2]).into(),
            })
        }, TABLE)),
    row("copy_atom", "operation, ThrID | SrcLayout | DstLayout | RefLayout", 2..=2, "the threads of a copy operation, or a TV layout in bits",
        "copy_atom(SM75_U32x1_LDSM_N, SrcLayout)",
        Numbers(|args, _| {
            let atom = args.copy_atom(0)?;
            Ok(match args.field(1, &["ThrID", "SrcLayout", "DstLayout", "RefLayout"])? {
                0 => atom.thr_id().into(),
                side => atom.layout(SIDES[side - 1]).into(),
            })
        }, TABLE)),
    row("copy_atom_val", "operation, element bits, ValLayoutSrc | ValLayoutDst | ValLayoutRef", 3..=3, "a TV layout in elements",
        "copy_atom_val(SM75_U32x1_LDSM_N, 16, ValLayoutSrc)",
        Numbers(|args, _| {
            let atom = args.copy_atom(0)?.in_elements(args.number(1)?)?;
            let side = args.field(2, &["ValLayoutSrc", "ValLayoutDst", "ValLayoutRef"])?;
            Ok(atom.layout(SIDES[side]).into())
        }, TABLE)),
    row("tiled_mma", "operation, atom layout, permutation, ThrLayoutVMNK | layoutA_TV | layoutB_TV | layoutC_TV", 4..=4,
        "the operation over threads and a tile: its threads, or a TV layout",
        "tiled_mma(SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, layoutC_TV)",
        Numbers(|args, _| {
            let mma = args.tiled_mma(0)?;
            Ok(match args.field(3, &["ThrLayoutVMNK", "layoutA_TV", "layoutB_TV", "layoutC_TV"])? {
                0 => mma.thr_layout_vmnk().into(),
                operand => mma.layout_tv(OPERANDS[operand - 1])?.into(),
            })
        }, TABLE)),
    ragged_row("partition_A", "operation, atom layout, permutation, M x K layout, thread", 5..=5, "what a thread holds of A, and the value where it begins",
        "partition_A(SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (64,32):row, 1)",
        Numbers(|args, overhang| args.mma_partition(MmaOperand::A, overhang), TABLE))
        .gives(&["layout", "offset"]),
    ragged_row("partition_B", "operation, atom layout, permutation, N x K layout, thread", 5..=5, "what a thread holds of B, and the value where it begins",
        "partition_B(SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (64,32):row, 1)",
        Numbers(|args, overhang| args.mma_partition(MmaOperand::B, overhang), TABLE))
        .gives(&["layout", "offset"]),
    ragged_row("partition_C", "operation, atom layout, permutation, M x N layout, thread", 5..=5, "what a thread holds of C, and the value where it begins",
        "partition_C(SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (64,64):row, 1)",
        Numbers(|args, overhang| args.mma_partition(MmaOperand::C, overhang), TABLE))
        .gives(&["layout", "offset"]),
    row("partition_shape_A", "operation, atom layout, permutation, shape", 4..=4, "the shape of what a thread holds of A",
        "partition_shape_A(SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (64,32))",
        Numbers(|args, _| Ok(args.tiled_mma(0)?.partition_shape(MmaOperand::A, &args.shape(3)?)?.into()), TABLE)),
    row("partition_shape_B", "operation, atom layout, permutation, shape", 4..=4, "the shape of what a thread holds of B",
        "partition_shape_B(SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (64,32))",
        Numbers(|args, _| Ok(args.tiled_mma(0)?.partition_shape(MmaOperand::B, &args.shape(3)?)?.into()), TABLE)),
    row("partition_shape_C", "operation, atom layout, permutation, shape", 4..=4, "the shape of what a thread holds of C",
        "partition_shape_C(SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (64,64))",
        Numbers(|args, _| Ok(args.tiled_mma(0)?.partition_shape(MmaOperand::C, &args.shape(3)?)?.into()), TABLE)),
    row("tiled_copy", "operation, element bits, threads, values, TiledLayout_TV | Tiler_MN | layoutS_TV | layoutD_TV", 5..=5,
        "the copy over threads and their values: its tile, or a TV layout",
        "tiled_copy(UniversalCopy<u128>, 16, (4,8):row, (1,8), TiledLayout_TV)",
        Numbers(|args, _| { let copy = args.tiled_copy(0)?; args.tiled_copy_field(&copy, 4) }, TABLE)),
    ragged_row("partition_S", "operation, element bits, threads, values, layout, thread", 6..=6, "what a thread reads, and the value where it begins",
        "partition_S(UniversalCopy<u128>, 16, (4,8):row, (1,8), (8,64):row, 9)",
        Numbers(|args, overhang| { let copy = args.tiled_copy(0)?; args.copy_partition(&copy, CopySide::Src, 4, overhang) }, TABLE))
        .gives(&["layout", "offset"]),
    ragged_row("partition_D", "operation, element bits, threads, values, layout, thread", 6..=6, "what a thread writes, and the value where it begins",
        "partition_D(UniversalCopy<u128>, 16, (4,8):row, (1,8), Sw<3,3,3> o (8,64):row, 9)",
        Numbers(|args, overhang| { let copy = args.tiled_copy(0)?; args.copy_partition(&copy, CopySide::Dst, 4, overhang) }, TABLE))
        .gives(&["layout", "offset"]),
    row("tiled_copy_A", "copy, element bits, operation, atom layout, permutation, TiledLayout_TV | Tiler_MN | layoutS_TV | layoutD_TV", 6..=6,
        "the copy over the threads and values of A: its tile, or a TV layout",
        "tiled_copy_A(SM75_U32x2_LDSM_N, 16, SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, layoutS_TV)",
        Numbers(|args, _| { let copy = args.copy_for(MmaOperand::A)?; args.tiled_copy_field(&copy, 5) }, TABLE)),
    row("tiled_copy_B", "copy, element bits, operation, atom layout, permutation, TiledLayout_TV | Tiler_MN | layoutS_TV | layoutD_TV", 6..=6,
        "the copy over the threads and values of B: its tile, or a TV layout",
        "tiled_copy_B(SM75_U32x1_LDSM_N, 16, SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, layoutS_TV)",
        Numbers(|args, _| { let copy = args.copy_for(MmaOperand::B)?; args.tiled_copy_field(&copy, 5) }, TABLE)),
    row("tiled_copy_C", "copy, element bits, operation, atom layout, permutation, TiledLayout_TV | Tiler_MN | layoutS_TV | layoutD_TV", 6..=6,
        "the copy over the threads and values of C: its tile, or a TV layout",
        "tiled_copy_C(UniversalCopy<u64>, 32, SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, Tiler_MN)",
        Numbers(|args, _| { let copy = args.copy_for(MmaOperand::C)?; args.tiled_copy_field(&copy, 5) }, TABLE)),
    ragged_row("partition_S_of_copy_A", "copy, element bits, operation, atom layout, permutation, layout, thread", 7..=7,
        "what a thread reads in that copy, and the value where it begins",
        "partition_S_of_copy_A(SM75_U32x2_LDSM_N, 16, SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (64,32):row, 1)",
        Numbers(|args, overhang| { let copy = args.copy_for(MmaOperand::A)?; args.copy_partition(&copy, CopySide::Src, 5, overhang) }, TABLE))
        .gives(&["layout", "offset"]),
    ragged_row("partition_S_of_copy_B", "copy, element bits, operation, atom layout, permutation, layout, thread", 7..=7,
        "what a thread reads in that copy, and the value where it begins",
        "partition_S_of_copy_B(SM75_U32x1_LDSM_N, 16, SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (64,32):row, 1)",
        Numbers(|args, overhang| { let copy = args.copy_for(MmaOperand::B)?; args.copy_partition(&copy, CopySide::Src, 5, overhang) }, TABLE))
        .gives(&["layout", "offset"]),
    ragged_row("partition_S_of_copy_C", "copy, element bits, operation, atom layout, permutation, layout, thread", 7..=7,
        "what a thread reads in that copy, and the value where it begins",
        "partition_S_of_copy_C(UniversalCopy<u64>, 32, SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (64,64):row, 1)",
        Numbers(|args, overhang| { let copy = args.copy_for(MmaOperand::C)?; args.copy_partition(&copy, CopySide::Src, 5, overhang) }, TABLE))
        .gives(&["layout", "offset"]),
    ragged_row("partition_D_of_copy_A", "copy, element bits, operation, atom layout, permutation, layout, thread", 7..=7,
        "what a thread writes in that copy, and the value where it begins",
        "partition_D_of_copy_A(SM75_U32x2_LDSM_N, 16, SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (64,32):row, 1)",
        Numbers(|args, overhang| { let copy = args.copy_for(MmaOperand::A)?; args.copy_partition(&copy, CopySide::Dst, 5, overhang) }, TABLE))
        .gives(&["layout", "offset"]),
    ragged_row("partition_D_of_copy_B", "copy, element bits, operation, atom layout, permutation, layout, thread", 7..=7,
        "what a thread writes in that copy, and the value where it begins",
        "partition_D_of_copy_B(SM75_U32x1_LDSM_N, 16, SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (64,32):row, 1)",
        Numbers(|args, overhang| { let copy = args.copy_for(MmaOperand::B)?; args.copy_partition(&copy, CopySide::Dst, 5, overhang) }, TABLE))
        .gives(&["layout", "offset"]),
    ragged_row("partition_D_of_copy_C", "copy, element bits, operation, atom layout, permutation, layout, thread", 7..=7,
        "what a thread writes in that copy, and the value where it begins",
        "partition_D_of_copy_C(UniversalCopy<u64>, 32, SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (64,64):row, 1)",
        Numbers(|args, overhang| { let copy = args.copy_for(MmaOperand::C)?; args.copy_partition(&copy, CopySide::Dst, 5, overhang) }, TABLE))
        .gives(&["layout", "offset"]),
    row("retile_of_copy_A", "copy, element bits, operation, atom layout, permutation, fragment", 6..=6,
        "registers of A in the order in which that copy takes them",
        "retile_of_copy_A(SM75_U32x2_LDSM_N, 16, SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, ((2,2),2,4))",
        Numbers(|args, _| Ok(args.copy_for(MmaOperand::A)?.retile(&args.layout(5)?).map_err(|error| shifted(error, 5))?.into()), TABLE)),
    row("retile_of_copy_B", "copy, element bits, operation, atom layout, permutation, fragment", 6..=6,
        "registers of B in the order in which that copy takes them",
        "retile_of_copy_B(SM75_U32x1_LDSM_N, 16, SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, (2,4,4))",
        Numbers(|args, _| Ok(args.copy_for(MmaOperand::B)?.retile(&args.layout(5)?).map_err(|error| shifted(error, 5))?.into()), TABLE)),
    row("retile_of_copy_C", "copy, element bits, operation, atom layout, permutation, fragment", 6..=6,
        "registers of C in the order in which that copy takes them",
        "retile_of_copy_C(UniversalCopy<u64>, 32, SM80_16x8x8_F32F16F16F32_TN, (2,2,1), _, ((2,2),2,4))",
        Numbers(|args, _| Ok(args.copy_for(MmaOperand::C)?.retile(&args.layout(5)?).map_err(|error| shifted(error, 5))?.into()), TABLE)),
];
