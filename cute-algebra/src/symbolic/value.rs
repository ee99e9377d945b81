//! What expressions with run-time integers are, and operands taken as what an operation wants.

use super::composed::SymbolicComposed;
use super::layout::{SymbolicLayout, SymbolicTiler};
use super::property::Property;
use super::scope::Scope;
use super::show::show_tuple;
use super::tags::Tags;
use super::term::{Sum, Term};
use super::{SymbolicError, SymbolicErrorKind};
use crate::composed::ComposedLayout;
use crate::composition::Overhang;
use crate::error::{ErrorKind, Place};
use crate::operations::{self, Operation, RunTime};
use crate::swizzle::Swizzle;
use crate::tuple::{IntTuple, Tuple};
use crate::value::Value;

type Result<T> = std::result::Result<T, SymbolicError>;

/// What an expression with run-time integers is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SymbolicValue {
    /// No run-time integer is in it.
    Known(Value),
    /// An integer.
    Integer(Sum),
    /// A tuple of integers.
    Tuple(Tuple<Sum>),
    /// A coordinate with at least one `_`.
    Coord(Tuple<Option<Sum>>),
    /// A layout.
    Layout(SymbolicLayout),
    /// A swizzle after a layout.
    Composed(SymbolicComposed),
    /// A tiler.
    Tiler(SymbolicTiler),
    /// Several values.
    List(Vec<SymbolicValue>),
}

/// The result of an operation; by the operation on numbers where no operand holds a run-time integer.
pub(crate) fn apply(
    scope: &mut Scope,
    operation: &'static Operation,
    operands: &[SymbolicValue],
    ragged: bool,
) -> Result<SymbolicValue> {
    let known: Option<Vec<_>> = operands
        .iter()
        .map(|operand| match operand {
            SymbolicValue::Known(value) => Some(value.clone()),
            _ => None,
        })
        .collect();
    if let Some(known) = known {
        return Ok(SymbolicValue::Known(operations::apply(
            operation, &known, ragged,
        )?));
    }
    let fail = |kind: ErrorKind| Err(kind.at(Place::default()).into());
    if !operation.counts.contains(&operands.len()) {
        return Err(operation.wrong_count(operands.len()).into());
    }
    if ragged && !operation.ragged {
        return fail(ErrorKind::NotRagged);
    }
    let overhang = match ragged {
        true => Overhang::Ragged,
        false => Overhang::Strict,
    };
    let result = match operation.run_time {
        RunTime::Run(run) => run(&mut SymbolicArgs { scope, operands }, overhang)?,
        RunTime::Regroup => regroup(operation, &mut SymbolicArgs { scope, operands })?,
        RunTime::Needs(why) => {
            let operation = operation.name;
            return Err(SymbolicErrorKind::NeedsNumbers { operation, why }.at(Place::default()));
        }
    };
    if let SymbolicValue::Layout(layout) = &result {
        layout
            .check_paths(scope)
            .map_err(|error| error.kind.at(Place::default()))?;
    }
    Ok(result)
}

/// The operation on numbers, on layouts whose leaves stand for themselves.
fn regroup(operation: &Operation, args: &mut SymbolicArgs<'_>) -> Result<SymbolicValue> {
    let mut tags = Tags::default();
    let mut tagged = Vec::new();
    for i in 0..args.count() {
        tagged.push(match args.swizzled(i)? {
            Some(composed) => {
                let layout = tags.tag(&composed.layout)?;
                ComposedLayout::new(Swizzle::IDENTITY, 0, layout)?.into()
            }
            None => match (operation.operand(i), args.get(i)?.as_numbers()) {
                // A number is a rank there, where it is a layout elsewhere.
                ("layout | rank", Some(Value::Int(rank))) => rank.into(),
                ("layout" | "layout | rank", _) | (_, None) => tags.tag(&args.layout(i)?)?.into(),
                (_, Some(numbers)) => numbers,
            },
        });
    }
    let swizzled = args.swizzled(0)?;
    Ok(
        match (operations::apply(operation, &tagged, false)?, swizzled) {
            (Value::Layout(layout), _) => tags.untag(&layout).into(),
            (Value::Composed(regrouped), Some(composed)) => composed
                .map(|_| Ok(tags.untag(regrouped.layout())))?
                .simplest(),
            (value, _) => SymbolicValue::Known(value),
        },
    )
}

/// Operands, taken as what an operation wants.
pub(crate) struct SymbolicArgs<'a> {
    pub(crate) scope: &'a mut Scope,
    operands: &'a [SymbolicValue],
}

impl SymbolicArgs<'_> {
    pub(crate) fn count(&self) -> usize {
        self.operands.len()
    }

    pub(crate) fn get(&self, index: usize) -> Result<&SymbolicValue> {
        let found = self.operands.get(index);
        found.ok_or_else(|| self.wrong(index, "an operand"))
    }

    fn wrong(&self, index: usize, expected: &'static str) -> SymbolicError {
        let found = self.operands.get(index);
        let found = found.map_or("nothing", SymbolicValue::kind);
        ErrorKind::Argument { expected, found }
            .at(Place::operand(index))
            .into()
    }

    /// A layout; a shape stands for its compact layout, leftmost mode fastest.
    pub(crate) fn layout(&mut self, index: usize) -> Result<SymbolicLayout> {
        match self.get(index)?.clone().lifted() {
            SymbolicValue::Layout(layout) => Ok(layout),
            SymbolicValue::Integer(_) | SymbolicValue::Tuple(_) => {
                let shape = self.shape(index)?;
                SymbolicLayout::compact(self.scope, &shape, false)
                    .map_err(|error| error.inside(index))
            }
            _ => Err(self.wrong(index, "a layout")),
        }
    }

    /// The swizzled layout that an operand is, if it is one.
    pub(crate) fn swizzled(&self, index: usize) -> Result<Option<SymbolicComposed>> {
        Ok(match self.get(index)?.clone().lifted() {
            SymbolicValue::Composed(composed) => Some(composed),
            _ => None,
        })
    }

    /// A layout, with or without a swizzle.
    pub(crate) fn composed(&mut self, index: usize) -> Result<SymbolicComposed> {
        match self.swizzled(index)? {
            Some(composed) => Ok(composed),
            None => {
                let layout = self.layout(index)?;
                SymbolicComposed::new(Swizzle::IDENTITY, Sum::default(), layout)
                    .map_err(|error| error.inside(index))
            }
        }
    }

    /// The layout, underneath a swizzle if there is one.
    pub(crate) fn inner(&mut self, index: usize) -> Result<SymbolicLayout> {
        match self.swizzled(index)? {
            Some(composed) => Ok(composed.layout),
            None => self.layout(index),
        }
    }

    /// Acts on the coordinates of the first operand, underneath a swizzle if there is one.
    pub(crate) fn map(
        &mut self,
        act: impl FnOnce(&mut Scope, &SymbolicLayout) -> Result<SymbolicLayout>,
    ) -> Result<SymbolicValue> {
        Ok(match self.swizzled(0)? {
            Some(composed) => composed.map(|layout| act(self.scope, layout))?.simplest(),
            None => {
                let layout = self.layout(0)?;
                act(self.scope, &layout)?.into()
            }
        })
    }

    /// A tuple of integers; of a layout, its shape.
    pub(crate) fn sums(&self, index: usize) -> Result<Tuple<Sum>> {
        match self.get(index)?.clone().lifted() {
            SymbolicValue::Integer(sum) => Ok(Tuple::Leaf(sum)),
            SymbolicValue::Tuple(tuple) => Ok(tuple),
            SymbolicValue::Layout(layout) => Ok(layout.shape().map(|extent| extent.into())),
            _ => Err(self.wrong(index, "a tuple of integers")),
        }
    }

    pub(crate) fn shape(&mut self, index: usize) -> Result<Tuple<Term>> {
        let sums = self.sums(index)?;
        let terms = sums.leaves().map(|sum| self.scope.term(sum));
        let terms = terms.collect::<std::result::Result<Vec<_>, _>>();
        let mut terms = terms
            .map_err(|kind| kind.at(Place::operand(index)))?
            .into_iter();
        Ok(sums.map(|_| terms.next().unwrap_or(Term::ONE)))
    }

    /// A shape whose extents are required to be positive.
    pub(crate) fn extents(&mut self, index: usize) -> Result<Tuple<Sum>> {
        for extent in self.shape(index)?.leaves() {
            let positive = self.scope.require_extent(extent);
            positive.map_err(|kind| kind.at(Place::operand(index)))?;
        }
        self.sums(index)
    }

    /// A profile, if there is that operand.
    pub(crate) fn profile(&self, index: usize) -> Result<Option<Tuple<Sum>>> {
        (index < self.count()).then(|| self.sums(index)).transpose()
    }

    /// An order of modes, if there is that operand.
    pub(crate) fn order(&self, index: usize) -> Result<Option<IntTuple>> {
        let Some(order) = self.profile(index)? else {
            return Ok(None);
        };
        let numbers = order.map(Sum::as_constant);
        let known = numbers.to_int_tuple();
        known
            .map(Some)
            .ok_or_else(|| needs_number("the order of modes", index))
    }

    pub(crate) fn integer(&self, index: usize) -> Result<Sum> {
        match self.get(index)? {
            SymbolicValue::Integer(sum) => Ok(sum.clone()),
            SymbolicValue::Known(Value::Int(value)) => Ok((*value).into()),
            _ => Err(self.wrong(index, "an integer")),
        }
    }

    pub(crate) fn number(&self, index: usize, what: &'static str) -> Result<i64> {
        let number = self.integer(index)?.as_constant();
        number.ok_or_else(|| needs_number(what, index))
    }

    /// An integer, or the product of a tuple.
    pub(crate) fn product(&mut self, index: usize) -> Result<Term> {
        let product = self
            .shape(index)?
            .leaves()
            .try_fold(Term::ONE, |product, leaf| product.checked_mul(leaf));
        product.ok_or_else(|| SymbolicErrorKind::Overflow.at(Place::operand(index)))
    }

    pub(crate) fn coord(&self, index: usize) -> Result<Tuple<Option<Sum>>> {
        match self.get(index)?.clone().lifted() {
            SymbolicValue::Integer(sum) => Ok(Tuple::Leaf(Some(sum))),
            SymbolicValue::Tuple(tuple) => Ok(tuple.map(|sum| Some(sum.clone()))),
            SymbolicValue::Coord(coord) => Ok(coord),
            SymbolicValue::Tiler(SymbolicTiler::Keep) => Ok(Tuple::Leaf(None)),
            _ => Err(self.wrong(index, "a coordinate")),
        }
    }

    pub(crate) fn tiler(&mut self, index: usize) -> Result<SymbolicTiler> {
        let shape = match self.get(index)?.clone().lifted() {
            SymbolicValue::Tiler(tiler) => return Ok(tiler),
            SymbolicValue::Layout(layout) => return Ok(SymbolicTiler::Layout(layout)),
            SymbolicValue::Composed(_) | SymbolicValue::List(_) | SymbolicValue::Known(_) => {
                return Err(self.wrong(index, "a tiler"));
            }
            _ => self.coord(index)?,
        };
        let terms = shape
            .leaves()
            .map(|leaf| leaf.as_ref().map(|sum| self.scope.term(sum)).transpose());
        let terms = terms.collect::<std::result::Result<Vec<_>, _>>();
        let mut terms = terms
            .map_err(|kind| kind.at(Place::operand(index)))?
            .into_iter();
        let shape = shape.map(|_| terms.next().flatten());
        SymbolicTiler::from_shape(self.scope, &shape).map_err(|error| error.inside(index))
    }

    pub(crate) fn term(&mut self, index: usize) -> Result<Term> {
        let integer = self.integer(index)?;
        let term = self.scope.term(&integer);
        term.map_err(|kind| kind.at(Place::operand(index)))
    }

    /// A layout without a swizzle; with one, `what` needs numbers.
    pub(crate) fn plain(&mut self, index: usize, what: &'static str) -> Result<SymbolicLayout> {
        match self.swizzled(index)? {
            Some(_) => Err(needs_number(what, index)),
            None => self.layout(index),
        }
    }

    /// Whether the first operand has a property.
    pub(crate) fn has(&mut self, property: Property) -> Result<SymbolicValue> {
        let a = self.bare(property)?;
        Ok(property.is_of(self.scope, &a)?.into())
    }

    /// The first operand, which is required to have a property.
    pub(crate) fn required(&mut self, property: Property) -> Result<SymbolicValue> {
        let a = self.bare(property)?;
        property.require(self.scope, &a)?;
        Ok(self.get(0)?.clone())
    }

    /// The first operand without its swizzle, which joins no values, but may leave holes.
    fn bare(&mut self, property: Property) -> Result<SymbolicLayout> {
        match property {
            Property::Injective => self.inner(0),
            _ => self.plain(0, "which values a swizzled layout takes"),
        }
    }

    /// The swizzle that an operand is, if it is one.
    pub(crate) fn swizzle(&self, index: usize) -> Result<Option<Swizzle>> {
        Ok(match self.get(index)? {
            SymbolicValue::Known(Value::Swizzle(swizzle)) => Some(*swizzle),
            _ => None,
        })
    }
}

fn needs_number(what: &'static str, index: usize) -> SymbolicError {
    SymbolicErrorKind::Unsupported(what).at(Place::operand(index))
}

impl SymbolicValue {
    /// What it is, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Known(value) => value.kind(),
            Self::Integer(_) => "a run-time integer",
            Self::Tuple(_) => "a tuple of run-time integers",
            Self::Coord(_) => "a coordinate",
            Self::Layout(_) => "a layout",
            Self::Composed(_) => "a swizzled layout",
            Self::Tiler(_) => "a tiler",
            Self::List(_) => "a list",
        }
    }

    /// The value as text, with the names of the run-time integers.
    pub fn show(&self, scope: &Scope) -> String {
        match self {
            Self::Known(value) => value.to_string(),
            Self::Integer(sum) => scope.show_sum(sum),
            Self::Tuple(tuple) => show_tuple(&tuple.map(|sum| scope.show_sum(sum))),
            Self::Coord(coord) => show_tuple(&coord.map(|leaf| match leaf {
                Some(sum) => scope.show_sum(sum),
                None => "_".to_owned(),
            })),
            Self::Layout(layout) => layout.show(scope),
            Self::Composed(composed) => composed.show(scope),
            Self::Tiler(tiler) => tiler.show(scope),
            Self::List(values) => {
                let values: Vec<_> = values.iter().map(|value| value.show(scope)).collect();
                format!("[{}]", values.join(","))
            }
        }
    }

    /// A value of numbers as one of terms, where there is such a kind.
    fn lifted(self) -> Self {
        match self {
            Self::Known(Value::Int(value)) => Self::Integer(value.into()),
            Self::Known(Value::Tuple(tuple)) => Self::Tuple(tuple.map(|&value| value.into())),
            Self::Known(Value::Coord(coord)) => Self::Coord(coord.map(|leaf| leaf.map(Sum::from))),
            Self::Known(Value::Layout(layout)) => Self::Layout(SymbolicLayout::lift(&layout)),
            Self::Known(Value::Composed(composed)) => {
                Self::Composed(SymbolicComposed::lift(&composed))
            }
            Self::Known(Value::Tiler(tiler)) => Self::Tiler(SymbolicTiler::lift(&tiler)),
            value => value,
        }
    }

    /// What is no layout, if it is known.
    fn as_numbers(&self) -> Option<Value> {
        match self {
            Self::Known(Value::Layout(_)) => None,
            Self::Known(value) => Some(value.clone()),
            Self::Integer(sum) => sum.as_constant().map(Value::from),
            Self::Tuple(tuple) => {
                let numbers = tuple.map(Sum::as_constant);
                numbers.to_int_tuple().map(Value::from)
            }
            _ => None,
        }
    }

    /// The value as an operand that is a tiler by itself.
    pub(crate) fn into_tiler(self, scope: &mut Scope) -> Result<SymbolicTiler> {
        let operands = [self];
        let operands = &operands;
        SymbolicArgs { scope, operands }.tiler(0)
    }

    /// The value as an operand that is a layout, perhaps swizzled.
    pub(crate) fn into_composed(self, scope: &mut Scope) -> Result<SymbolicComposed> {
        let operands = [self];
        let operands = &operands;
        let mut args = SymbolicArgs { scope, operands };
        match args.swizzled(0)? {
            Some(composed) => Ok(composed),
            None => SymbolicComposed::new(Swizzle::IDENTITY, Sum::default(), args.layout(0)?),
        }
    }

    /// The value as an operand that is a layout; a shape stands for its compact layout, leftmost mode fastest.
    pub(crate) fn into_layout(self, scope: &mut Scope) -> Result<SymbolicLayout> {
        let operands = [self];
        let operands = &operands;
        SymbolicArgs { scope, operands }.layout(0)
    }
}

impl From<SymbolicLayout> for SymbolicValue {
    fn from(layout: SymbolicLayout) -> Self {
        Self::Layout(layout)
    }
}

impl From<Sum> for SymbolicValue {
    fn from(sum: Sum) -> Self {
        Self::Integer(sum)
    }
}

impl From<Term> for SymbolicValue {
    fn from(term: Term) -> Self {
        Self::Integer(term.into())
    }
}

impl From<Tuple<Sum>> for SymbolicValue {
    fn from(tuple: Tuple<Sum>) -> Self {
        match tuple {
            Tuple::Leaf(sum) => Self::Integer(sum),
            Tuple::Node(_) => Self::Tuple(tuple),
        }
    }
}

impl From<bool> for SymbolicValue {
    fn from(value: bool) -> Self {
        Self::Known(value.into())
    }
}
