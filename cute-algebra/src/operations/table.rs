//! The rows of the table of operations.

use super::RunTime::{Needs, Regroup, Run};
use super::args::shifted;
use super::maps;
use super::{OnNumbers, Operation, RunTime};
use crate::analysis::gmma::{Major, gmma_operand};
use crate::analysis::injective::Verdict;
use crate::analysis::matrix::matrix_operand;
use crate::analysis::swizzles::best_swizzle;
use crate::analysis::tensor_map::tensor_map;
use crate::atoms::{CopySide, MmaOperand, smem_atom, smem_tile_to_shape};
use crate::coalesce::{coalesce, coalesce_by, filter, filter_by, filter_zeros};
use crate::common::{
    domain_distribute, max_alignment, max_common_layout, max_common_vector_swizzled,
};
use crate::complement::{complement_in, complement_within};
use crate::composed::{ComposedLayout, Slice};
use crate::construct::{make_fragment_like, make_layout_like, make_ordered_layout};
use crate::coordinate::{
    compatible, congruent, convert, crd2crd, evenly_divides, idx2crd, idx2crd_stride, split,
    weakly_congruent,
};
use crate::divide::{Form, divide};
use crate::error::{ErrorKind, LayoutError, ModePath, Place};
use crate::inverse::{left_inverse, nullspace, right_inverse};
use crate::layout::Layout;
use crate::manip;
use crate::product::{Order, blocked_product, product, raked_product};
use crate::recast::{Cast, downcast, recast_factor, recast_modes, upcast_modes};
use crate::recover::from_table;
use crate::slice::{dice, slice, slice_and_offset};
use crate::symbolic::operations as at_run_time;
use crate::symbolic::{Property, SymbolicArgs, SymbolicLayout, SymbolicValue};
use crate::tile::tile;
use crate::tuple::{IntTuple, Tuple};
use crate::value::Value;
use std::ops::RangeInclusive;

const OPERANDS: [MmaOperand; 3] = [MmaOperand::A, MmaOperand::B, MmaOperand::C];
pub(super) const SIDES: [CopySide; 3] = [CopySide::Src, CopySide::Dst, CopySide::Ref];

/// The count of operands that may be repeated.
const MANY: usize = usize::MAX;

const TABLE: RunTime = Needs("the layouts of an operation of the hardware are fixed");
const BANKS: RunTime = Needs("conflicts are counted address by address");
const FORMAT: RunTime = Needs("the fields of a descriptor are numbers");

const fn row(
    name: &'static str,
    signature: &'static str,
    counts: RangeInclusive<usize>,
    doc: &'static str,
    run: OnNumbers,
    run_time: RunTime,
) -> Operation {
    Operation {
        name,
        signature,
        counts,
        doc,
        ragged: false,
        run,
        run_time,
    }
}

const fn ragged_row(
    name: &'static str,
    signature: &'static str,
    counts: RangeInclusive<usize>,
    doc: &'static str,
    run: OnNumbers,
    run_time: RunTime,
) -> Operation {
    Operation {
        name,
        signature,
        counts,
        doc,
        ragged: true,
        run,
        run_time,
    }
}

/// All operations.
#[rustfmt::skip] // A table is read by its rows.
pub static OPERATIONS: &[Operation] = &[
    // Layouts from shapes, from layouts, and from values.
    row("make_layout_left", "shape", 1..=1, "the compact layout, leftmost mode fastest",
        |args, _| Ok(Layout::left(args.shape(0)?)?.into()),
        Run(|args, _| {
            let shape = args.shape(0)?;
            Ok(SymbolicLayout::compact(args.scope, &shape, false)?.into())
        })),
    row("make_layout_right", "shape", 1..=1, "the compact layout, rightmost mode fastest",
        |args, _| Ok(Layout::right(args.shape(0)?)?.into()),
        Run(|args, _| {
            let shape = args.shape(0)?;
            Ok(SymbolicLayout::compact(args.scope, &shape, true)?.into())
        })),
    row("make_ordered_layout", "shape, order", 2..=2, "the compact layout with modes in that order",
        |args, _| Ok(make_ordered_layout(&args.shape(0)?, &args.shape(1)?)?.into()),
        Run(|args, _| {
            let (shape, order) = (args.shape(0)?, args.order(1)?.unwrap_or(Tuple::Leaf(0)));
            Ok(at_run_time::make_ordered_layout(args.scope, &shape, &order)?.into())
        })),
    row("make_identity_layout", "shape", 1..=1, "coordinates to themselves",
        |args, _| Ok(Layout::identity(args.shape(0)?)?.into()),
        Run(|args, _| {
            let shape = args.shape(0)?;
            Ok(at_run_time::make_identity_layout(args.scope, &shape)?.into())
        })),
    row("make_layout_like", "layout", 1..=1, "the compact layout with its shape and order",
        |args, _| Ok(make_layout_like(&args.layout(0)?)?.into()),
        Run(|args, _| {
            let a = args.layout(0)?;
            Ok(at_run_time::make_layout_like(args.scope, &a)?.into())
        })),
    row("make_fragment_like", "layout", 1..=1, "the same with the first mode fastest",
        |args, _| Ok(make_fragment_like(&args.layout(0)?)?.into()),
        Run(|args, _| {
            let a = args.layout(0)?;
            Ok(at_run_time::make_fragment_like(args.scope, &a)?.into())
        })),
    row("concat", "layout, …", 1..=MANY, "the layouts as modes of one",
        |args, _| {
            let modes = (0..args.count())
                .map(|i| args.layout(i))
                .collect::<Result<Vec<_>, _>>()?;
            Ok(Layout::concat(modes)?.into())
        },
        Regroup),
    row("from_table", "integer, …", 1..=MANY, "the layout with these values", |args, _| {
        let (values, listed) = match args.operands {
            [Value::Tuple(tuple)] if tuple.depth() == 1 => (tuple.leaves().copied().collect(), false),
            _ => (args.integers(0)?, true),
        };
        let place = |position: i64| match listed {
            true => Place::operand(position as usize),
            false => Place::operand(0).mode([position as usize]),
        };
        let layout = from_table(&values).map_err(|error| match *error.kind() {
            ErrorKind::NotALayout { position, .. } => error.relocate(|_| place(position)),
            _ => error,
        });
        Ok(layout?.into())
    },
        Needs("a layout is recovered from values")),
    // Queries.
    row("shape", "layout", 1..=1, "its extents",
        |args, _| Ok(args.inner(0)?.shape().into()),
        Run(|args, _| Ok(args.inner(0)?.shape().map(|extent| extent.into()).into()))),
    row("stride", "layout", 1..=1, "its strides",
        |args, _| Ok(args.inner(0)?.stride().clone().into()),
        Run(|args, _| at_run_time::stride(&args.inner(0)?))),
    row("size", "layout", 1..=1, "number of coordinates",
        |args, _| match args.get(0)? {
            Value::XorMap(map) => Ok(map.size().into()),
            _ => Ok(args.inner(0)?.size().into()),
        },
        Run(|args, _| Ok(at_run_time::size(&args.inner(0)?)?.into()))),
    row("cosize", "layout", 1..=1, "span of the values",
        |args, _| match args.get(0)? {
            Value::Composed(swizzled) => {
                let cosize = swizzled.cosize();
                let overflow = || ErrorKind::Overflow { quantity: "cosize" }.at(Place::default());
                Ok(cosize.ok_or_else(overflow)?.into())
            }
            _ => Ok(args.layout(0)?.cosize().into()),
        },
        Run(|args, _| match args.swizzled(0)? {
            Some(swizzled) => Ok(swizzled.cosize(args.scope)?.into()),
            None => {
                let a = args.layout(0)?;
                Ok(at_run_time::cosize(args.scope, &a)?.into())
            }
        })),
    row("coshape", "layout", 1..=1, "span of the values along each coordinate",
        |args, _| Ok(args.layout(0)?.coshape().into()),
        Run(|args, _| {
            let a = args.layout(0)?;
            Ok(at_run_time::coshape(args.scope, &a)?.into())
        })),
    row("rank", "layout", 1..=1, "number of top-level modes",
        |args, _| Ok((args.inner(0)?.rank() as i64).into()),
        Regroup),
    row("depth", "layout", 1..=1, "nesting of the shape",
        |args, _| Ok((args.inner(0)?.depth() as i64).into()),
        Regroup),
    row("crd2idx", "layout, coordinate", 2..=2, "the value at a coordinate",
        |args, _| match args.get(0)? {
            Value::Composed(swizzled) => Ok(swizzled.crd2idx(&args.coord(1)?)?.into()),
            Value::XorMap(map) => Ok(map.crd2idx(&args.coord(1)?)?.into()),
            _ => Ok(args.layout(0)?.crd2idx(&args.coord(1)?)?.into()),
        },
        Run(|args, _| match (args.swizzled(0)?, args.coord(1)?) {
            (Some(swizzled), coord) => Ok(swizzled.crd2idx(args.scope, &coord)?.into()),
            (None, coord) => {
                let a = args.layout(0)?;
                Ok(at_run_time::crd2idx(args.scope, &a, &coord)?.into())
            }
        })),
    row("idx2crd", "shape, coordinate", 2..=2, "the natural coordinate",
        |args, _| Ok(idx2crd(&args.shape(0)?, &args.shape(1)?)?.into()),
        Run(|args, _| {
            let (shape, coord) = (args.extents(0)?, args.sums(1)?);
            Ok(split(args.scope, &shape, &coord, &ModePath::default())?.into())
        })),
    row("idx2crd_stride", "layout, integer", 2..=2, "the natural coordinate with that value, of a compact layout",
        |args, _| Ok(idx2crd_stride(&args.layout(0)?, args.integer(1)?)?.into()),
        Run(|args, _| {
            let (a, index) = (args.layout(0)?, args.integer(1)?);
            Ok(at_run_time::idx2crd_stride(args.scope, &a, &index)?.into())
        })),
    row("crd2crd", "coordinate, shape, shape", 3..=3, "the same 1-D coordinate in another shape",
        |args, _| Ok(crd2crd(&args.shape(0)?, &args.shape(1)?, &args.shape(2)?)?.into()),
        Run(|args, _| {
            let (coord, source, target) = (args.sums(0)?, args.extents(1)?, args.extents(2)?);
            Ok(convert(args.scope, &coord, &source, &target, &ModePath::default())?.into())
        })),
    row("congruent", "shape, shape", 2..=2, "whether they nest alike",
        |args, _| Ok(congruent(&args.shape(0)?, &args.shape(1)?).into()),
        Run(|args, _| Ok(congruent(&args.sums(0)?.map(|_| 1), &args.sums(1)?.map(|_| 1)).into()))),
    row("weakly_congruent", "shape, shape", 2..=2, "whether the first is the second with subtrees cut to leaves",
        |args, _| Ok(weakly_congruent(&args.shape(0)?, &args.shape(1)?).into()),
        Run(|args, _| Ok(weakly_congruent(&args.sums(0)?.map(|_| 1), &args.sums(1)?.map(|_| 1)).into()))),
    row("compatible", "shape, shape", 2..=2, "whether coordinates of the first are coordinates of the second",
        |args, _| Ok(compatible(&args.shape(0)?, &args.shape(1)?).into()),
        Run(|args, _| {
            let (a, b) = (args.sums(0)?, args.sums(1)?);
            Ok(at_run_time::compatible(args.scope, &a, &b)?.into())
        })),
    row("evenly_divides", "shape, shape", 2..=2, "whether each mode of the second divides that of the first",
        |args, _| Ok(evenly_divides(&args.shape(0)?, &args.tiler(1)?).into()),
        Run(|args, _| {
            let (shape, tiler) = (args.shape(0)?, args.tiler(1)?);
            Ok(at_run_time::evenly_divides(args.scope, &shape, &tiler)?.into())
        })),
    // Regrouping.
    row("get", "layout, integer, …", 2..=MANY, "the mode at a path",
        |args, _| args.map(0, |a| manip::get(a, &args.integers(1)?)),
        Regroup),
    row("select", "layout, integer, …", 2..=MANY, "the listed modes",
        |args, _| args.map(0, |a| manip::select(a, &args.integers(1)?)),
        Regroup),
    row("take", "layout, begin, end", 3..=3, "a range of modes",
        |args, _| args.map(0, |a| manip::take(a, args.integer(1)?, args.integer(2)?)),
        Regroup),
    row("group", "layout, begin, end", 3..=3, "a range of modes as one mode",
        |args, _| args.map(0, |a| manip::group(a, args.integer(1)?, args.integer(2)?)),
        Regroup),
    row("flatten", "layout", 1..=1, "all leaves as top-level modes",
        |args, _| args.map(0, |a| Ok(manip::flatten(a))),
        Regroup),
    row("unflatten", "layout, profile", 2..=2, "the leaves in another tree",
        |args, _| args.map(0, |a| manip::unflatten(a, &args.shape(1)?)),
        Regroup),
    row("append", "layout, layout | rank[, layout]", 2..=3, "modes added at the end",
        |args, _| match args.get(1)? {
            Value::Int(rank) => args.map(0, |a| {
                manip::append_to_rank(a, *rank, &args.optional_layout(2)?)
            }),
            _ => args.map(0, |a| manip::append(a, &args.layout(1)?)),
        },
        Regroup),
    row("prepend", "layout, layout | rank[, layout]", 2..=3, "modes added at the beginning",
        |args, _| match args.get(1)? {
            Value::Int(rank) => args.map(0, |a| {
                manip::prepend_to_rank(a, *rank, &args.optional_layout(2)?)
            }),
            _ => args.map(0, |a| manip::prepend(a, &args.layout(1)?)),
        },
        Regroup),
    row("replace", "layout, integer, layout", 3..=3, "one mode replaced",
        |args, _| args.map(0, |a| manip::replace(a, args.integer(1)?, &args.layout(2)?)),
        Regroup),
    row("with_shape", "layout, shape", 2..=2, "the same strides under another shape",
        |args, _| args.map(0, |a| manip::with_shape(a, &args.shape(1)?)),
        Run(|args, _| {
            let shape = args.shape(1)?;
            args.map(|scope, a| at_run_time::with_shape(scope, a, &shape))
        })),
    row("zip", "layout[, layout]", 1..=2, "((a0, b0), (a1, b1), …)",
        |args, _| match args.count() {
            1 => Ok(manip::transpose_modes(&args.layout(0)?)?.into()),
            _ => Ok(manip::zip(&args.layout(0)?, &args.layout(1)?)?.into()),
        },
        Regroup),
    row("unzip", "layout", 1..=1, "((a0, a1, …), (b0, b1, …)) of ((a0, b0), (a1, b1), …)",
        |args, _| Ok(manip::transpose_modes(&args.layout(0)?)?.into()),
        Regroup),
    row("slice", "layout, coordinate", 2..=2, "the modes where the coordinate has `_`; of a swizzled layout, from there on",
        |args, _| match args.get(0)? {
            Value::Composed(swizzled) => Ok(swizzled.slice(&args.coord(1)?)?.into()),
            _ => Ok(slice(&args.layout(0)?, &args.coord(1)?)?.into()),
        },
        Run(|args, _| {
            let coord = args.coord(1)?;
            Ok(at_run_time::slice(args, &coord)?.0)
        })),
    row("slice_and_offset", "layout, coordinate", 2..=2, "the same, and the value where it begins",
        |args, _| match args.get(0)? {
            Value::Composed(swizzled) => Ok(match swizzled.slice_and_offset(&args.coord(1)?)? {
                (Slice::Layout(layout), offset) => vec![layout.into(), offset.into()].into(),
                (Slice::Composed(sliced), offset) => vec![sliced.into(), offset.into()].into(),
            }),
            _ => {
                let (layout, offset) = slice_and_offset(&args.layout(0)?, &args.coord(1)?)?;
                Ok(vec![layout.into(), offset.into()].into())
            }
        },
        Run(|args, _| {
            let coord = args.coord(1)?;
            let (sliced, offset) = at_run_time::slice(args, &coord)?;
            Ok(SymbolicValue::List(vec![sliced, offset.into()]))
        })),
    row("dice", "layout, coordinate", 2..=2, "the modes where the coordinate has an integer",
        |args, _| Ok(dice(&args.layout(0)?, &args.coord(1)?)?.into()),
        Regroup),
    // The algebra.
    row("coalesce", "layout[, profile]", 1..=2, "the fewest modes for the same function",
        |args, _| match args.count() {
            1 => args.map(0, |a| Ok(coalesce(a))),
            _ => args.map(0, |a| coalesce_by(a, &args.shape(1)?)),
        },
        Run(|args, _| {
            let profile = args.profile(1)?;
            args.map(|_, a| a.by_profile(profile.as_ref(), |part| Ok(part.coalesce())))
        })),
    row("filter", "layout[, profile]", 1..=2, "without strides 0, coalesced",
        |args, _| match args.count() {
            1 => args.map(0, |a| Ok(filter(a))),
            _ => args.map(0, |a| filter_by(a, &args.shape(1)?)),
        },
        Run(|args, _| {
            let profile = args.profile(1)?;
            args.map(|scope, a| a.by_profile(profile.as_ref(), |part| Ok(part.filter_zeros(scope)?.coalesce())))
        })),
    row("filter_zeros", "layout", 1..=1, "extent 1 where the stride is 0",
        |args, _| args.map(0, |a| Ok(filter_zeros(a))),
        Run(|args, _| args.map(|scope, a| a.filter_zeros(scope)))),
    ragged_row("composition", "A, B", 2..=2, "A(B(c))",
        maps::composition,
        Run(at_run_time::composition)),
    ragged_row("complement", "layout[, target]", 1..=2, "the ordered rest of a target",
        |args, overhang| {
            if args.count() == 1 {
                return Ok(complement_within(&args.layout(0)?)?.into());
            }
            let target = args.shape(1)?.product();
            let target = target
                .ok_or_else(|| ErrorKind::Overflow { quantity: "target" }.at(Place::operand(1)))?;
            Ok(complement_in(&args.layout(0)?, target, overhang)?.into())
        },
        Run(|args, overhang| {
            let a = args.layout(0)?;
            if args.count() == 1 {
                return Ok(at_run_time::complement_within(args.scope, &a)?.into());
            }
            let target = args.product(1)?;
            Ok(at_run_time::complement(args.scope, &a, &target, overhang)?.0.into())
        })),
    row("right_inverse", "layout", 1..=1, "R with A(R(i)) = i",
        |args, _| match args.get(0)? {
            Value::Composed(swizzled) => Ok(simplest(swizzled.right_inverse()?)),
            Value::XorMap(map) => maps::inverse(map),
            _ => Ok(right_inverse(&args.layout(0)?)?.into()),
        },
        Run(|args, _| {
            let a = args.plain(0, "the inverse of a swizzled layout")?;
            Ok(at_run_time::right_inverse(args.scope, &a)?.into())
        })),
    row("left_inverse", "layout", 1..=1, "L with L(A(i)) = i",
        |args, _| match args.get(0)? {
            Value::Composed(swizzled) => Ok(simplest(swizzled.left_inverse()?)),
            Value::XorMap(map) => maps::inverse(map),
            _ => Ok(left_inverse(&args.layout(0)?)?.into()),
        },
        Run(|args, _| {
            let a = args.plain(0, "the inverse of a swizzled layout")?;
            Ok(at_run_time::left_inverse(args.scope, &a)?.into())
        })),
    row("nullspace", "layout", 1..=1, "the coordinates that strides 0 make irrelevant",
        |args, _| Ok(nullspace(&args.layout(0)?).into()),
        Run(|args, _| {
            let a = args.layout(0)?;
            Ok(at_run_time::nullspace(args.scope, &a)?.into())
        })),
    row("max_common_layout", "layout, layout", 2..=2, "coordinates along which both count up by 1",
        |args, _| Ok(max_common_layout(&args.layout(0)?, &args.layout(1)?)?.into()),
        Run(|args, _| {
            let (a, b) = (args.layout(0)?, args.layout(1)?);
            Ok(at_run_time::max_common_layout(args.scope, &a, &b)?.into())
        })),
    row("max_common_vector", "layout, layout", 2..=2, "its size",
        |args, _| Ok(max_common_vector_swizzled(&args.composed(0)?, &args.layout(1)?)?.into()),
        Run(|args, _| {
            let (a, b) = (args.composed(0)?, args.layout(1)?);
            let vector = at_run_time::max_common_vector(args.scope, &a.layout, &b)?;
            Ok(a.whole(args.scope, &vector)?.into())
        })),
    row("max_alignment", "layout", 1..=1, "contiguous and aligned elements",
        |args, _| Ok(max_alignment(&args.layout(0)?)?.into()),
        Run(|args, _| {
            let a = args.layout(0)?;
            Ok(at_run_time::max_alignment(args.scope, &a)?.into())
        })),
    row("domain_distribute", "shape, integer", 2..=2, "a number spread over a shape",
        |args, _| Ok(domain_distribute(&args.shape(0)?, args.integer(1)?)?.into()),
        Run(|args, _| {
            let (shape, count) = (args.layout(0)?, args.product(1)?);
            Ok(at_run_time::domain_distribute(args.scope, &shape, &count)?.into())
        })),
    ragged_row("logical_divide", "layout, tiler", 2..=2, "((tile, rest), …)",
        |args, overhang| args.map(0, |a| divide(a, &args.tiler(1)?, Form::Logical, overhang)),
        Run(|args, overhang| {
            let tiler = args.tiler(1)?;
            args.map(|scope, a| at_run_time::divide(scope, a, &tiler, Form::Logical, overhang))
        })),
    ragged_row("zipped_divide", "layout, tiler", 2..=2, "((tile, …), (rest, …))",
        |args, overhang| args.map(0, |a| divide(a, &args.tiler(1)?, Form::Zipped, overhang)),
        Run(|args, overhang| {
            let tiler = args.tiler(1)?;
            args.map(|scope, a| at_run_time::divide(scope, a, &tiler, Form::Zipped, overhang))
        })),
    ragged_row("tiled_divide", "layout, tiler", 2..=2, "((tile, …), rest, …)",
        |args, overhang| args.map(0, |a| divide(a, &args.tiler(1)?, Form::Tiled, overhang)),
        Run(|args, overhang| {
            let tiler = args.tiler(1)?;
            args.map(|scope, a| at_run_time::divide(scope, a, &tiler, Form::Tiled, overhang))
        })),
    ragged_row("flat_divide", "layout, tiler", 2..=2, "(tile, …, rest, …)",
        |args, overhang| args.map(0, |a| divide(a, &args.tiler(1)?, Form::Flat, overhang)),
        Run(|args, overhang| {
            let tiler = args.tiler(1)?;
            args.map(|scope, a| at_run_time::divide(scope, a, &tiler, Form::Flat, overhang))
        })),
    row("logical_product", "layout, tiler", 2..=2, "((layout, copies), …)",
        |args, _| Ok(product(&args.layout(0)?, &args.tiler(1)?, Form::Logical)?.into()),
        Run(|args, _| {
            let (a, tiler) = (args.layout(0)?, args.tiler(1)?);
            Ok(at_run_time::product_by(args.scope, &a, &tiler, Form::Logical)?.into())
        })),
    row("zipped_product", "layout, tiler", 2..=2, "((layout, …), (copies, …))",
        |args, _| Ok(product(&args.layout(0)?, &args.tiler(1)?, Form::Zipped)?.into()),
        Run(|args, _| {
            let (a, tiler) = (args.layout(0)?, args.tiler(1)?);
            Ok(at_run_time::product_by(args.scope, &a, &tiler, Form::Zipped)?.into())
        })),
    row("tiled_product", "layout, tiler", 2..=2, "((layout, …), copies, …)",
        |args, _| Ok(product(&args.layout(0)?, &args.tiler(1)?, Form::Tiled)?.into()),
        Run(|args, _| {
            let (a, tiler) = (args.layout(0)?, args.tiler(1)?);
            Ok(at_run_time::product_by(args.scope, &a, &tiler, Form::Tiled)?.into())
        })),
    row("flat_product", "layout, tiler", 2..=2, "(layout, …, copies, …)",
        |args, _| Ok(product(&args.layout(0)?, &args.tiler(1)?, Form::Flat)?.into()),
        Run(|args, _| {
            let (a, tiler) = (args.layout(0)?, args.tiler(1)?);
            Ok(at_run_time::product_by(args.scope, &a, &tiler, Form::Flat)?.into())
        })),
    row("blocked_product", "layout, layout", 2..=2, "((A0, B0), …), blocks together",
        |args, _| Ok(blocked_product(&args.layout(0)?, &args.layout(1)?)?.into()),
        Run(|args, _| {
            let (a, b) = (args.layout(0)?, args.layout(1)?);
            Ok(at_run_time::ranked_product(args.scope, &a, &b, Order::Blocked)?.into())
        })),
    row("raked_product", "layout, layout", 2..=2, "((B0, A0), …), blocks apart",
        |args, _| Ok(raked_product(&args.layout(0)?, &args.layout(1)?)?.into()),
        Run(|args, _| {
            let (a, b) = (args.layout(0)?, args.layout(1)?);
            Ok(at_run_time::ranked_product(args.scope, &a, &b, Order::Raked)?.into())
        })),
    ragged_row("tile_to_shape", "layout, shape[, order]", 2..=3, "the block repeated over a shape",
        |args, overhang| args.map(0, |a| { tile(a, &args.shape(1)?, args.optional_shape(2)?.as_ref(), overhang) }),
        Run(|args, overhang| {
            let (shape, order) = (args.shape(1)?, args.order(2)?);
            args.map(|scope, a| at_run_time::tile_to_shape(scope, a, &shape, order.as_ref(), overhang))
        })),
    // Elements of other sizes.
    ragged_row("upcast", "layout, integer", 2..=2, "in units of so many elements",
        |args, overhang| match args.get(0)? {
            Value::Swizzle(swizzle) => Ok(swizzle.upcast(args.integer(1)?)?.into()),
            Value::Composed(swizzled) => {
                Ok(simplest(swizzled.upcast_with(args.integer(1)?, overhang)?))
            }
            _ => Ok(upcast_modes(&args.layout(0)?, args.integer(1)?, overhang)?.into()),
        },
        Run(|args, overhang| at_run_time::recast(args, |args| Ok(Cast::Up(args.term(1)?)), overhang))),
    row("downcast", "layout, integer", 2..=2, "in units of so small a part of an element",
        |args, _| match args.get(0)? {
            Value::Swizzle(swizzle) => Ok(swizzle.downcast(args.integer(1)?)?.into()),
            Value::Composed(swizzled) => Ok(simplest(swizzled.downcast(args.integer(1)?)?)),
            _ => Ok(downcast(&args.layout(0)?, args.integer(1)?)?.into()),
        },
        Run(|args, overhang| at_run_time::recast(args, |args| Ok(Cast::Down(args.term(1)?)), overhang))),
    ragged_row("recast", "layout, old bits, new bits", 3..=3, "in elements of another size",
        |args, overhang| {
            let (old, new) = (args.integer(1)?, args.integer(2)?);
            match args.get(0)? {
                Value::Composed(swizzled) => Ok(simplest(swizzled.recast_with(old, new, overhang)?)),
                _ => Ok(recast_modes(&args.layout(0)?, old, new, overhang)?.into()),
            }
        },
        Run(|args, overhang| {
            let bits = "the size of an element";
            let cast = |args: &mut SymbolicArgs<'_>| {
                Ok(match recast_factor(args.number(1, bits)?, args.number(2, bits)?)? {
                    Cast::Up(factor) => Cast::Up(factor.into()),
                    Cast::Down(factor) => Cast::Down(factor.into()),
                })
            };
            at_run_time::recast(args, cast, overhang)
        })),
    // What there is to know about a layout.
    row("is_injective", "layout", 1..=1, "whether no two coordinates have one value",
        |args, _| decided(args.verdict(Layout::injective, ComposedLayout::injective)?, "injective"),
        Run(|args, _| args.has(Property::Injective))),
    row("is_bijective", "layout", 1..=1, "whether the values are 0, 1, …, size - 1, each once",
        |args, _| decided(args.verdict(Layout::bijective, ComposedLayout::bijective)?, "bijective"),
        Run(|args, _| args.has(Property::Bijective))),
    row("is_dense", "layout", 1..=1, "whether no value between others is missing",
        |args, _| decided(args.verdict(Layout::dense, ComposedLayout::dense)?, "dense"),
        Run(|args, _| args.has(Property::Dense))),
    row("injective", "layout", 1..=1, "the layout, refused with a witness where it is not injective",
        |args, _| args.required(args.verdict(Layout::injective, ComposedLayout::injective)?, "injective"),
        Run(|args, _| args.required(Property::Injective))),
    row("bijective", "layout", 1..=1, "the layout, refused with a witness where it is not bijective",
        |args, _| args.required(args.verdict(Layout::bijective, ComposedLayout::bijective)?, "bijective"),
        Run(|args, _| args.required(Property::Bijective))),
    row("dense", "layout", 1..=1, "the layout, refused with a witness where it is not dense",
        |args, _| args.required(args.verdict(Layout::dense, ComposedLayout::dense)?, "dense"),
        Run(|args, _| args.required(Property::Dense))),
    row("vector_width", "layout", 1..=1, "elements that are contiguous and aligned along the 1-D coordinate",
        |args, _| Ok(args.composed(0)?.vector_width().into()),
        Run(|args, _| {
            let a = args.composed(0)?;
            Ok(a.vector_width(args.scope)?.into())
        })),
    row("alignment", "layout", 1..=1, "what divides all values",
        |args, _| Ok(args.composed(0)?.alignment().into()),
        Run(|args, _| {
            let a = args.composed(0)?;
            let alignment = at_run_time::alignment(args.scope, &a.layout)?;
            Ok(a.whole(args.scope, &alignment)?.into())
        })),
    row("index_form", "layout", 1..=1, "the cheapest arithmetic for the value at x",
        |args, _| {
            let form = args.layout(0)?.index_form().ok_or_else(|| args.wrong(0, "a layout of integers"))?;
            Ok(Value::Word(form.to_string()))
        },
        Needs("the cheapest form depends on which extents are powers of two")),
    // What the hardware makes of a layout.
    row("bank_conflicts", "tile, element bits, threads and values, …", 3..=MANY, "how often the busiest bank of shared memory is needed at once",
        |args, _| {
            let accesses = args.accesses()?;
            let worst = accesses.iter().map(|access| access.worst.degree).max().unwrap_or(0);
            Ok((worst as i64).into())
        },
        BANKS),
    row("conflict_free", "tile, element bits, threads and values, …", 3..=MANY, "the tile, refused with a witness where lanes wait for a bank",
        |args, _| {
            let worst = args.accesses()?.into_iter().enumerate().max_by_key(|(_, access)| access.worst.degree);
            if let Some((pattern, access)) = worst.filter(|(_, access)| access.worst.degree > 1) {
                let best = best_swizzle(args.composed(0)?.layout(), args.integer(1)?, &args.layouts(2)?).ok();
                let better = best.and_then(|best| Some((best.swizzle, *best.degrees.iter().max()?)));
                let better = better.filter(|(_, degree)| *degree < access.worst.degree);
                let access = Box::new(access);
                return Err(ErrorKind::BankConflict { access, better }.at(Place::operand(2 + pattern)));
            }
            args.get(0).cloned()
        },
        BANKS),
    row("xor_map", "columns[, value]", 1..=2, "the map of bits that exclusive-ors one column for each bit that is set, and the value at 0",
        |args, _| maps::xor_map(args),
        Needs("a column is exclusive-ored bit by bit")),
    row("conflict_free_map", "layout, element bits, threads and values, …", 3..=MANY, "a map of bits without bank conflicts; conflicts under it, and without it",
        |args, _| maps::conflict_free(args),
        BANKS),
    row("best_swizzle", "layout, element bits, threads and values, …", 3..=MANY, "the layout under the swizzle with the fewest bank conflicts",
        |args, _| {
            let (tile, patterns) = (args.layout(0)?, args.layouts(2)?);
            let best = best_swizzle(&tile, args.integer(1)?, &patterns)?;
            Ok(simplest(ComposedLayout::new(best.swizzle, 0, tile)?))
        },
        BANKS),
    row("wgmma_operand", "tile, element bits", 2..=2, "K or MN, the swizzle, leading and stride byte offset, and the starts of the instructions",
        |args, _| {
            let operand = gmma_operand(args.bits(1)?, &args.composed(0)?)
                .map_err(|error| ErrorKind::Gmma(Box::new(error)).at(Place::operand(0)))?;
            let major = match operand.major {
                Major::K => "K",
                Major::MN => "MN",
            };
            Ok(vec![
                Value::Word(major.into()),
                Value::Word(operand.swizzle.name().into()),
                operand.leading.into(),
                operand.stride.into(),
                integers(&operand.steps),
            ]
            .into())
        },
        FORMAT),
    row("matrix_operand", "tile, element bits", 2..=2, "of ldmatrix and stmatrix: whether transposed, matrices at once, where rows begin, bank conflicts",
        |args, _| {
            let operand = matrix_operand(args.bits(1)?, &args.composed(0)?)
                .map_err(|error| ErrorKind::Matrix(Box::new(error)).at(Place::operand(0)))?;
            let conflicts = operand.conflicts as i64;
            Ok(vec![operand.transposed.into(), operand.count.into(), simplest(operand.rows), conflicts.into()].into())
        },
        FORMAT),
    row("tensor_map", "tile, tensor, element bits", 3..=3, "of TMA: order of the modes, extents, byte strides, box, swizzle, number of boxes",
        |args, _| {
            let map = tensor_map(args.bits(2)?, &args.composed(0)?, &args.layout(1)?)
                .map_err(|error| ErrorKind::Tma(Box::new(error)).at(Place::operand(0)))?;
            let order: Vec<i64> = map.order.iter().map(|&mode| mode as i64).collect();
            Ok(vec![
                integers(&order),
                integers(&map.extents),
                integers(&map.strides),
                integers(&map.box_extents),
                Value::Word(map.plan.swizzle.name().into()),
                (map.plan.pieces.len() as i64).into(),
            ]
            .into())
        },
        FORMAT),
    // What the hardware fixes.
    row("smem_atom", "K | MN, INTER | SW32 | SW64 | SW128, element bits", 3..=3, "a swizzled tile of shared memory",
        |args, _| Ok(simplest(smem_atom(args.major(0)?, args.swizzle_mode(1)?, args.integer(2)?)?)),
        TABLE),
    row("smem_tile_to_shape", "K | MN, INTER | SW32 | SW64 | SW128, element bits, shape[, order]", 4..=5, "the same repeated over a shape",
        |args, _| {
            let order = args.optional_shape(4)?;
            let (major, mode, bits) = (args.major(0)?, args.swizzle_mode(1)?, args.integer(2)?);
            Ok(simplest(smem_tile_to_shape(
                major,
                mode,
                bits,
                &args.shape(3)?,
                order.as_ref(),
            )?))
        },
        TABLE),
    row("mma_atom", "operation, Shape_MNK | ThrID | ALayout | BLayout | CLayout", 2..=2, "its shape, its threads, or a TV layout",
        |args, _| {
            let atom = args.mma_atom(0)?;
            Ok(match args.field(1, &["Shape_MNK", "ThrID", "ALayout", "BLayout", "CLayout"])? {
                0 => IntTuple::from(atom.shape_mnk()).into(),
                1 => atom.thr_id().into(),
                operand => atom.layout(OPERANDS[operand - 2]).into(),
            })
        },
        TABLE),
    row("copy_atom", "operation, ThrID | SrcLayout | DstLayout | RefLayout", 2..=2, "its threads, or a TV layout in bits",
        |args, _| {
            let atom = args.copy_atom(0)?;
            Ok(match args.field(1, &["ThrID", "SrcLayout", "DstLayout", "RefLayout"])? {
                0 => atom.thr_id().into(),
                side => atom.layout(SIDES[side - 1]).into(),
            })
        },
        TABLE),
    row("copy_atom_val", "operation, element bits, ValLayoutSrc | ValLayoutDst | ValLayoutRef", 3..=3, "a TV layout in elements",
        |args, _| {
            let atom = args.copy_atom(0)?.in_elements(args.integer(1)?)?;
            let side = args.field(2, &["ValLayoutSrc", "ValLayoutDst", "ValLayoutRef"])?;
            Ok(atom.layout(SIDES[side]).into())
        },
        TABLE),
    row("tiled_mma", "operation, atom layout, permutation, ThrLayoutVMNK | layoutA_TV | layoutB_TV | layoutC_TV", 4..=4,
        "the operation over threads and a tile: its threads, or a TV layout",
        |args, _| {
            let mma = args.tiled_mma(0)?;
            Ok(match args.field(3, &["ThrLayoutVMNK", "layoutA_TV", "layoutB_TV", "layoutC_TV"])? {
                0 => mma.thr_layout_vmnk().into(),
                operand => mma.layout_tv(OPERANDS[operand - 1])?.into(),
            })
        },
        TABLE),
    ragged_row("partition_A", "operation, atom layout, permutation, M x K layout, thread", 5..=5, "what a thread holds of A, and the value where it begins",
        |args, overhang| args.mma_partition(MmaOperand::A, overhang),
        TABLE),
    ragged_row("partition_B", "operation, atom layout, permutation, N x K layout, thread", 5..=5, "what a thread holds of B, and the value where it begins",
        |args, overhang| args.mma_partition(MmaOperand::B, overhang),
        TABLE),
    ragged_row("partition_C", "operation, atom layout, permutation, M x N layout, thread", 5..=5, "what a thread holds of C, and the value where it begins",
        |args, overhang| args.mma_partition(MmaOperand::C, overhang),
        TABLE),
    row("partition_shape_A", "operation, atom layout, permutation, shape", 4..=4, "the shape of what a thread holds of A",
        |args, _| Ok(args.tiled_mma(0)?.partition_shape(MmaOperand::A, &args.shape(3)?)?.into()),
        TABLE),
    row("partition_shape_B", "operation, atom layout, permutation, shape", 4..=4, "the shape of what a thread holds of B",
        |args, _| Ok(args.tiled_mma(0)?.partition_shape(MmaOperand::B, &args.shape(3)?)?.into()),
        TABLE),
    row("partition_shape_C", "operation, atom layout, permutation, shape", 4..=4, "the shape of what a thread holds of C",
        |args, _| Ok(args.tiled_mma(0)?.partition_shape(MmaOperand::C, &args.shape(3)?)?.into()),
        TABLE),
    row("tiled_copy", "operation, element bits, threads, values, TiledLayout_TV | Tiler_MN | layoutS_TV | layoutD_TV", 5..=5,
        "the copy over threads and their values: its tile, or a TV layout",
        |args, _| args.tiled_copy_field(&args.tiled_copy(0)?, 4),
        TABLE),
    ragged_row("partition_S", "operation, element bits, threads, values, layout, thread", 6..=6, "what a thread reads, and the value where it begins",
        |args, overhang| args.copy_partition(&args.tiled_copy(0)?, CopySide::Src, 4, overhang),
        TABLE),
    ragged_row("partition_D", "operation, element bits, threads, values, layout, thread", 6..=6, "what a thread writes, and the value where it begins",
        |args, overhang| args.copy_partition(&args.tiled_copy(0)?, CopySide::Dst, 4, overhang),
        TABLE),
    row("tiled_copy_A", "copy, element bits, operation, atom layout, permutation, TiledLayout_TV | Tiler_MN | layoutS_TV | layoutD_TV", 6..=6,
        "the copy over the threads and values of A: its tile, or a TV layout",
        |args, _| args.tiled_copy_field(&args.copy_for(MmaOperand::A)?, 5),
        TABLE),
    row("tiled_copy_B", "copy, element bits, operation, atom layout, permutation, TiledLayout_TV | Tiler_MN | layoutS_TV | layoutD_TV", 6..=6,
        "the copy over the threads and values of B: its tile, or a TV layout",
        |args, _| args.tiled_copy_field(&args.copy_for(MmaOperand::B)?, 5),
        TABLE),
    row("tiled_copy_C", "copy, element bits, operation, atom layout, permutation, TiledLayout_TV | Tiler_MN | layoutS_TV | layoutD_TV", 6..=6,
        "the copy over the threads and values of C: its tile, or a TV layout",
        |args, _| args.tiled_copy_field(&args.copy_for(MmaOperand::C)?, 5),
        TABLE),
    ragged_row("partition_S_of_copy_A", "copy, element bits, operation, atom layout, permutation, layout, thread", 7..=7,
        "what a thread reads in that copy, and the value where it begins",
        |args, overhang| args.copy_partition(&args.copy_for(MmaOperand::A)?, CopySide::Src, 5, overhang),
        TABLE),
    ragged_row("partition_S_of_copy_B", "copy, element bits, operation, atom layout, permutation, layout, thread", 7..=7,
        "what a thread reads in that copy, and the value where it begins",
        |args, overhang| args.copy_partition(&args.copy_for(MmaOperand::B)?, CopySide::Src, 5, overhang),
        TABLE),
    ragged_row("partition_S_of_copy_C", "copy, element bits, operation, atom layout, permutation, layout, thread", 7..=7,
        "what a thread reads in that copy, and the value where it begins",
        |args, overhang| args.copy_partition(&args.copy_for(MmaOperand::C)?, CopySide::Src, 5, overhang),
        TABLE),
    ragged_row("partition_D_of_copy_A", "copy, element bits, operation, atom layout, permutation, layout, thread", 7..=7,
        "what a thread writes in that copy, and the value where it begins",
        |args, overhang| args.copy_partition(&args.copy_for(MmaOperand::A)?, CopySide::Dst, 5, overhang),
        TABLE),
    ragged_row("partition_D_of_copy_B", "copy, element bits, operation, atom layout, permutation, layout, thread", 7..=7,
        "what a thread writes in that copy, and the value where it begins",
        |args, overhang| args.copy_partition(&args.copy_for(MmaOperand::B)?, CopySide::Dst, 5, overhang),
        TABLE),
    ragged_row("partition_D_of_copy_C", "copy, element bits, operation, atom layout, permutation, layout, thread", 7..=7,
        "what a thread writes in that copy, and the value where it begins",
        |args, overhang| args.copy_partition(&args.copy_for(MmaOperand::C)?, CopySide::Dst, 5, overhang),
        TABLE),
    row("retile_of_copy_A", "copy, element bits, operation, atom layout, permutation, fragment", 6..=6,
        "registers of A in the order in which that copy takes them",
        |args, _| Ok(args.copy_for(MmaOperand::A)?.retile(&args.layout(5)?).map_err(|error| shifted(error, 5))?.into()),
        TABLE),
    row("retile_of_copy_B", "copy, element bits, operation, atom layout, permutation, fragment", 6..=6,
        "registers of B in the order in which that copy takes them",
        |args, _| Ok(args.copy_for(MmaOperand::B)?.retile(&args.layout(5)?).map_err(|error| shifted(error, 5))?.into()),
        TABLE),
    row("retile_of_copy_C", "copy, element bits, operation, atom layout, permutation, fragment", 6..=6,
        "registers of C in the order in which that copy takes them",
        |args, _| Ok(args.copy_for(MmaOperand::C)?.retile(&args.layout(5)?).map_err(|error| shifted(error, 5))?.into()),
        TABLE),
];

fn decided(verdict: Verdict, property: &'static str) -> Result<Value, LayoutError> {
    let unproved = || ErrorKind::Unproved { property }.at(Place::operand(0));
    Ok(verdict.decided().ok_or_else(unproved)?.into())
}

/// A tuple of integers.
pub(super) fn integers(values: &[i64]) -> Value {
    values
        .iter()
        .copied()
        .map(Tuple::Leaf)
        .collect::<IntTuple>()
        .into()
}

/// A plain layout where there is nothing to swizzle.
pub(super) fn simplest(swizzled: ComposedLayout) -> Value {
    match swizzled.as_layout() {
        Some(layout) => layout.into(),
        None => swizzled.into(),
    }
}
