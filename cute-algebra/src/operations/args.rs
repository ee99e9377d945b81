//! The operands of an operation, converted to the required kinds of values.

use crate::analysis::injective::Verdict;
use crate::analysis::property::Property;
use crate::composed::{ComposedLayout, Slice, Swizzling};
use crate::composition::ENUMERATION_LIMIT;
use crate::construct::compact_left;
use crate::coordinate::cosize_in;
use crate::divide::Form;
use crate::domain::{Domain, Numbers, Sum};
use crate::equal::equal_in;
use crate::error::{ErrorKind, LayoutError, Place, Side};
use crate::integer::Integer;
use crate::layout::Layout;
use crate::overhang::Overhang;
use crate::product::Product;
use crate::recast::{Cast, downcast_in, upcast_in};
use crate::shape_div::Rounding;
use crate::stride::Stride;
use crate::symbolic::{Scope, Term};
use crate::tiler::Tiler;
use crate::tuple::{Coord, IntTuple, Shape, Tuple};
use crate::value::Value;
use alloc::format;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;

type Result<T> = core::result::Result<T, LayoutError>;

/// The operands of an operation, and the domain that answers questions about their integers. The methods take the index
/// of an operand, counted from 0, and give an error at that operand if it is not of the required kind.
pub(crate) struct Args<'a, D: Domain> {
    pub(super) d: &'a mut D,
    operands: &'a [Value<D::Int>],
}

impl<'a, D: Domain> Args<'a, D> {
    pub(super) fn new(d: &'a mut D, operands: &'a [Value<D::Int>]) -> Self {
        Self { d, operands }
    }

    pub(super) fn count(&self) -> usize {
        self.operands.len()
    }

    pub(super) fn get(&self, index: usize) -> Result<&'a Value<D::Int>> {
        let operand = self.operands.get(index);
        operand.ok_or_else(|| self.wrong(index, "an operand"))
    }

    pub(super) fn wrong(&self, index: usize, expected: &'static str) -> LayoutError {
        let found = self.operands.get(index).map_or("nothing", Value::kind);
        ErrorKind::Argument { expected, found }.at(Place::operand(index))
    }

    pub(super) fn integer(&self, index: usize) -> Result<Sum<D>> {
        match self.get(index)? {
            Value::Int(value) => Ok(value.clone()),
            _ => Err(self.wrong(index, "an integer")),
        }
    }

    /// An integer that must be known at expansion, since the modes of the result depend on it.
    pub(super) fn number(&self, index: usize) -> Result<i64> {
        let what = "an integer that the modes of the result depend on";
        let unsupported = || ErrorKind::Unsupported { what }.at(Place::operand(index));
        D::Int::number(&self.integer(index)?).ok_or_else(unsupported)
    }

    /// The operand as a rank, if it is a number.
    pub(super) fn rank(&self, index: usize) -> Result<Option<i64>> {
        Ok(match self.get(index)? {
            Value::Int(rank) => D::Int::number(rank),
            _ => None,
        })
    }

    /// A coordinate whose integers must be known at expansion.
    pub(super) fn known_coord(&self, index: usize) -> Result<Coord> {
        let what = "a coordinate of a map of bits";
        let unsupported = || ErrorKind::Unsupported { what }.at(Place::operand(index));
        let number = |leaf: &Option<Sum<D>>| match leaf {
            None => Ok(None),
            Some(sum) => D::Int::number(sum).map(Some).ok_or_else(unsupported),
        };
        self.coord(index)?.try_map(number)
    }

    /// All operands from `first` on, as integers that are known at expansion.
    pub(super) fn numbers(&self, first: usize) -> Result<Vec<i64>> {
        (first..self.count())
            .map(|index| self.number(index))
            .collect()
    }

    /// An integer, or the product of a tuple, such as the target of a complement.
    pub(super) fn product(&mut self, index: usize) -> Result<D::Int> {
        let product = self.shape(index)?.product();
        let quantity = "target";
        product.ok_or_else(|| ErrorKind::Overflow { quantity }.at(Place::operand(index)))
    }

    /// A single integer, such as the factor of a recast.
    pub(super) fn factor(&mut self, index: usize) -> Result<D::Int> {
        let sum = self.integer(index)?;
        self.d.integer(&sum).map_err(|error| error.blame(index))
    }

    /// A tuple of integers; for a layout, its shape.
    pub(super) fn tuple(&self, index: usize) -> Result<Tuple<Sum<D>>> {
        match self.get(index)? {
            Value::Int(value) => Ok(Tuple::Leaf(value.clone())),
            Value::Tuple(tuple) => Ok(tuple.clone()),
            value => {
                let shape = shape_of(value).ok_or_else(|| self.wrong(index, "a tuple of integers"));
                Ok(shape?.map(|extent| extent.clone().into()))
            }
        }
    }

    /// A coordinate in which no leaf is `_`.
    pub(super) fn point(&self, index: usize) -> Result<Tuple<Sum<D>>> {
        let point = self.coord(index)?.to_int_tuple();
        point.ok_or_else(|| self.wrong(index, "a coordinate of integers"))
    }

    /// A shape; for a layout, its shape.
    pub(super) fn shape(&mut self, index: usize) -> Result<Tuple<D::Int>> {
        if let Some(shape) = shape_of(self.get(index)?) {
            return Ok(shape);
        }
        let tuple = self.tuple(index)?;
        let shape = tuple.try_map(|sum| self.d.integer(sum));
        shape.map_err(|error| error.blame(index))
    }

    /// A tuple whose nesting matters. Its integers matter only where they are numbers.
    pub(super) fn profile(&self, index: usize) -> Result<Shape> {
        let tuple = self.tuple(index)?;
        Ok(tuple.map(|sum| D::Int::number(sum).unwrap_or(1)))
    }

    /// An order of modes; `None` if the operand is left out.
    pub(super) fn order(&self, index: usize) -> Result<Option<IntTuple>> {
        if index >= self.count() {
            return Ok(None);
        }
        let what = "the order of modes";
        let unsupported = || ErrorKind::Unsupported { what }.at(Place::operand(index));
        let order = self.tuple(index)?;
        let order = order.try_map(|sum| D::Int::number(sum).ok_or_else(unsupported));
        order.map(Some)
    }

    pub(super) fn coord(&self, index: usize) -> Result<Tuple<Option<Sum<D>>>> {
        match self.get(index)? {
            Value::Int(value) => Ok(Tuple::Leaf(Some(value.clone()))),
            Value::Tuple(tuple) => Ok(tuple.to_coord()),
            Value::Coord(coord) => Ok(coord.clone()),
            Value::Tiler(Tiler::Keep) => Ok(Tuple::Leaf(None)),
            _ => Err(self.wrong(index, "a coordinate")),
        }
    }

    /// A layout. A shape stands for its compact layout, in which the leftmost mode varies fastest.
    pub(super) fn layout(&mut self, index: usize) -> Result<Layout<D::Int>> {
        match self.get(index)? {
            Value::Layout(layout) => Ok(layout.clone()),
            Value::Int(_) | Value::Tuple(_) => {
                let shape = self.shape(index)?;
                compact_left(self.d, &shape).map_err(|error| error.inside(index, &[]))
            }
            _ => Err(self.wrong(index, "a layout")),
        }
    }

    /// A layout: one operand, or its shape and its stride as two operands.
    pub(super) fn shape_and_stride(&mut self, index: usize) -> Result<Layout<D::Int>> {
        if index + 1 >= self.count() {
            return self.layout(index);
        }
        let (shape, stride) = (self.shape(index)?, self.stride(index + 1)?);
        Layout::make(self.d, shape, stride).map_err(|error| {
            error.relocate(|place| Place {
                operand: index + usize::from(place.side == Side::Stride),
                ..place
            })
        })
    }

    /// A stride, whose leaves are integers or strides in a coordinate space such as `1@0`.
    fn stride(&mut self, index: usize) -> Result<Stride<D::Int>> {
        match self.get(index)? {
            Value::Stride(stride) => Ok(stride.clone()),
            Value::Int(_) | Value::Tuple(_) => {
                Ok(self.shape(index)?.map(|stride| stride.clone().into()))
            }
            _ => Err(self.wrong(index, "a stride")),
        }
    }

    pub(super) fn optional_layout(&mut self, index: usize) -> Result<Layout<D::Int>> {
        if index < self.count() {
            self.layout(index)
        } else {
            Ok(Layout::unit())
        }
    }

    /// A layout, with or without a swizzle.
    pub(super) fn composed(&mut self, index: usize) -> Result<ComposedLayout<D::Int>> {
        match self.get(index)? {
            Value::Composed(swizzled) => Ok(swizzled.clone()),
            _ => {
                ComposedLayout::plain(self.layout(index)?).map_err(|error| error.inside(index, &[]))
            }
        }
    }

    /// The layout without its swizzle, if it has one.
    pub(super) fn inner(&mut self, index: usize) -> Result<Layout<D::Int>> {
        match self.get(index)? {
            Value::Composed(swizzled) => Ok(swizzled.layout().clone()),
            _ => self.layout(index),
        }
    }

    /// The shape of a layout, with or without a swizzle, or of a map of bits.
    pub(super) fn domain(&mut self, index: usize) -> Result<Tuple<D::Int>> {
        match shape_of(self.get(index)?) {
            Some(shape) => Ok(shape),
            None => Ok(self.layout(index)?.shape().clone()),
        }
    }

    /// A layout with value 0 at the same coordinates as the operand: without the swizzle, if there is no offset.
    pub(super) fn with_the_same_zeros(&mut self, index: usize) -> Result<Layout<D::Int>> {
        match self.get(index)? {
            Value::Composed(swizzled) if swizzled.offset() == 0.into() => {
                Ok(swizzled.layout().clone())
            }
            _ => self.layout(index),
        }
    }

    /// Applies `act` to the layout of the first operand, and keeps the swizzle, if there is one.
    pub(super) fn map(
        &mut self,
        act: impl FnOnce(&mut D, &Layout<D::Int>) -> Result<Layout<D::Int>>,
    ) -> Result<Value<D::Int>> {
        match self.get(0)? {
            Value::Composed(swizzled) => Ok(swizzled.map(|layout| act(self.d, layout))?.into()),
            _ => {
                let layout = self.layout(0)?;
                Ok(act(self.d, &layout)?.into())
            }
        }
    }

    pub(super) fn tiler(&mut self, index: usize) -> Result<Tiler<D::Int>> {
        match self.get(index)? {
            Value::Tiler(tiler) => Ok(tiler.clone()),
            Value::Layout(layout) => Ok(layout.clone().into()),
            Value::Int(_) | Value::Tuple(_) | Value::Coord(_) => {
                let coord = self.coord(index)?;
                let integer = |leaf: &Option<Sum<D>>| {
                    leaf.as_ref().map(|sum| self.d.integer(sum)).transpose()
                };
                coord
                    .try_map(integer)
                    .and_then(|coord| Tiler::of_coord(self.d, &coord))
                    .map_err(|error| error.inside(index, &[]))
            }
            _ => Err(self.wrong(index, "a tiler")),
        }
    }
}

/// The shape of a value that has one.
fn shape_of<I: Integer>(value: &Value<I>) -> Option<Tuple<I>> {
    match value {
        Value::Layout(layout) => Some(layout.shape().clone()),
        Value::Composed(swizzled) => Some(swizzled.layout().shape().clone()),
        Value::XorMap(map) => Some(map.shape().map(|&extent| extent.into())),
        _ => None,
    }
}

/// Rounding and equality.
impl<D: Domain> Args<'_, D> {
    /// One of the words `CEIL`, `FLOOR` and `EXACT`.
    pub(super) fn rounding(&self, index: usize) -> Result<Rounding> {
        match self.get(index)? {
            Value::Word(word) if word == "CEIL" => Ok(Rounding::Ceil),
            Value::Word(word) if word == "FLOOR" => Ok(Rounding::Floor),
            Value::Word(word) if word == "EXACT" => Ok(Rounding::Exact),
            _ => Err(self.wrong(index, "CEIL, FLOOR or EXACT")),
        }
    }

    /// Whether both operands are the same function or the same tuple. Neither has a swizzle.
    fn equal_plain(&mut self) -> Result<bool> {
        let (a, b) = (self.get(0)?, self.get(1)?);
        if matches!(a, Value::Layout(_)) || matches!(b, Value::Layout(_)) {
            let (a, b) = (self.layout(0)?, self.layout(1)?);
            return equal_in(self.d, &a, &b);
        }
        let is_known = |value: &Value<D::Int>| match value {
            Value::Int(sum) => D::Int::number(sum).is_some(),
            Value::Tuple(tuple) => tuple.leaves().all(|sum| D::Int::number(sum).is_some()),
            _ => true,
        };
        match a == b {
            true => Ok(true),
            false if is_known(a) && is_known(b) => Ok(false),
            false => {
                let condition = format!("{a} == {b}");
                Err(ErrorKind::Open { condition }.at(Place::default()))
            }
        }
    }

    /// Both operands as swizzled layouts, if at least one of them has a swizzle.
    fn swizzled_pair(&mut self) -> Result<Option<[ComposedLayout<D::Int>; 2]>> {
        let is_swizzled = |value: &Value<D::Int>| matches!(value, Value::Composed(_));
        match is_swizzled(self.get(0)?) || is_swizzled(self.get(1)?) {
            true => Ok(Some([self.composed(0)?, self.composed(1)?])),
            false => Ok(None),
        }
    }
}

/// Whether two layouts with the same swizzle and offset are the same function; `None` if swizzle or offset differ. A
/// swizzle is injective, so only the layouts need to be compared.
fn equal_under_swizzle<D: Domain>(
    d: &D,
    [a, b]: &[ComposedLayout<D::Int>; 2],
) -> Result<Option<bool>> {
    match (a.swizzle(), a.offset()) == (b.swizzle(), b.offset()) {
        true => equal_in(d, a.layout(), b.layout()).map(Some),
        false => Ok(None),
    }
}

impl<D: Swizzling> Args<'_, D> {
    /// The first operand in units of several elements, or of a part of an element.
    pub(super) fn cast(&mut self, cast: Cast<D::Int>, overhang: Overhang) -> Result<Value<D::Int>> {
        match self.get(0)? {
            Value::Swizzle(swizzle) => {
                let factor = self.number(1)?;
                Ok(match cast {
                    Cast::Up(_) => swizzle.upcast(factor)?.into(),
                    Cast::Down(_) => swizzle.downcast(factor)?.into(),
                })
            }
            Value::Composed(swizzled) => {
                Ok(Value::simplest(swizzled.cast(self.d, cast, overhang)?))
            }
            _ => {
                let a = self.layout(0)?;
                Ok(match cast {
                    Cast::Up(factor) => upcast_in(self.d, &a, &factor, overhang)?.into(),
                    Cast::Down(factor) => downcast_in(self.d, &a, &factor)?.into(),
                })
            }
        }
    }
}

impl<D: Swizzling> Args<'_, D> {
    /// The layout of threads in operand 1 without its swizzle, and the value of that layout for the thread in operand 2.
    pub(super) fn thread(&mut self) -> Result<(Layout<D::Int>, Sum<D>)> {
        let Value::Composed(threads) = self.get(1)? else {
            return Ok((self.layout(1)?, self.integer(2)?));
        };
        let what = "a thread of a swizzled layout of threads";
        let unsupported = || ErrorKind::Unsupported { what }.at(Place::operand(2));
        let thread = D::Int::number(&self.integer(2)?).ok_or_else(unsupported)?;
        let missing = || {
            let threads = threads.to_string();
            ErrorKind::NoThread { thread, threads }.at(Place::operand(2))
        };
        let offset = D::Int::number(&threads.offset()).ok_or_else(missing)?;
        // A swizzle is its own inverse.
        let value = threads.swizzle().apply(thread).checked_sub(offset);
        let value = value.filter(|_| thread >= 0).ok_or_else(missing)?;
        let layout = threads.layout().clone();
        let count = D::Int::number(&cosize_in(self.d, &layout)?);
        match count.is_none_or(|count| (0..count).contains(&value)) {
            true => Ok((layout, value.into())),
            false => Err(missing()),
        }
    }
}

/// Computations for numbers: properties are decided from the values where necessary.
impl Args<'_, Numbers> {
    /// Whether the first operand has a property; an error if unknown.
    pub(super) fn has(&mut self, property: Property) -> Result<bool> {
        let unproved = || {
            let property = property.name();
            ErrorKind::Unproved { property }.at(Place::operand(0))
        };
        self.verdict(property)?.decided().ok_or_else(unproved)
    }

    /// The first operand; an error if it does not have a property, or if the answer is unknown.
    pub(super) fn required(&mut self, property: Property) -> Result<Value> {
        let verdict = self.verdict(property)?;
        let property = property.name();
        match verdict {
            Verdict::Yes => self.get(0).cloned(),
            Verdict::No(counterexample) => Err(ErrorKind::Refuted {
                property,
                counterexample: counterexample.to_string(),
            }
            .at(Place::operand(0))),
            Verdict::Unproved => Err(ErrorKind::Unproved { property }.at(Place::operand(0))),
        }
    }

    fn verdict(&mut self, property: Property) -> Result<Verdict> {
        Ok(match (self.get(0)?, property) {
            (Value::Composed(a), Property::Injective) => a.injective(),
            (Value::Composed(a), Property::Bijective) => a.bijective(),
            (Value::Composed(a), Property::Dense) => a.dense(),
            (_, Property::Injective) => self.layout(0)?.injective(),
            (_, Property::Bijective) => self.layout(0)?.bijective(),
            (_, Property::Dense) => self.layout(0)?.dense(),
        })
    }

    /// Whether both operands are the same function, or the same tuple; an error if unknown.
    pub(super) fn equal(&mut self) -> Result<bool> {
        match (self.get(0)?, self.get(1)?) {
            (Value::Swizzle(a), Value::Swizzle(b)) => return Ok(a.pairs().eq(b.pairs())),
            (Value::XorMap(_), _) | (_, Value::XorMap(_)) => return self.equal_maps(),
            _ => {}
        }
        let Some(pair) = self.swizzled_pair()? else {
            return self.equal_plain();
        };
        if let Some(equal) = equal_under_swizzle(self.d, &pair)? {
            return Ok(equal);
        }
        let [a, b] = pair;
        match (a.size() == b.size(), a.size() <= ENUMERATION_LIMIT) {
            (false, _) => Ok(false),
            (true, true) => Ok(a.values().eq(b.values())),
            (true, false) => {
                let property = "equal to a layout with another swizzle";
                Err(ErrorKind::Unproved { property }.at(Place::operand(0)))
            }
        }
    }

    /// The slice of a swizzled layout, and the offset at which it begins. The slice is a plain layout if the swizzle can
    /// be expressed by its strides.
    pub(super) fn slice_and_offset(&self, a: &ComposedLayout) -> Result<Value> {
        Ok(match a.slice_and_offset(&self.coord(1)?)? {
            (Slice::Layout(layout), offset) => vec![layout.into(), offset.into()].into(),
            (Slice::Composed(sliced), offset) => vec![sliced.into(), offset.into()].into(),
        })
    }
}

/// Computations for run-time integers: properties are decided from the facts.
impl Args<'_, Scope> {
    /// Whether the first operand has a property; an error if unknown.
    pub(super) fn has(&mut self, property: Property) -> Result<bool> {
        let a = self.bare(property)?;
        property.is_of(self.d, &a)
    }

    /// The first operand; an error if it does not have a property, or if the answer is unknown.
    pub(super) fn required(&mut self, property: Property) -> Result<Value<Term>> {
        let a = self.bare(property)?;
        property.require(self.d, &a)?;
        self.get(0).cloned()
    }

    /// The layout of the first operand without its swizzle. A swizzle is injective, so this decides whether the operand
    /// is injective; but it can leave holes, so the other properties are not decided for swizzled layouts.
    fn bare(&mut self, property: Property) -> Result<Layout<Term>> {
        match (self.get(0)?, property) {
            (Value::Composed(_), Property::Bijective | Property::Dense) => {
                let what = "which values a swizzled layout takes";
                Err(ErrorKind::Unsupported { what }.at(Place::operand(0)))
            }
            _ => self.inner(0),
        }
    }

    /// Whether both operands are the same function, or the same tuple; an error if unknown.
    pub(super) fn equal(&mut self) -> Result<bool> {
        let Some(pair) = self.swizzled_pair()? else {
            return self.equal_plain();
        };
        let what = "whether layouts with different swizzles are equal";
        let equal = equal_under_swizzle(self.d, &pair)?;
        equal.ok_or_else(|| ErrorKind::Unsupported { what }.at(Place::operand(0)))
    }

    /// The slice of a swizzled layout, and the offset 0: the offset is part of the swizzled layout.
    pub(super) fn slice_and_offset(&mut self, a: &ComposedLayout<Term>) -> Result<Value<Term>> {
        let coord = self.coord(1)?;
        let sliced = a.slice_in(self.d, &coord)?;
        Ok(vec![Value::simplest(sliced), 0.into()].into())
    }

    /// `None` for a composition without maps of bits and without a swizzle before the first operand. Others need numbers.
    pub(super) fn composition_of_bits(&self) -> Result<Option<Value<Term>>> {
        let what = "a layout whose swizzle is before it";
        match (self.get(0)?, self.get(1)?) {
            (Value::XorMap(_), _) | (_, Value::XorMap(_)) => self.refused(0, "a map of bits"),
            (Value::Swizzle(_), _) => Ok(None),
            (_, Value::Swizzle(_) | Value::Composed(_)) => self.refused(0, what),
            _ => Ok(None),
        }
    }

    /// `None` for a layout without a swizzle. The inverse of a swizzled layout needs numbers.
    pub(super) fn inverse_of_bits(&self, _: Inverse) -> Result<Option<Value<Term>>> {
        match self.get(0)? {
            Value::Composed(_) => self.refused(0, "the inverse of a swizzled layout"),
            _ => Ok(None),
        }
    }

    /// `None` for a second operand without a swizzle. Others need numbers.
    pub(super) fn product_of_bits(&self, _: Product) -> Result<Option<Value<Term>>> {
        match self.get(1)? {
            Value::Composed(_) | Value::XorMap(_) => {
                self.refused(1, "a product whose second operand is swizzled")
            }
            _ => Ok(None),
        }
    }

    /// `None` for a tiler without a swizzle. Others need numbers.
    pub(super) fn division_of_bits(&self, _: Form, _: Overhang) -> Result<Option<Value<Term>>> {
        match self.get(1)? {
            Value::Composed(_) => self.refused(1, "a division by a swizzled tile"),
            _ => Ok(None),
        }
    }

    /// `None` for a layout without a swizzle. The complement of a swizzled layout needs numbers.
    pub(super) fn complement_of_bits(&self, _: Overhang) -> Result<Option<Value<Term>>> {
        match self.get(0)? {
            Value::Composed(_) => self.refused(0, "the complement of a swizzled layout"),
            _ => Ok(None),
        }
    }

    fn refused<T>(&self, operand: usize, what: &'static str) -> Result<T> {
        Err(ErrorKind::Unsupported { what }.at(Place::operand(operand)))
    }
}

/// Left inverse: L(A(i)) = i. Right inverse: A(R(i)) = i.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inverse {
    Left,
    Right,
}
