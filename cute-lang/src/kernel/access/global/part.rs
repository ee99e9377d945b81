//! Parts of tensors in global memory.

use super::check::require_in_tile;
use crate::kernel::access::coordinate::{
    at_most, first_of_tile, is_wide, like, number, sum, widened,
};
use crate::kernel::access::crd2idx::along;
use crate::kernel::access::slice::Selection;
use crate::kernel::emit::builder::Builder;
use crate::kernel::emit::facts::Quantity;
use crate::kernel::emit::operation::Op;
use crate::kernel::emit::quantity::MAX_EXTENT;
use crate::kernel::value::types::{is_signed, range, rust_name};
use crate::kernel::value::{Coordinates, Global, Modes, Num, Scalar, Value};
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

    /// The end coordinate of the part in a mode of the parameter, of type `u32`.
    pub fn end(&self, b: &mut Builder, mode: usize) -> Num {
        match &self.ranges[mode] {
            Some(range) => range.end.clone(),
            None => b.extent(self.id(), mode),
        }
    }

    /// The number of coordinates from the origin to the end along a mode of the parameter. The difference does not wrap where the
    /// origin is beyond the end.
    pub fn left(&self, b: &mut Builder, mode: usize) -> Result<Num> {
        let end = self.end(b, mode);
        count(b, &self.origin[mode], &end)
    }

    /// For a mode of the parameter and a moved tile: a coordinate relative to the first one of the part, and the number of coordinates of
    /// the part. A coordinate below the first one becomes greater than every number of coordinates.
    pub fn from_first(&self, b: &mut Builder, mode: usize, place: &Num) -> Result<(Num, Num)> {
        let Some(range) = self.ranges[mode].as_ref() else {
            let extent = self.end(b, mode);
            return Ok((place.clone(), like(b, &extent, place)?));
        };
        let first = match is_wide(place) {
            true => widened(b, &range.first)?,
            false => {
                let (first, _) = at_most(b, &range.first, MAX_EXTENT)?;
                match first {
                    Num::Reg(first) => b.convert(&first, Type::U32)?.into(),
                    known => known,
                }
            }
        };
        let count = count(b, &first, &range.end)?;
        Ok((b.sub(place, &first)?, count))
    }

    /// The part at a coordinate. `_` keeps a mode, a range keeps a part of a mode, and an integer, known or in a register, selects one
    /// element.
    pub fn slice(&self, b: &mut Builder, coordinate: &Value) -> Result<Global> {
        match &self.modes {
            Modes::Whole(modes) => self.slice_modes(b, modes, coordinate),
            Modes::Tile(layout) => self.slice_tile(b, layout, coordinate),
        }
    }

    /// The same origin under another layout.
    pub fn with_layout(&self, b: &Builder, layout: Layout) -> Result<Global> {
        for mode in 0..self.origin.len() {
            let reach = along(&layout, &[mode]).cosize();
            if i128::from(reach) > MAX_EXTENT {
                let name = &b.params[self.param].name;
                return Err(b.error(format!(
                    "the tile {layout} of `{name}` reaches over {reach} coordinates of mode {mode}, but an extent is at most {MAX_EXTENT}"
                )));
            }
        }
        Ok(Global {
            modes: Modes::Tile(layout),
            ..self.clone()
        })
    }

    /// Moves the origin on along a mode of the parameter.
    pub fn advance(&mut self, b: &mut Builder, mode: usize, by: &Num) -> Result<()> {
        self.advance_by(b, mode, by, (by, 1))
    }

    /// As `advance`, by a number of steps of known length. The product is given.
    fn advance_by(
        &mut self,
        b: &mut Builder,
        mode: usize,
        by: &Num,
        (steps, step): (&Num, i64),
    ) -> Result<()> {
        let (origin, extent) = (&self.origin[mode], Quantity::Extent(self.id(), mode));
        self.origin[mode] = match self.is_moved[mode] {
            // It may be below 0, and has room above it for a whole tile.
            true => b.add(origin, by)?,
            false => sum(b, origin, by, |b, sum| b.known.is_below(sum, extent))?,
        };
        self.terms[mode].push((steps.clone(), step));
        Ok(())
    }

    fn slice_modes(&self, b: &mut Builder, modes: &[usize], coordinate: &Value) -> Result<Global> {
        let coordinates = self.per_mode(b, modes, coordinate)?;
        let (mut part, mut kept) = (self.clone(), Vec::new());
        for (&mode, coordinate) in modes.iter().zip(coordinates) {
            match coordinate {
                Value::Wild => kept.push(mode),
                Value::Range(first, end, _) => {
                    let end = self.end_of_range(b, mode, end)?;
                    let first = unsigned(b, first)?;
                    part.advance(b, mode, &first)?;
                    let first = part.origin[mode].clone();
                    part.ranges[mode] = Some(Coordinates { first, end });
                    kept.push(mode);
                }
                _ => {
                    let (number, exact) = (number(b, coordinate)?, exact(coordinate));
                    let exact = exact.as_ref().unwrap_or(&number);
                    part.advance_by(b, mode, &number, (exact, 1))?;
                }
            }
        }
        let modes = match kept.is_empty() {
            true => Modes::Tile(joined(b, Vec::new())?),
            false => Modes::Whole(kept),
        };
        Ok(Global { modes, ..part })
    }

    /// The end of a range that ends at this coordinate of the part. It is never beyond the part, even if the part begins beyond its own
    /// end. So it is never beyond the extent, for any origin.
    fn end_of_range(&self, b: &mut Builder, mode: usize, end: &Num) -> Result<Num> {
        let left = self.left(b, mode)?;
        let end = unsigned(b, end)?;
        let (left, end) = (like(b, &left, &end)?, like(b, &end, &left)?);
        let count = b.binary(Op::Min, &left, &end)?;
        let origin = &self.origin[mode];
        let origin_like = like(b, origin, &count)?;
        let mut end = b.add(&origin_like, &count)?;
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
        let mut part = self.clone();
        for mode in 0..self.origin.len() {
            let mut selected = Selection {
                of: Some(format!("a tile of `{}`", b.params[self.param].name)),
                kept: Vec::new(),
                offset: 0,
                dynamic: Num::Const(0),
            };
            selected.pick(b, &along(layout, &[mode]), coordinate, Ok(1))?;
            let offset = b.add(&selected.dynamic, &Num::from(selected.offset))?;
            part.advance(b, mode, &offset)?;
        }
        let kept = match coordinate {
            Value::Wild => layout.clone(),
            _ => {
                let mut kept = Vec::new();
                keep(layout, coordinate, &mut kept);
                joined(b, kept)?
            }
        };
        part.with_layout(b, kept)
    }

    /// The tile of this shape of whole modes, at a coordinate that counts tiles.
    pub fn local_tile(&self, b: &mut Builder, shape: &Shape, coordinate: &Value) -> Result<Global> {
        let Modes::Whole(modes) = &self.modes else {
            return Err(b.error("this part is a tile already"));
        };
        let (expected, found) = (modes.len(), shape.rank());
        if shape.depth() > 1 || expected != found {
            let name = &b.params[self.param].name;
            let s = if found == 1 { "" } else { "s" };
            return Err(b.error(format!(
                "the tile {shape} has {found} mode{s}, but this part of `{name}` has {expected}: a tile has an extent for each"
            )));
        }
        let coordinates = self.per_mode(b, modes, coordinate)?;
        let (mut tile, mut strides) = (self.clone(), Vec::new());
        for ((&mode, extent), coordinate) in modes.iter().zip(shape.leaves()).zip(coordinates) {
            let (number, limit) = (number(b, coordinate)?, Quantity::Extent(self.id(), mode));
            let is_inside = |b: &Builder, first: &Num| b.known.is_below(first, limit);
            let first = first_of_tile(b, &number, *extent, is_inside)?;
            let exact = exact(coordinate).unwrap_or(number);
            tile.advance_by(b, mode, &first, (&exact, *extent))?;
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
        tile.with_layout(b, layout)
    }

    /// The tile moved by a distance in each mode, which may be negative.
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
            if distance != Num::Const(0) && stride.value() != 0 {
                moved.shift(b, mode, &distance, stride.value())?;
            }
        }
        Ok(moved)
    }

    /// Moves the origin along a mode of the parameter by `steps` times `step`; either may be negative. The new origin is exact, or so far
    /// outside of every tensor that a whole tile from there is outside.
    fn shift(&mut self, b: &mut Builder, mode: usize, steps: &Num, step: i64) -> Result<()> {
        let origin = self.origin[mode].clone();
        let [from, by] =
            [&self.terms[mode][..], &[(steps.clone(), step)]].map(|terms| between(b, terms));
        // Then the origin is exact, and its sum with the steps fits.
        let fits = !self.is_moved[mode] && from.0 >= 0 && from.1 <= MAX_EXTENT;
        let is_near = fits && by.0 >= -MAX_EXTENT && from.1 + by.1 <= MAX_EXTENT;
        let mut terms = match fits {
            true => vec![(origin.clone(), 1)],
            false => self.terms[mode].clone(),
        };
        terms.push((steps.clone(), step));
        let shifted = if is_near {
            let by = match steps {
                Num::Reg(steps) => {
                    let steps = b.convert(steps, Type::U32)?;
                    b.mul(&steps.into(), &Num::Const(i128::from(step as u32)))?
                }
                Num::Const(steps) => Num::Const(lowest(steps * i128::from(step))),
            };
            let origin = match &origin {
                Num::Reg(origin) => b.convert(origin, Type::U32)?.into(),
                Num::Const(origin) => Num::Const(lowest(*origin)),
            };
            let sum = b.add(&origin, &by)?;
            narrowed(b, &sum)?
        } else {
            let (least, greatest) = between(b, &terms);
            let mut sum = Num::Const(0);
            for (number, factor) in &terms {
                let term = signed_product(b, number, *factor)?;
                sum = b.add(&sum, &term)?;
            }
            if greatest > MAX_EXTENT {
                sum = b.binary(Op::Min, &sum, &Num::Const(MAX_EXTENT))?;
            }
            if least < -MAX_EXTENT {
                sum = b.binary(Op::Max, &sum, &Num::Const(-MAX_EXTENT))?;
            }
            narrowed(b, &sum)?
        };
        let shifted = Num::Reg(shifted);
        // The limits are multiples of every relevant power of two.
        if let Num::Reg(register) = &shifted {
            let zeros = |(number, factor): &(Num, i64)| {
                b.known.possible_bits(number).trailing_zeros() + factor.trailing_zeros()
            };
            let multiple = terms.iter().map(zeros).min().unwrap_or(0).min(31);
            let bits = b.known.possible_bits(&shifted) & (u64::MAX << multiple);
            b.known.limit_bits(register, bits);
        }
        (self.origin[mode], self.is_moved[mode]) = (shifted, true);
        self.terms[mode].push((steps.clone(), step));
        Ok(())
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
        let (name, s) = (
            &b.params[self.param].name,
            if found == 1 { "" } else { "s" },
        );
        let message = format!(
            "this coordinate has {found} mode{s}, but this part of `{name}` has {expected}"
        );
        Err(b.error(match coordinate {
            Value::Tuple(_) if found < expected => format!(
                "{message}; if it is a fragment's, `fragment::<T>(layout, shape)` takes the modes of extent 1 which the layout leaves out"
            ),
            _ if found < expected => {
                let names = ["i", "j", "k", "l", "m"];
                let names = names[..expected.min(names.len())].join(", ");
                format!("{message}: it is written `({names})`")
            }
            _ => message,
        }))
    }
}

/// A coordinate with its sign. As an unsigned number, a coordinate below 0 is outside of every tensor, but a negative distance from it may
/// lead back inside.
fn exact(coordinate: &Value) -> Option<Num> {
    let number = coordinate.as_num();
    number.filter(|number| matches!(number, Num::Reg(scalar) if is_signed(scalar.ty)))
}

/// An integer times a known factor, as a signed number of 64 bits. It is limited to the range of all tensors.
fn signed_product(b: &mut Builder, number: &Num, factor: i64) -> Result<Num> {
    const MANY: i128 = 1 << 60;
    let factor = i128::from(factor);
    let number = match number {
        Num::Const(known) => {
            let product = known.saturating_mul(factor);
            return Ok(Num::Const(product.clamp(-MANY, MANY)));
        }
        Num::Reg(scalar) if factor == 0 => b.to_register(&Num::Const(0), scalar.ty)?,
        Num::Reg(scalar) => {
            let limit = MANY / factor.abs();
            let (least, greatest) = range(scalar.ty);
            let mut number = number.clone();
            if limit < greatest && b.known.greatest(&number) > limit {
                number = b.binary(Op::Min, &number, &Num::Const(limit))?;
            }
            if -limit > least {
                number = b.binary(Op::Max, &number, &Num::Const(-limit))?;
            }
            b.to_register(&number, scalar.ty)?
        }
    };
    let wide = b.convert(&number, Type::S64)?;
    b.mul(&wide.into(), &Num::Const(factor))
}

/// The lowest 32 bits.
fn narrowed(b: &mut Builder, num: &Num) -> Result<Scalar> {
    match num {
        Num::Reg(scalar) => b.convert(scalar, Type::U32),
        Num::Const(known) => b.to_register(&Num::Const(lowest(*known)), Type::U32),
    }
}

fn lowest(known: i128) -> i128 {
    known & i128::from(u32::MAX)
}

/// Lower and upper bound of a sum of numbers with known factors.
fn between(b: &Builder, terms: &[(Num, i64)]) -> (i128, i128) {
    let bounds = terms.iter().map(|(number, factor)| {
        let factor = i128::from(*factor);
        let (least, greatest) = match number {
            Num::Const(known) => (*known, *known),
            Num::Reg(scalar) if is_signed(scalar.ty) => match b.known.negated(scalar) {
                Some(positive) => (-b.known.greatest(positive), 0),
                None => range(scalar.ty),
            },
            Num::Reg(_) => {
                let limit = MAX_EXTENT / factor.abs().max(1);
                let greatest = b.known.greatest(number);
                match b.known.is_below_known(number, limit + 1) {
                    true => (0, greatest.min(limit)),
                    false => (0, greatest),
                }
            }
        };
        let [x, y] = [least, greatest].map(|bound| bound.saturating_mul(factor));
        (x.min(y), x.max(y))
    });
    bounds.fold((0, 0), |sum, bounds| {
        (
            sum.0.saturating_add(bounds.0),
            sum.1.saturating_add(bounds.1),
        )
    })
}

/// The number of coordinates from one to another. The difference does not wrap if the first is beyond the end.
fn count(b: &mut Builder, first: &Num, end: &Num) -> Result<Num> {
    if *first == Num::Const(0) {
        return Ok(end.clone());
    }
    let end = like(b, end, first)?;
    let end = b.binary(Op::Max, &end, first)?;
    b.sub(&end, first)
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
        // No part has more coordinates.
        Num::Const(known) if *known > MAX_EXTENT => Ok(Num::Const(MAX_EXTENT)),
        bound => number(b, &bound.clone().into()),
    }
}

/// The modes kept by `_`.
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
