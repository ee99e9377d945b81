//! Parts of tensors in global memory.

use super::check::require_in_tile;
use crate::kernel::access::coordinate::{like, number, sum};
use crate::kernel::access::crd2idx::along;
use crate::kernel::access::slice::Selection;
use crate::kernel::emit::builder::Builder;
use crate::kernel::emit::operation::Op;
use crate::kernel::value::types::{is_signed, rust_name};
use crate::kernel::value::{Global, Modes, Num, Value};
use cute_algebra::{Layout, ScaledBasis, Shape, Tuple};
use cute_ptx::ast::Type;
use syn::Result;

impl Global {
    /// The number of modes.
    pub fn rank(&self) -> usize {
        match &self.modes {
            Modes::Whole(modes) => modes.len(),
            Modes::Tile(layout) => layout.rank(),
        }
    }

    /// The coordinate at which the part ends along a mode of the parameter, of type `u32`.
    pub fn end(&self, b: &mut Builder, mode: usize) -> Num {
        match &self.ends[mode] {
            Some(end) => end.clone(),
            None => b.extent(self.id(), mode),
        }
    }

    /// The number of coordinates from the origin to the end along a mode of the parameter. The difference does not wrap where the
    /// origin is beyond the end.
    pub fn left(&self, b: &mut Builder, mode: usize) -> Result<Num> {
        let (origin, end) = (&self.origin[mode], self.end(b, mode));
        if *origin == Num::Const(0) {
            return Ok(end);
        }
        let end = like(b, &end, origin)?;
        let end = b.binary(Op::Max, &end, origin)?;
        b.sub(&end, origin)
    }

    /// The part at a coordinate. `_` keeps a mode, a range keeps a part of one, and an integer, known or in a register, selects one
    /// of its elements.
    pub fn slice(&self, b: &mut Builder, coordinate: &Value) -> Result<Global> {
        match &self.modes {
            Modes::Whole(modes) => self.slice_modes(b, modes, coordinate),
            Modes::Tile(layout) => self.slice_tile(b, layout, coordinate),
        }
    }

    /// The same origin under another layout.
    pub fn with_layout(&self, layout: Layout) -> Global {
        Global {
            modes: Modes::Tile(layout),
            ..self.clone()
        }
    }

    fn slice_modes(&self, b: &mut Builder, modes: &[usize], coordinate: &Value) -> Result<Global> {
        let coordinates = self.per_mode(b, modes, coordinate)?;
        let (mut part, mut kept) = (self.clone(), Vec::new());
        for (&mode, coordinate) in modes.iter().zip(coordinates) {
            let origin = &self.origin[mode];
            match coordinate {
                Value::Wild => kept.push(mode),
                Value::Range(first, end, _) => {
                    part.ends[mode] = Some(self.end_of_range(b, mode, end)?);
                    let first = unsigned(b, first)?;
                    part.origin[mode] = sum(b, origin, &first)?;
                    kept.push(mode);
                }
                _ => {
                    let number = number(b, coordinate)?;
                    part.origin[mode] = sum(b, origin, &number)?;
                }
            }
        }
        let modes = match kept.is_empty() {
            true => Modes::Tile(joined(b, Vec::new())?),
            false => Modes::Whole(kept),
        };
        Ok(Global { modes, ..part })
    }

    /// Where a range that ends at this coordinate of the part ends: not beyond the part, even where the part begins beyond its own
    /// end. So no end is beyond the extent, whatever the origin is.
    fn end_of_range(&self, b: &mut Builder, mode: usize, end: &Num) -> Result<Num> {
        let left = self.left(b, mode)?;
        let end = unsigned(b, end)?;
        let (left, end) = (like(b, &left, &end)?, like(b, &end, &left)?);
        let count = b.binary(Op::Min, &left, &end)?;
        let origin = &self.origin[mode];
        let mut end = sum(b, origin, &count)?;
        if *origin != Num::Const(0) {
            let whole = self.end(b, mode);
            let whole = like(b, &whole, &end)?;
            end = b.binary(Op::Min, &end, &whole)?;
        }
        match end {
            Num::Reg(end) => Ok(b.convert(&end, Type::U32)?.into()),
            known => Ok(known),
        }
    }

    fn slice_tile(&self, b: &mut Builder, layout: &Layout, coordinate: &Value) -> Result<Global> {
        require_in_tile(b, self, layout.shape(), coordinate)?;
        let mut origin = self.origin.clone();
        for (mode, origin) in origin.iter_mut().enumerate() {
            let mut selected = Selection {
                kept: Vec::new(),
                offset: 0,
                dynamic: Num::Const(0),
            };
            selected.pick(b, &along(layout, &[mode]), coordinate, 1)?;
            let offset = b.add(&selected.dynamic, &Num::from(selected.offset))?;
            *origin = sum(b, origin, &offset)?;
        }
        let kept = match coordinate {
            Value::Wild => layout.clone(),
            _ => {
                let mut kept = Vec::new();
                keep(layout, coordinate, &mut kept);
                joined(b, kept)?
            }
        };
        Ok(Global {
            origin,
            ..self.with_layout(kept)
        })
    }

    /// The tile of that shape at a coordinate that counts tiles, of whole modes.
    pub fn local_tile(&self, b: &mut Builder, shape: &Shape, coordinate: &Value) -> Result<Global> {
        let Modes::Whole(modes) = &self.modes else {
            return Err(b.error("this part is a tile already"));
        };
        let (expected, found) = (modes.len(), shape.rank());
        if shape.depth() > 1 || expected != found {
            let name = &b.params[self.param].name;
            return Err(b.error(format!(
                "the tile {shape} has {found} modes, but this part of `{name}` has {expected}: a tile has an extent for each"
            )));
        }
        let coordinates = self.per_mode(b, modes, coordinate)?;
        let (mut origin, mut strides) = (self.origin.clone(), Vec::new());
        for ((&mode, extent), coordinate) in modes.iter().zip(shape.leaves()).zip(coordinates) {
            let number = number(b, coordinate)?;
            let first = b.mul(&number, &Num::from(*extent))?;
            origin[mode] = sum(b, &origin[mode], &first)?;
            strides.push(ScaledBasis::new(1, [mode]).map_err(|error| b.error(error))?);
        }
        let mut strides = strides.into_iter().map(Tuple::Leaf);
        let stride = match shape {
            Tuple::Leaf(_) => strides
                .next()
                .ok_or_else(|| b.error("a tile has no modes (a defect)"))?,
            Tuple::Node(_) => strides.collect(),
        };
        let layout = Layout::new(shape.clone(), stride).map_err(|error| b.error(error))?;
        Ok(Global {
            origin,
            ..self.with_layout(layout)
        })
    }

    /// The tile moved by a distance in each of its modes, which may be negative.
    pub fn moved(&self, b: &mut Builder, layout: &Layout, distance: &Value) -> Result<Global> {
        let modes: Vec<usize> = (0..layout.rank()).collect();
        let distances = self.per_mode(b, &modes, distance)?;
        let mut moved = self.clone();
        for (layout, distance) in layout.modes().iter().zip(distances) {
            let (Tuple::Leaf(stride), Some(distance)) = (layout.stride(), distance.as_num()) else {
                return Err(b.error(format!(
                    "a tile is moved by an integer along each mode, not by {} along {layout}",
                    distance.kind()
                )));
            };
            let [mode] = stride.path()[..] else {
                continue;
            };
            let distance = match distance {
                Num::Reg(scalar) => b.convert(&scalar, Type::U32)?.into(),
                Num::Const(known) => Num::Const(known & i128::from(u32::MAX)),
            };
            let distance = b.mul(&distance, &Num::from(stride.value()))?;
            if distance != Num::Const(0) {
                moved.is_moved = true;
                let origin = b.to_register(&moved.origin[mode], Type::U32)?;
                moved.origin[mode] = b.add(&origin.into(), &distance)?;
            }
        }
        Ok(moved)
    }

    /// The coordinate in each of these modes.
    fn per_mode<'v>(
        &self,
        b: &Builder,
        modes: &[usize],
        coordinate: &'v Value,
    ) -> Result<&'v [Value]> {
        let coordinates = match coordinate {
            Value::Tuple(coordinates) => coordinates,
            single => std::slice::from_ref(single),
        };
        let (expected, found) = (modes.len(), coordinates.len());
        if expected == found {
            return Ok(coordinates);
        }
        let name = &b.params[self.param].name;
        Err(b.error(format!(
            "this coordinate has {found} modes, but this part of `{name}` has {expected}"
        )))
    }
}

/// A bound of a range of coordinates.
fn unsigned(b: &mut Builder, bound: &Num) -> Result<Num> {
    match bound {
        Num::Reg(scalar) if is_signed(scalar.ty) => {
            let found = rust_name(scalar.ty);
            Err(b.error(format!(
                "the bounds of a range of coordinates are unsigned integers, and this one is `{found}`"
            )))
        }
        bound => number(b, &bound.clone().into()),
    }
}

/// The modes that `_` keeps.
fn keep(layout: &Layout, coordinate: &Value, kept: &mut Vec<Layout>) {
    match coordinate {
        Value::Wild => kept.push(layout.clone()),
        Value::Tuple(coordinates) => {
            for (mode, coordinate) in layout.modes().iter().zip(coordinates) {
                keep(mode, coordinate, kept);
            }
        }
        _ => {}
    }
}

fn joined(b: &Builder, modes: Vec<Layout>) -> Result<Layout> {
    Layout::concat(modes).map_err(|error| b.error(error))
}
