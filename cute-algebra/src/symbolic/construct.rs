//! Layouts from shapes and orders.

use super::chain::ranking;
use super::composition::{product_by, ranked_product};
use super::layout::{SymbolicLayout, SymbolicTiler, overflow, quotient};
use super::scope::{Check, Scope};
use super::show::show_tuple;
use super::tags::regrouped;
use super::term::Term;
use super::{SymbolicError, SymbolicErrorKind};
use crate::composition::Overhang;
use crate::construct::ranked_by;
use crate::divide::Form;
use crate::error::{ErrorKind, Place};
use crate::product::{Order, pad};
use crate::tuple::{IntTuple, Tuple};

type Result<T> = std::result::Result<T, SymbolicError>;

/// The compact layout with modes in that order.
pub(crate) fn make_ordered_layout(
    scope: &mut Scope,
    shape: &Tuple<Term>,
    order: &IntTuple,
) -> Result<SymbolicLayout> {
    shape.check_limits()?;
    let ranking = ranked_by(&shape.map(|_| 1), order)?;
    SymbolicLayout::ranked(scope, shape, ranking)
}

/// Coordinates to themselves.
pub(crate) fn make_identity_layout(
    scope: &mut Scope,
    shape: &Tuple<Term>,
) -> Result<SymbolicLayout> {
    shape.check_limits()?;
    let mut paths = shape.leaf_paths().into_iter();
    let stride = shape.map(|_| (Term::ONE, paths.next().unwrap_or_default()));
    SymbolicLayout::along(scope, shape, &stride)
}

/// The compact layout with the shape and the order of another.
pub(crate) fn make_layout_like(scope: &mut Scope, a: &SymbolicLayout) -> Result<SymbolicLayout> {
    let filtered = a.filter_zeros(scope)?;
    let ranking = ranking(scope, &filtered)?;
    let compacted = SymbolicLayout::ranked(scope, &filtered.shape(), ranking)?;
    with_shape(scope, &compacted, &a.shape())
}

/// The same with the first mode fastest.
pub(crate) fn make_fragment_like(scope: &mut Scope, a: &SymbolicLayout) -> Result<SymbolicLayout> {
    let [first, rest @ ..] = &a.modes()[..] else {
        return SymbolicLayout::compact(scope, &a.shape(), false);
    };
    if rest.is_empty() {
        return SymbolicLayout::compact(scope, &a.shape(), false);
    }
    let filtered = first.filter_zeros(scope)?.shape();
    let compacted = SymbolicLayout::compact(scope, &filtered, false)?;
    let first = with_shape(scope, &compacted, &first.shape())?;
    let rest = SymbolicLayout::concat(rest.iter().cloned())?;
    let ranking = ranking(scope, &rest)?;
    let ordered = SymbolicLayout::ranked(scope, &rest.shape(), ranking)?;
    product_by(scope, &first, &SymbolicTiler::Layout(ordered), Form::Tiled)
}

/// The same strides under another shape.
pub(crate) fn with_shape(
    scope: &mut Scope,
    a: &SymbolicLayout,
    shape: &Tuple<Term>,
) -> Result<SymbolicLayout> {
    let stride = a
        .tree()
        .map(|mode| (mode.stride.clone(), mode.path.clone()));
    let reshaped = SymbolicLayout::along(scope, shape, &stride).map_err(|error| error.inside(1))?;
    let leaves = reshaped.leaves().zip(a.leaves()).map(|(leaf, mode)| {
        let mut leaf = leaf.clone();
        leaf.sources.clone_from(&mode.sources);
        SymbolicLayout::leaf(leaf)
    });
    reshaped.replace_leaves(leaves.collect())
}

/// The block repeated over a shape.
pub(crate) fn tile_to_shape(
    scope: &mut Scope,
    block: &SymbolicLayout,
    shape: &Tuple<Term>,
    order: Option<&IntTuple>,
    overhang: Overhang,
) -> Result<SymbolicLayout> {
    if block.rank() > shape.rank() {
        let show = |tuple: &Tuple<Term>| show_tuple(&tuple.map(|extent| scope.show(extent)));
        let (expected, found) = (show(&block.shape()), show(shape));
        return Err(ErrorKind::Profile { expected, found }
            .at(Place::operand(1))
            .into());
    }
    let block = regrouped(block, |block| Ok(pad(block, shape.rank())))?;
    let mut copies = Vec::new();
    for (i, (target, mode)) in shape.modes().iter().zip(block.modes()).enumerate() {
        let at_mode = |kind: SymbolicErrorKind| kind.at(Place::operand(1).mode([i]).shape());
        let target = target
            .leaves()
            .try_fold(Term::ONE, |size, extent| size.checked_mul(extent));
        let (target, size) = (
            target.ok_or_else(overflow)?,
            mode.size().ok_or_else(overflow)?,
        );
        scope.require_extent(&target).map_err(at_mode)?;
        copies.push(Tuple::Leaf(match overhang {
            Overhang::Ragged => scope.ceiling(&target, &size).map_err(at_mode)?,
            Overhang::Strict => {
                let check = Check::divides(&size, &target);
                scope.require(check).map_err(at_mode)?;
                quotient(&target, &size)?
            }
        }));
    }
    let copies = match shape {
        Tuple::Leaf(_) => copies.remove(0),
        Tuple::Node(_) => Tuple::Node(copies),
    };
    let by_mode = || (0..copies.rank() as i64).map(Tuple::Leaf).collect();
    let order = order.cloned().unwrap_or_else(by_mode);
    let grid = make_ordered_layout(scope, &copies, &order).map_err(|error| error.inside(2))?;
    ranked_product(scope, &block, &grid, Order::Blocked)
}
