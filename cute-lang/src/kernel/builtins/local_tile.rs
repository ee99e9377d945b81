//! Tiles of tensors and of fragments.

use crate::kernel::builtins::call::{Argument, Builtin, Call};
use crate::kernel::emit::builder::Builder;
use crate::kernel::value::{Fragment, Held, Tensor, Value};
use cute_algebra::{Coord, IntTuple, Layout, Shape, Tiler, Tuple, zipped_divide};
use syn::Result;

pub(super) const ROWS: &[Builtin] = &[Builtin {
    signature: "local_tile(x, tile, coordinate)",
    apply: local_tile,
}];

fn local_tile(b: &mut Builder, call: &Call) -> Result<Value> {
    let shape = match call.args[1].value.to_algebra() {
        Some(cute_algebra::Value::Int(extent)) => Tuple::Leaf(extent),
        Some(cute_algebra::Value::Tuple(shape)) => shape,
        _ => return Err(call.mismatch(1, "a shape")),
    };
    if let Some(extent) = shape.leaves().find(|extent| **extent < 1) {
        let message = format!("an extent of a tile is at least 1, not {extent}");
        return Err(call.error_at(1, message));
    }
    let Argument {
        value: coordinate,
        span,
    } = &call.args[2];
    b.set_place(call.args[1].span);
    match &call.args[0].value {
        Value::Tensor(tensor) => {
            let tiles = tensor.tiles(b, &shape)?;
            b.set_place(*span);
            let whole = Value::Tuple(vec![Value::Wild; shape.rank()]);
            let tile = tiles.slice(b, &Value::Tuple(vec![whole, coordinate.clone()]))?;
            Ok(Value::Tensor(tile))
        }
        Value::Global(global) => {
            let tile = match global.tile() {
                None => global.local_tile(b, &shape, coordinate)?,
                Some(layout) => {
                    let tiles = global.with_layout(b, divided(b, layout, &shape)?)?;
                    b.set_place(*span);
                    let whole = Value::Tuple(vec![Value::Wild; shape.rank()]);
                    tiles.slice(b, &Value::Tuple(vec![whole, coordinate.clone()]))?
                }
            };
            Ok(Value::Global(tile))
        }
        Value::Fragment(fragment) => {
            fragment.check_tile(b, &shape)?;
            b.set_place(*span);
            let coordinate = coordinate.to_coord();
            let Some(coordinate) = coordinate.and_then(|coord: Coord| coord.to_int_tuple()) else {
                return Err(call.mismatch(2, "a coordinate known at expansion"));
            };
            fragment.tile(b, &shape, &coordinate).map(Value::Fragment)
        }
        _ => Err(call.mismatch(0, "a tensor or a fragment")),
    }
}

impl Tensor {
    /// The tensor divided into tiles of this shape, with modes (tile, rest).
    pub(super) fn tiles(&self, b: &Builder, tile: &Shape) -> Result<Tensor> {
        self.with_layout(b, divided(b, self.layout.layout(), tile)?)
    }
}

impl Fragment {
    /// Refuses tiles that do not divide the fragment, and tiles with different values in different threads.
    pub fn check_tile(&self, b: &Builder, tile: &Shape) -> Result<()> {
        let Some(distributed) = &self.tile else {
            return Err(b.error("`local_tile` takes a fragment that several threads hold, and one thread holds this one"));
        };
        if tile.leaf_count() != self.shape.leaf_count() {
            let shape = &self.shape;
            return Err(b.error(format!(
                "the tile {tile} and the fragment {shape} have different ranks"
            )));
        }
        for (mode, (&extent, &tile)) in self.shape.leaves().zip(tile.leaves()).enumerate() {
            check_divides(b, mode, tile, extent)?;
            let reach = distributed.reach(mode, i64::MAX);
            let within = self
                .values
                .iter()
                .map(|value| value.coordinate[mode] % tile);
            let worst = within.max().unwrap_or(0);
            if reach + worst >= tile {
                return Err(b.error(format!(
                    "mode {mode}: threads do not agree which tile of {tile} a value is in: a thread adds up to {reach} to its coordinate, the value up to {worst}, and the sum must stay below {tile}"
                )));
            }
        }
        Ok(())
    }

    /// The values in the tile at a coordinate, which counts tiles. [`check_tile`](Self::check_tile) must have accepted
    /// the tile.
    pub fn tile(&self, b: &Builder, tile: &Shape, at: &IntTuple) -> Result<Fragment> {
        let tiles: Vec<i64> = tile.leaves().copied().collect();
        let place: Vec<i64> = at.leaves().copied().collect();
        if place.len() != tiles.len() {
            return Err(b.error(format!(
                "the coordinate {at} and the tile {tile} have different ranks"
            )));
        }
        for (mode, (extent, (tile, place))) in self
            .shape
            .leaves()
            .zip(tiles.iter().zip(&place))
            .enumerate()
        {
            let count = extent / tile;
            if !(0..count).contains(place) {
                return Err(b.error(format!(
                    "mode {mode}: tile {place} is outside of the {count} tiles of {tile}"
                )));
            }
        }
        let inside = |value: &&Held| {
            (0..tiles.len()).all(|mode| value.coordinate[mode] / tiles[mode] == place[mode])
        };
        let values = self.values.iter().filter(inside).map(|value| {
            let coordinate = value
                .coordinate
                .iter()
                .zip(&tiles)
                .map(|(coordinate, tile)| coordinate % tile)
                .collect();
            Held {
                slot: value.slot,
                coordinate,
            }
        });
        Ok(Fragment {
            values: values.collect(),
            shape: tiles.into_iter().map(Tuple::Leaf).collect(),
            is_variable: false,
            ..self.clone()
        })
    }
}

/// A layout divided into tiles of this shape, with modes (tile, rest).
pub(super) fn divided(b: &Builder, layout: &Layout, tile: &Shape) -> Result<Layout> {
    let pairs = layout.modes().into_iter().zip(tile.modes());
    for (mode, (layout, tile)) in pairs.enumerate() {
        if let Tuple::Leaf(tile) = tile {
            check_divides(b, mode, *tile, layout.size())?;
        }
    }
    let divided = Tiler::from_shape(tile).and_then(|tiler| zipped_divide(layout, &tiler));
    divided.map_err(|error| b.error(error))
}

/// Refuses tiles that do not divide an extent.
pub(crate) fn check_divides(b: &Builder, mode: usize, tile: i64, extent: i64) -> Result<()> {
    if tile >= 1 && extent % tile == 0 {
        return Ok(());
    }
    // Limits the search. Extents in shared memory are below the limit.
    let extent_searched = extent.min(i64::from(b.chip.cta_shared_bytes));
    let divides = |candidate: &i64| extent % candidate == 0;
    let below = (1..=tile.min(extent_searched))
        .rev()
        .find(divides)
        .unwrap_or(1);
    let above = (tile.max(1)..=extent_searched)
        .find(divides)
        .unwrap_or(extent);
    let nearest = if below == above {
        below.to_string()
    } else {
        format!("{below} and {above}")
    };
    Err(b.error(format!(
        "mode {mode}: tiles of {tile} do not divide an extent of {extent}; nearest: {nearest}"
    )))
}
