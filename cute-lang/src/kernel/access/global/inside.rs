//! Which elements of a part are inside of the tensor, by their coordinates.

use super::part::widened;
use crate::kernel::emit::builder::Builder;
use crate::kernel::emit::facts::Quantity;
use crate::kernel::emit::operation::{Cmp, Op};
use crate::kernel::value::{Global, Num, Scalar, Value};
use cute_ptx::ast::{Operand, Type};
use std::collections::BTreeMap;
use syn::Result;

/// Whether it is known that the element at a coordinate, relative to the origin, is inside.
pub(crate) fn is_inside(b: &Builder, global: &Global, coordinate: &[i64]) -> bool {
    let mut places = coordinate.iter().enumerate();
    places.all(|(mode, reach)| mode_is_inside(b, global, mode, *reach))
}

/// Whether it is known that all coordinates of a mode up to `reach`, relative to the origin, are below its extent.
fn mode_is_inside(b: &Builder, global: &Global, mode: usize, reach: i64) -> bool {
    let extent = Quantity::Extent(global.param, mode);
    let (least, _) = b.facts.bounds(extent);
    let origin = &global.origin[mode];
    let by_bounds = b.greatest(origin) + i128::from(reach) < least;
    by_bounds || reach == 0 && b.is_below(origin, extent)
}

/// The predicates of a part's elements.
#[derive(Clone)]
pub(crate) struct Inside {
    global: Global,
    /// For each mode, the largest coordinate of an element; none if all are known to be inside.
    reach: Vec<Option<i64>>,
    /// For each mode, how many coordinates there are from the origin to the end of the tensor, if it has been needed.
    left: Vec<Option<Num>>,
    /// The predicates so far, by coordinates in the modes in which elements may be outside.
    known: BTreeMap<Vec<(usize, i64)>, Scalar>,
}

impl Inside {
    /// The predicates of elements with these coordinates, relative to the origin.
    pub(crate) fn new(b: &Builder, global: &Global, coordinates: &[Vec<i64>]) -> Self {
        let modes = 0..global.origin.len();
        let reach = modes.clone().map(|mode| {
            let largest = coordinates.iter().map(|coordinate| coordinate[mode]).max();
            let largest = largest.unwrap_or(0);
            (!mode_is_inside(b, global, mode, largest)).then_some(largest)
        });
        Self {
            global: global.clone(),
            reach: reach.collect(),
            left: vec![None; modes.len()],
            known: BTreeMap::new(),
        }
    }

    /// Whether elements may be outside.
    pub(crate) fn may_end(&self) -> bool {
        self.reach.iter().any(Option::is_some)
    }

    /// Whether elements may be outside by their coordinate in the last mode.
    pub(crate) fn may_end_in_last(&self) -> bool {
        self.reach.last().is_some_and(Option::is_some)
    }

    /// A predicate that holds if all elements are inside; none if that is known.
    pub(crate) fn all(&mut self, b: &mut Builder) -> Result<Option<Scalar>> {
        let reach: Vec<i64> = self.reach.iter().map(|it| it.unwrap_or(0)).collect();
        if !self.global.is_moved {
            return self.predicate(b, &reach);
        }
        let mut all = None;
        for (mode, reach) in reach.into_iter().enumerate() {
            if self.reach[mode].is_some() {
                let origin = self.global.origin[mode].clone();
                let own = self.run(b, mode, &origin, &Num::from(reach))?;
                all = Some(b.both(all, own));
            }
        }
        Ok(all)
    }

    /// A predicate that holds if the element is inside in all modes but the last.
    pub(crate) fn row(&mut self, b: &mut Builder, coordinate: &[i64]) -> Result<Option<Scalar>> {
        let mut row = self.clone();
        if let Some(last) = row.reach.last_mut() {
            *last = None;
        }
        row.predicate(b, coordinate)
    }

    /// A predicate that holds if all coordinates from `first`, which may be below 0, to `first + reach` are inside.
    fn run(&self, b: &mut Builder, mode: usize, first: &Num, reach: &Num) -> Result<Scalar> {
        let extent = b.extent(self.global.param, mode);
        let extent = like(b, &extent, first)?;
        let end = b.binary(Op::Max, &extent, reach)?;
        let end = b.sub(&end, reach)?;
        below(b, first, &end)
    }

    /// A predicate that holds if the element is inside; none if that is known.
    pub(crate) fn predicate(
        &mut self,
        b: &mut Builder,
        coordinate: &[i64],
    ) -> Result<Option<Scalar>> {
        let places = coordinate.iter().copied().enumerate();
        let places: Vec<_> = places
            .filter(|(mode, _)| self.reach[*mode].is_some())
            .collect();
        let mut all: Option<Scalar> = None;
        for (i, place) in places.iter().enumerate() {
            let own = self.remembered(b, vec![*place], |this, b| this.in_mode(b, place))?;
            all = Some(match all {
                None => own,
                Some(before) => self.remembered(b, places[..=i].to_vec(), |_, b| {
                    Ok(b.both(Some(before), own))
                })?,
            });
        }
        Ok(all)
    }

    fn remembered(
        &mut self,
        b: &mut Builder,
        places: Vec<(usize, i64)>,
        make: impl FnOnce(&mut Self, &mut Builder) -> Result<Scalar>,
    ) -> Result<Scalar> {
        if let Some(known) = self.known.get(&places) {
            return Ok(known.clone());
        }
        let made = make(self, b)?;
        self.known.insert(places, made.clone());
        Ok(made)
    }

    /// A predicate that holds if the coordinate in that mode is below its extent.
    fn in_mode(&mut self, b: &mut Builder, &(mode, coordinate): &(usize, i64)) -> Result<Scalar> {
        let origin = self.global.origin[mode].clone();
        let extent = b.extent(self.global.param, mode);
        let below = match &origin {
            Num::Const(origin) => {
                let coordinate = origin + i128::from(coordinate);
                b.compare(Cmp::Gt, &extent, &Num::Const(coordinate))?
            }
            Num::Reg(_) if self.global.is_moved => {
                let place = b.add(&origin, &Num::from(coordinate))?;
                let extent = like(b, &extent, &origin)?;
                b.compare(Cmp::Lt, &place, &extent)?
            }
            // One coordinate needs one comparison.
            Num::Reg(_) if self.reach[mode] == Some(0) => {
                let extent = like(b, &extent, &origin)?;
                b.compare(Cmp::Lt, &origin, &extent)?
            }
            Num::Reg(_) => {
                let left = self.left(b, mode, &origin, &extent)?;
                b.compare(Cmp::Gt, &left, &Num::from(coordinate))?
            }
        };
        Ok(predicate(b, below))
    }

    /// The number of coordinates from the origin to the end of the tensor. The difference does not wrap where the origin is
    /// beyond the end.
    fn left(&mut self, b: &mut Builder, mode: usize, origin: &Num, extent: &Num) -> Result<Num> {
        if let Some(left) = &self.left[mode] {
            return Ok(left.clone());
        }
        let extent = like(b, extent, origin)?;
        let end = b.binary(Op::Max, &extent, origin)?;
        let left = b.sub(&end, origin)?;
        self.left[mode] = Some(left.clone());
        Ok(left)
    }
}

/// A predicate that holds if the first number is below the second.
pub(crate) fn below(b: &mut Builder, number: &Num, limit: &Num) -> Result<Scalar> {
    let below = b.compare(Cmp::Lt, number, limit)?;
    Ok(predicate(b, below))
}

/// A truth value as a predicate.
fn predicate(b: &mut Builder, value: Value) -> Scalar {
    let cmp = match value {
        Value::Scalar(predicate) => return predicate,
        Value::Bool(true) => Cmp::Eq,
        _ => Cmp::Ne,
    };
    b.set_predicate(cmp, Type::U32, Operand::Int(0), Operand::Int(0))
}

/// The extent in the type of the origin.
fn like(b: &mut Builder, extent: &Num, origin: &Num) -> Result<Num> {
    match origin {
        Num::Reg(scalar) if scalar.ty == Type::U64 => widened(b, extent),
        _ => Ok(extent.clone()),
    }
}
