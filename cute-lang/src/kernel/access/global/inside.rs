//! Which elements of a part are inside of the tensor, by their coordinates.

use crate::kernel::access::coordinate::like;
use crate::kernel::emit::builder::Builder;
use crate::kernel::emit::facts::Quantity;
use crate::kernel::emit::known::Almost;
use crate::kernel::emit::operation::Cmp;
use crate::kernel::emit::quantity::MAX_EXTENT;
use crate::kernel::value::types::{is_signed, rust_name};
use crate::kernel::value::{Global, Num, Scalar};
use std::collections::BTreeMap;
use syn::Result;

/// The predicates of a part's elements.
#[derive(Clone)]
pub(crate) struct Inside {
    pub(super) global: Global,
    /// For each mode, the largest coordinate of an element, relative to the origin.
    pub(super) reach: Vec<i64>,
    /// For each mode, whether elements may be outside by their coordinate in it.
    open: Vec<bool>,
    /// For each mode, the number of coordinates from the origin to the end of the part, if it has been needed.
    left: Vec<Option<Num>>,
    /// The predicates so far, by coordinates in open modes. Predicates with a coordinate in the last mode are not kept: there is one for
    /// each access, so they would fill registers.
    known: BTreeMap<Vec<(usize, i64)>, Scalar>,
}

impl Inside {
    /// The predicates of elements with these coordinates, relative to the origin.
    pub(crate) fn new(b: &Builder, global: &Global, coordinates: &[Vec<i64>]) -> Self {
        let modes = 0..global.origin.len();
        let reach = modes.clone().map(|mode| {
            let largest = coordinates.iter().map(|coordinate| coordinate[mode]).max();
            largest.unwrap_or(0)
        });
        let reach: Vec<i64> = reach.collect();
        let open = reach.iter().enumerate();
        // Nothing is known of where a range ends.
        let open = open.map(|(mode, reach)| {
            global.ranges[mode].is_some() || !is_inside(b, global, mode, *reach)
        });
        Self {
            global: global.clone(),
            open: open.collect(),
            reach,
            left: vec![None; modes.len()],
            known: BTreeMap::new(),
        }
    }

    /// Whether elements may be outside by their coordinate in the last mode.
    pub(crate) fn may_end_in_last(&self) -> bool {
        self.open.last() == Some(&true)
    }

    /// A predicate that holds if all elements are inside; `None` if this is known.
    pub(crate) fn all(&mut self, b: &mut Builder) -> Result<Option<Scalar>> {
        let places = self.reach.iter().copied().enumerate();
        let places = places.filter(|(mode, _)| self.open[*mode]);
        // If a tile has been moved, its first coordinate may be outside, too.
        let places = places.flat_map(|(mode, reach)| {
            let first = (self.global.is_moved[mode] && reach > 0).then_some((mode, 0));
            first.into_iter().chain([(mode, reach)])
        });
        let places: Vec<_> = places.collect();
        self.all_below(b, &places)
    }

    /// A predicate that holds if the element is inside in all modes but the last; `None` if this is known.
    pub(crate) fn row(&mut self, b: &mut Builder, coordinate: &[i64]) -> Result<Option<Scalar>> {
        let row = coordinate.split_last().map_or(coordinate, |(_, row)| row);
        self.predicate(b, row)
    }

    /// A predicate that holds if the element is inside; `None` if this is known.
    pub(crate) fn predicate(
        &mut self,
        b: &mut Builder,
        coordinate: &[i64],
    ) -> Result<Option<Scalar>> {
        let places = coordinate.iter().copied().enumerate();
        let places: Vec<_> = places.filter(|(mode, _)| self.open[*mode]).collect();
        self.all_below(b, &places)
    }

    /// A predicate that holds if the coordinate in each of these modes is below its extent.
    fn all_below(&mut self, b: &mut Builder, places: &[(usize, i64)]) -> Result<Option<Scalar>> {
        let Some((place, before)) = places.split_last() else {
            return Ok(None);
        };
        if let Some(known) = self.known.get(places) {
            return Ok(Some(known.clone()));
        }
        let before = self.all_below(b, before)?;
        let predicate = self.below(b, *place, before.as_ref())?;
        if place.0 + 1 < self.open.len() {
            self.known.insert(places.to_vec(), predicate.clone());
        }
        Ok(Some(predicate))
    }

    /// A predicate that holds if the coordinate in this mode is below its extent, and another predicate holds.
    fn below(
        &mut self,
        b: &mut Builder,
        (mode, coordinate): (usize, i64),
        other: Option<&Scalar>,
    ) -> Result<Scalar> {
        let origin = self.global.origin[mode].clone();
        let extent = self.global.end(b, mode);
        match &origin {
            Num::Const(origin) => {
                // No extent is above this.
                let coordinate = MAX_EXTENT.min(origin + i128::from(coordinate));
                b.compare_and(Cmp::Gt, &extent, &Num::Const(coordinate), other)
            }
            // If the tile has been moved, a coordinate below 0 is a number above all extents.
            Num::Reg(_) if self.global.is_moved[mode] => {
                let place = b.add(&origin, &Num::from(coordinate))?;
                let (place, count) = self.global.from_first(b, mode, &place)?;
                b.compare_and(Cmp::Lt, &place, &count, other)
            }
            // One coordinate needs one comparison.
            Num::Reg(_) if self.reach[mode] == 0 => {
                let place = b.add(&origin, &Num::from(coordinate))?;
                let extent = like(b, &extent, &origin)?;
                b.compare_and(Cmp::Lt, &place, &extent, other)
            }
            Num::Reg(_) => {
                let left = self.left(b, mode)?;
                b.compare_and(Cmp::Gt, &left, &Num::from(coordinate), other)
            }
        }
    }

    /// The number of coordinates from the origin to the end of the part.
    fn left(&mut self, b: &mut Builder, mode: usize) -> Result<Num> {
        if let Some(left) = &self.left[mode] {
            return Ok(left.clone());
        }
        let left = self.global.left(b, mode)?;
        self.left[mode] = Some(left.clone());
        Ok(left)
    }

    /// The first mode in which elements may be outside; `None` if there is none.
    pub(super) fn first_open(&self) -> Option<usize> {
        self.open.iter().position(|open| *open)
    }

    /// What would prove that all elements are inside by their coordinates in an open mode. `instead` is what accesses only the elements
    /// inside, if there is such a function.
    pub(super) fn remedy(&self, b: &Builder, mode: usize, instead: Option<&str>) -> String {
        let remedy = self.proof(b, mode, instead);
        match self.exchanged(b, mode) {
            Some(question) => format!("{question}; if not, {remedy}"),
            None => remedy,
        }
    }

    fn proof(&self, b: &Builder, mode: usize, instead: Option<&str>) -> String {
        let of_tiles = instead.map(|instead| format!("use {instead}"));
        if self.global.ranges[mode].is_some() {
            return of_tiles.unwrap_or_else(|| "copy a tile that no range limits".into());
        }
        let extent = format!("extent({}, {mode})", b.params[self.global.param].name);
        let (reach, origin) = (self.reach[mode], &self.global.origin[mode]);
        let is_tile = self.reach.iter().any(|reach| *reach > 0);
        let of_tiles = of_tiles.filter(|_| is_tile);
        let mut remedies: Vec<String> = of_tiles.iter().cloned().collect();
        if reach == 0 {
            if let Some(missing) = self.missing(b, mode) {
                return match of_tiles {
                    None => missing,
                    Some(of_tiles) => format!("{of_tiles}, or a condition: {missing}"),
                };
            }
            remedies.push(format!(
                "put it under a condition by which its coordinate in mode {mode} is below `{extent}`"
            ));
        }
        let count = b.known.greatest(origin) + i128::from(reach) + 1;
        let most = match origin {
            Num::Const(_) => MAX_EXTENT,
            Num::Reg(_) => MOST_STATED,
        };
        if count <= most {
            remedies.push(format!(
                "state the fact `{extent} >= {count}`, by which a launch with a smaller tensor is refused"
            ));
        }
        if remedies.is_empty() {
            remedies.push(format!(
                "put it under a condition by which its last coordinate in mode {mode}, `i + {reach}` where its first is `i`, is below `{extent}`"
            ));
        }
        remedies.join(", or ")
    }

    /// The question whether two coordinates are exchanged, if each is below the other's extent.
    fn exchanged(&self, b: &Builder, mode: usize) -> Option<String> {
        // The coordinate in one mode below the extent of another.
        let fits = |place: usize, mode: usize| {
            let extent = Quantity::Extent(self.global.id(), mode);
            all_below(b, &self.global.origin[place], 0, extent, SUMS)
        };
        if self.reach.iter().any(|reach| *reach > 0) {
            return None;
        }
        let mut others = (0..self.open.len()).filter(|other| *other != mode);
        let other = others.find(|other| fits(mode, *other) && fits(*other, mode))?;
        let name = &b.params[self.global.param].name;
        Some(format!(
            "are the coordinates exchanged? That in mode {mode} is below `extent({name}, {other})`, and that in mode {other} below `extent({name}, {mode})`"
        ))
    }

    /// Why a condition, if there is one, does not prove that the coordinate in a mode is below the extent.
    fn missing(&self, b: &Builder, mode: usize) -> Option<String> {
        let extent = Quantity::Extent(self.global.id(), mode);
        let text = b.quantity_text(extent)?;
        if let [(Num::Reg(exact), 1)] = &self.global.terms[mode][..]
            && is_signed(exact.ty)
        {
            return Some(format!(
                "its coordinate in mode {mode} is a signed `{}`, which may be below 0: make it unsigned, and put the access under a condition by which it is below `{text}`",
                rust_name(exact.ty)
            ));
        }
        let origin = &self.global.origin[mode];
        let Some(almost) = b.known.almost(origin, extent) else {
            return b.changing(&format!("its coordinate in mode {mode}"), origin, &text);
        };
        Some(match almost {
            Almost::Reached => format!(
                "the condition around it allows a coordinate of `{text}` in mode {mode}: write `<` in place of `<=`"
            ),
            Almost::Wraps(by) => format!(
                "the condition around it is about a sum, `i + {by} < {text}`, which holds for the greatest `i`, too, since it wraps around to 0: write `i < {text} - {by}`"
            ),
            Almost::Underflows(less) => format!(
                "the condition around it is about `{text} - {less}`, which wraps around where the extent is smaller: state the fact `{text} >= {less}`, by `#[facts(…)]` before a parameter"
            ),
            Almost::Below(quantity) => {
                let known = b.quantity_text(quantity)?;
                format!(
                    "its coordinate in mode {mode} is below `{known}`: state the fact `{known} <= {text}`, by `#[facts(…)]` before a parameter"
                )
            }
        })
    }
}

/// The greatest extent that a fact is proposed for because of a coordinate that is known when the kernel runs. An index of the grid is
/// below 65535 only because no grid is larger, and a tensor need not be as large.
const MOST_STATED: i128 = 65534;

/// How many sums a coordinate is taken apart into.
const SUMS: u32 = 4;

/// Whether all coordinates of a mode up to `reach`, relative to the origin, are known to be below its extent.
fn is_inside(b: &Builder, global: &Global, mode: usize, reach: i64) -> bool {
    let extent = Quantity::Extent(global.id(), mode);
    all_below(b, &global.origin[mode], reach.into(), extent, SUMS)
}

/// Whether a number and the next `reach` numbers are known to be below an extent.
fn all_below(b: &Builder, first: &Num, reach: i128, extent: Quantity, sums: u32) -> bool {
    let (least, _) = b.known.facts.bounds(extent);
    if b.known.is_below_known(first, least - reach) {
        return true;
    }
    // Both are multiples of `unit`. If one is below the other, the next `unit - 1` numbers are, too.
    let unit = 1i128 << b.known.possible_bits(first).trailing_zeros().min(62);
    let whole = b.known.facts.divisor(extent) % unit == 0;
    if (reach == 0 || whole && reach < unit) && b.known.is_below(first, extent) {
        return true;
    }
    if b.known.is_below_by(first, reach, extent) {
        return true;
    }
    // A bound of one summand proves that the sum does not wrap.
    let Some((x, y)) = b.known.summands(first).filter(|_| sums > 0) else {
        return false;
    };
    [(x, y), (y, x)].into_iter().any(|(part, other)| {
        let other = b.known.greatest(other);
        other >= 0 && all_below(b, part, reach + other, extent, sums - 1)
    })
}
