//! Parts of tensors in global memory.

use crate::kernel::access::coordinate::{number, sum};
use crate::kernel::access::crd2idx::along;
use crate::kernel::access::slice::Selection;
use crate::kernel::emit::builder::Builder;
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

    /// The part at a coordinate. `_` keeps a mode, and an integer, known or in a register, selects one of its elements.
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
        let (mut origin, mut kept) = (self.origin.clone(), Vec::new());
        for (&mode, coordinate) in modes.iter().zip(coordinates) {
            match coordinate {
                Value::Wild => kept.push(mode),
                _ => origin[mode] = number(b, coordinate)?,
            }
        }
        let modes = match kept.is_empty() {
            true => Modes::Tile(joined(b, Vec::new())?),
            false => Modes::Whole(kept),
        };
        Ok(Global {
            origin,
            modes,
            ..self.clone()
        })
    }

    fn slice_tile(&self, b: &mut Builder, layout: &Layout, coordinate: &Value) -> Result<Global> {
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
            origin[mode] = b.mul(&number, &Num::from(*extent))?;
            strides.push(ScaledBasis::new(1, [mode]).map_err(|error| b.error(error))?);
        }
        let mut strides = strides.into_iter().map(Tuple::Leaf);
        let stride = match shape {
            Tuple::Leaf(_) => strides.next().unwrap_or(Tuple::Leaf(0.into())),
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
