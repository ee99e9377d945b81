//! Composition and inverse of swizzled layouts and maps of bits, and the operations that give maps of bits.

use super::args::{Args, Inverse};
use super::hopper::of_pattern;
use crate::composed::ComposedLayout;
use crate::composition::ENUMERATION_LIMIT;
use crate::divide::{Form, require_no_repeats};
use crate::domain::Numbers;
use crate::error::{ErrorKind, LayoutError, Place};
use crate::hopper::access::shared_access_of;
use crate::hopper::swizzles::conflict_free_map;
use crate::layout::Layout;
use crate::overhang::Overhang;
use crate::product::Product;
use crate::swizzled_product::{product_of_map, product_of_swizzled};
use crate::swizzled_tile::{complement_of_swizzled, with_rest};
use crate::value::Value;
use crate::xor_map::{XOR_MAP_BITS, XorMap};
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

impl Args<'_, Numbers> {
    /// The composition, if one operand is a map of bits, or if the second operand has a swizzle, so that the swizzle
    /// comes before the first operand; else `None`.
    pub(super) fn composition_of_bits(&mut self) -> Result<Option<Value>, LayoutError> {
        Ok(Some(match (self.get(0)?, self.get(1)?) {
            (Value::XorMap(_), _) | (_, Value::XorMap(_)) => {
                let (a, b) = (map(self, 0)?, map(self, 1)?);
                let what = "a map applied to values outside its domain";
                let both = a.after(&b).ok_or_else(|| not_bitwise(what, 0))?;
                plainest(both)
            }
            (Value::Swizzle(a), Value::Composed(b)) => {
                let swizzle = XorMap::from_swizzle(*a, XOR_MAP_BITS - 1);
                let map = || swizzle.after(&XorMap::from_composed(b)?);
                swizzled_or_map(b.swizzled_by(*a), map)?
            }
            (Value::Swizzle(a), Value::Swizzle(b)) => match a.after(*b) {
                Ok(swizzle) => swizzle.into(),
                Err(error) => {
                    let [a, b] = [a, b].map(|sw| XorMap::from_swizzle(*sw, XOR_MAP_BITS - 1));
                    plainest(a.after(&b).ok_or(error)?)
                }
            },
            (Value::Swizzle(_), _) => return Ok(None),
            (_, Value::Swizzle(b)) => {
                let a = self.composed(0)?;
                let identity = Layout::new(a.layout().size(), 1)?;
                composed(&a, &ComposedLayout::new(*b, 0, identity)?)?
            }
            (_, Value::Composed(b)) => composed(&self.composed(0)?, b)?,
            _ => return Ok(None),
        }))
    }

    /// The product, if the second operand is a swizzled layout or a map of bits; else `None`.
    pub(super) fn product_of_bits(
        &mut self,
        product: Product,
    ) -> Result<Option<Value>, LayoutError> {
        Ok(Some(match self.get(1)? {
            Value::Composed(b) => {
                let a = self.composed(0)?;
                let map = || product_of_map(&a, &XorMap::from_composed(b)?, product);
                swizzled_or_map(product_of_swizzled(&a, b, product), map)?
            }
            Value::XorMap(b) => {
                let map = product_of_map(&self.composed(0)?, b, product);
                let what = "a product whose copies are in the order of a map of bits";
                plainest(map.ok_or_else(|| not_bitwise(what, 1))?)
            }
            _ => return Ok(None),
        }))
    }

    /// The division, if the tiler is a swizzled layout; else `None`.
    pub(super) fn division_of_bits(
        &mut self,
        form: Form,
        overhang: Overhang,
    ) -> Result<Option<Value>, LayoutError> {
        let Value::Composed(tile) = self.get(1)? else {
            return Ok(None);
        };
        if overhang == Overhang::Ragged {
            return Err(self.wrong(1, "a tiler without a swizzle, since the division is ragged"));
        }
        let a = self.composed(0)?;
        require_no_repeats(tile.layout())?;
        let both = with_rest(tile, a.size()).map_err(|error| error.blame(1))?;
        let tiler = tile.layout().clone().into();
        Ok(Some(
            match composed(&a, &both).map_err(|error| error.blame(1))? {
                Value::XorMap(map) => {
                    let regrouped = form.arrange(Layout::left(map.shape().clone())?, &tiler)?;
                    Value::XorMap(map.in_shape(regrouped.shape().clone()))
                }
                Value::Layout(divided) => form.arrange(divided, &tiler)?.into(),
                Value::Composed(divided) => divided
                    .map(|divided| form.arrange(divided.clone(), &tiler))?
                    .into(),
                divided => divided,
            },
        ))
    }

    /// The complement of a swizzled layout, if the operand is one; else `None`.
    pub(super) fn complement_of_bits(
        &mut self,
        overhang: Overhang,
    ) -> Result<Option<Value>, LayoutError> {
        let Value::Composed(tile) = self.get(0)? else {
            return Ok(None);
        };
        let size = (self.count() > 1).then(|| self.product(1)).transpose()?;
        Ok(Some(complement_of_swizzled(tile, size, overhang)?.into()))
    }

    /// Whether both operands have the same values at the same 1-D coordinates. One of them is a map of bits.
    pub(super) fn equal_maps(&mut self) -> Result<bool, LayoutError> {
        let [a, b] = [self.domain(0)?.product(), self.domain(1)?.product()];
        if a != b {
            return Ok(false);
        }
        if a.is_some_and(|size| size <= ENUMERATION_LIMIT) {
            let mut values = |index| -> Result<Box<dyn Iterator<Item = i64> + '_>, LayoutError> {
                Ok(match self.get(index)? {
                    Value::XorMap(map) => Box::new(map.values()),
                    _ => Box::new(self.composed(index)?.values()),
                })
            };
            return Ok(values(0)?.eq(values(1)?));
        }
        let (a, b) = (map(self, 0)?, map(self, 1)?);
        let property = "equal to a map of bits of another shape";
        let unproved = || ErrorKind::Unproved { property }.at(Place::operand(0));
        let columns = a.bit_columns().zip(b.bit_columns()).ok_or_else(unproved)?;
        Ok(columns.0 == columns.1 && a.constant() == b.constant())
    }

    /// The inverse of a swizzled layout or a map of bits, if the operand is one.
    pub(super) fn inverse_of_bits(&self, side: Inverse) -> Result<Option<Value>, LayoutError> {
        Ok(Some(match (self.get(0)?, side) {
            (Value::Composed(a), side) => {
                let inverse = match side {
                    Inverse::Left => a.left_inverse(),
                    Inverse::Right => a.right_inverse(),
                };
                swizzled_or_map(inverse, || XorMap::from_composed(a)?.inverse())?
            }
            // A map of bits that has an inverse is a bijection, so the inverse is both left and right inverse.
            (Value::XorMap(map), _) => inverse(map)?,
            (Value::Swizzle(swizzle), _) => (*swizzle).into(),
            _ => return Ok(None),
        }))
    }
}

/// The map of bits with the columns of operand 0, and the value of operand 1, or 0, at coordinate 0.
pub(super) fn xor_map(args: &mut Args<'_, Numbers>) -> Result<Value, LayoutError> {
    let columns = args.shape(0)?;
    let columns: Option<Vec<u64>> = columns.leaves().map(|&leaf| leaf.try_into().ok()).collect();
    let constant = match args.count() {
        1 => 0,
        _ => u64::try_from(args.number(1)?).map_err(|_| args.wrong(1, "a value of at least 0"))?,
    };
    let map = columns.and_then(XorMap::new);
    let map = map.ok_or_else(|| args.wrong(0, "a tuple of at most 62 columns of at least 0"))?;
    Ok(plainest(map.with_constant(constant)))
}

/// A map of bits under which no access pattern has a bank conflict. With it, for each pattern: how often the busiest bank
/// is accessed at once under the map, and how often without it.
pub(super) fn conflict_free(args: &mut Args<'_, Numbers>) -> Result<Value, LayoutError> {
    let (tile, bits, patterns) = (args.layout(0)?, args.number(1)?, args.layouts(2)?);
    let degrees = |at: &dyn Fn(i64) -> Option<i64>| {
        let patterns = patterns.iter().enumerate();
        let degrees = patterns.map(|(position, tv)| {
            let access = shared_access_of(at, tile.size(), bits, tv);
            let access = access.map_err(|error| of_pattern(error, position))?;
            Ok(access.worst.degree as i64)
        });
        degrees.collect::<Result<Vec<_>, LayoutError>>()
    };
    let plain = degrees(&|index| tile.at(index))?;
    let map = conflict_free_map(&tile, bits, &patterns)?.ok_or_else(|| {
        let property = "a map of bits without bank conflicts for these patterns";
        ErrorKind::Unproved { property }.at(Place::operand(2))
    })?;
    // The accesses are counted again for the map found, so a wrong search cannot give wrong figures.
    let found = degrees(&|index| map.at(tile.at(index)?))?;
    Ok(vec![
        plainest(map),
        Value::integers(&found),
        Value::integers(&plain),
    ]
    .into())
}

/// `a(b(x))`.
fn composed(a: &ComposedLayout, b: &ComposedLayout) -> Result<Value, LayoutError> {
    let map = || XorMap::from_composed(a)?.after(&XorMap::from_composed(b)?);
    swizzled_or_map(a.after(b), map)
}

/// A swizzled layout, or a map of bits if the result is none. If it is neither, the error of the swizzled layout.
fn swizzled_or_map(
    swizzled: Result<ComposedLayout, LayoutError>,
    map: impl FnOnce() -> Option<XorMap>,
) -> Result<Value, LayoutError> {
    match swizzled {
        Ok(swizzled) => Ok(Value::simplest(swizzled)),
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::NotASwizzle { .. } | ErrorKind::SwizzledCopies { .. }
            ) =>
        {
            map().map(plainest).ok_or(error)
        }
        Err(error) => Err(error),
    }
}

fn inverse(map: &XorMap) -> Result<Value, LayoutError> {
    let inverse = map.inverse();
    let inverse =
        inverse.ok_or_else(|| not_bitwise("the inverse of a map that is not a bijection", 0));
    inverse.map(plainest)
}

/// An operand as a map of bits; an error if it is a layout that is not linear over bits.
fn map(args: &mut Args<'_, Numbers>, index: usize) -> Result<XorMap, LayoutError> {
    let map = match args.get(index)? {
        Value::XorMap(map) => Some(map.clone()),
        Value::Swizzle(swizzle) => Some(XorMap::from_swizzle(*swizzle, XOR_MAP_BITS - 1)),
        Value::Composed(composed) => XorMap::from_composed(composed),
        _ => XorMap::from_layout(&args.layout(index)?),
    };
    map.ok_or_else(|| not_bitwise("a layout whose sums carry", index))
}

/// A map of bits as the simplest value: a layout, a swizzle, a swizzled layout, or else the map itself.
fn plainest(map: XorMap) -> Value {
    if let (0, Some(layout)) = (map.constant(), map.to_layout()) {
        return layout.into();
    }
    let Some(swizzle) = map.to_swizzle() else {
        return Value::XorMap(map);
    };
    if map.shape().is_leaf() {
        return swizzle.into();
    }
    let swizzled = Layout::left(map.shape().clone());
    let swizzled = swizzled.and_then(|layout| ComposedLayout::new(swizzle, 0, layout));
    swizzled.map_or(Value::XorMap(map), Value::simplest)
}

fn not_bitwise(what: &'static str, operand: usize) -> LayoutError {
    ErrorKind::NotBitwise { what }.at(Place::operand(operand))
}
