//! The steps of complements, of divisions, and of tiles and partitions, which are slices of divided layouts.

use super::{Step, behind, by_mode, called, explanation_of, layout_of, rules, size_of, tiler_of};
use crate::complement::{self, complement_in};
use crate::composition::{self, compose};
use crate::domain::Numbers;
use crate::layout::Layout;
use crate::local::{thread_coordinate, thread_tiler, tile_coordinate};
use crate::overhang::Overhang;
use crate::rule::Rule;
use crate::tiler::{Others, Tiler};
use crate::tuple::{Coord, IntTuple, Tuple};
use crate::value::Value;
use alloc::format;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;

/// A gap below each stride, and blocks that fill the target. For a swizzled layout, it is the complement of the layout behind the
/// swizzle.
pub(super) fn complement(operands: &[Value], overhang: Overhang) -> Option<Vec<Step>> {
    if let Some(Value::Composed(composed)) = operands.first() {
        let mut inner = operands.to_vec();
        inner[0] = composed.layout().into();
        return Some(vec![called("complement", &inner, overhang).0]);
    }
    let a = layout_of(operands.first())?;
    let target = match operands.get(1) {
        Some(target) => Some(size_of(target)?),
        None => None,
    };
    Some(rules(complement::rules(&a, target, overhang)))
}

/// For each part of the tiler, the complement of the tile and a composition with both; then tile and rest in an order.
pub(super) fn divide(
    operands: &[Value],
    overhang: Overhang,
    order: &'static str,
) -> Option<Vec<Step>> {
    let (a, mut steps) = behind(operands.first())?;
    let tiler = tiler_of(operands.get(1))?;
    steps.extend(by_mode(&a, &tiler, Others::Keep, &|a, tile| {
        division(a, tile, overhang)
    }));
    let parts = "tile and rest";
    steps.extend(rules([Rule::Arranged { parts, order }]));
    Some(steps)
}

/// The rest is the complement of the tile in the size of A; A is composed with both.
fn division(a: &Layout, tile: &Layout, overhang: Overhang) -> Vec<Step> {
    let size = a.size();
    let rest = complement_in(&mut Numbers, tile, &size, overhang);
    let rest = rest.ok().map(|(rest, _)| rest);
    let found = complement::rules(tile, Some(size), overhang);
    let operands = [tile.to_string(), size.to_string()];
    let mut list = vec![explanation_of("complement", operands, found, rest.as_ref())];
    if let Some(both) = rest.and_then(|rest| Layout::concat([tile.clone(), rest]).ok()) {
        let found = composition::rules(a, &both, overhang);
        let result = compose(&mut Numbers, a, &both, overhang).ok();
        let operands = [a.to_string(), both.to_string()];
        list.push(explanation_of(
            "composition",
            operands,
            found,
            result.as_ref(),
        ));
    }
    list
}

/// The layout is divided, and the tile is a slice.
pub(super) fn local_tile(operands: &[Value], overhang: Overhang) -> Option<Vec<Step>> {
    let [a, tiler, coord] = operands else {
        return None;
    };
    let coord = match coord {
        Value::Coord(coord) => coord.clone(),
        Value::Tuple(tuple) => tuple.to_coord(),
        Value::Int(index) => Tuple::Leaf(Some(*index)),
        Value::Tiler(Tiler::Keep) => Tuple::Leaf(None),
        _ => return None,
    };
    let what = format!("tile {coord}");
    sliced(a, tiler, overhang, &what, &|tiles| {
        Some(tile_coordinate(tiles, &coord))
    })
}

/// The layout is divided by the shape of the threads, and what a thread has is a slice.
pub(super) fn local_partition(operands: &[Value], overhang: Overhang) -> Option<Vec<Step>> {
    let [a, threads, Value::Int(thread)] = operands else {
        return None;
    };
    let threads = layout_of(Some(threads))?;
    let tiler = thread_tiler(&mut Numbers, &threads).ok()?;
    let what = format!("thread {thread}");
    sliced(a, &tiler.into(), overhang, &what, &|tiles| {
        thread_coordinate(&mut Numbers, tiles, &threads, thread).ok()
    })
}

/// The slice, and the value where the coordinate is 0 in place of each `_`.
pub(super) fn slice_and_offset(operands: &[Value], _: Overhang) -> Option<Vec<Step>> {
    let [a, Value::Coord(coord)] = operands else {
        return None;
    };
    let layout = layout_of(Some(a))?;
    let first: IntTuple = coord.map(|leaf| leaf.unwrap_or(0));
    let (slice, _) = called("slice", operands, Overhang::Strict);
    let (offset, _) = called("crd2idx", &[first.into(), layout.into()], Overhang::Strict);
    Some(vec![slice, offset])
}

/// The slice of a divided layout at a coordinate.
fn sliced(
    a: &Value,
    tiler: &Value,
    overhang: Overhang,
    what: &str,
    coordinate: &dyn Fn(&Layout) -> Option<Coord>,
) -> Option<Vec<Step>> {
    let (step, tiles) = called("zipped_divide", &[a.clone(), tiler.clone()], overhang);
    let mut steps = vec![step];
    let (layout, slice) = match &tiles {
        Some(Value::Layout(layout)) => (layout, "slice_and_offset"),
        Some(Value::Composed(composed)) => (composed.layout(), "slice"),
        _ => return Some(steps),
    };
    if let (Some(coord), Some(tiles)) = (coordinate(layout), &tiles) {
        let (what, at) = (what.to_string(), coord.to_string());
        steps.extend(rules([Rule::At { what, coord: at }]));
        let operands = [tiles.clone(), coord.into()];
        steps.push(called(slice, &operands, Overhang::Strict).0);
    }
    Some(steps)
}
