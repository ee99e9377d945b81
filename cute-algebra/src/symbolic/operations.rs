//! The operations that have a form for run-time integers, by name.

use super::algebra::{coalesce, complement, compose_by, divide, filter_zeros, product};
use super::layout::{SymbolicLayout, SymbolicTiler, Tags};
use super::scope::Scope;
use super::term::Term;
use super::{SymbolicError, SymbolicErrorKind};
use crate::composition::Overhang;
use crate::divide::Form;
use crate::error::{ErrorKind, Place};
use crate::operations::{self, Operation};
use crate::tiler::Tiler;
use crate::tuple::Tuple;
use crate::value::Value;

/// What an expression with run-time integers is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SymbolicValue {
    /// No run-time integer is in it.
    Known(Value),
    /// An integer.
    Integer(Term),
    /// A tuple of integers.
    Tuple(Tuple<Term>),
    /// A layout.
    Layout(SymbolicLayout),
    /// A tiler.
    Tiler(SymbolicTiler),
}

/// An operation on operands of which some hold run-time integers.
struct Row {
    name: &'static str,
    run: fn(&mut Args<'_>, Overhang) -> Result<SymbolicValue, SymbolicError>,
}

/// Operations that move modes and look at no extent and no stride.
const REGROUPINGS: [&str; 16] = [
    "concat",
    "get",
    "select",
    "take",
    "group",
    "flatten",
    "unflatten",
    "append",
    "prepend",
    "replace",
    "zip",
    "unzip",
    "slice",
    "dice",
    "rank",
    "depth",
];

#[rustfmt::skip] // A table is read by its rows.
const ROWS: &[Row] = &[
    Row { name: "make_layout_left", run: |args, _| {
        let shape = args.shape(0)?;
        Ok(SymbolicLayout::compact(args.scope, &shape, false)?.into())
    } },
    Row { name: "make_layout_right", run: |args, _| {
        let shape = args.shape(0)?;
        Ok(SymbolicLayout::compact(args.scope, &shape, true)?.into())
    } },
    Row { name: "with_shape", run: |args, _| {
        let (layout, shape) = (args.layout(0)?, args.shape(1)?);
        let stride = layout.tree().map(|mode| mode.stride.clone());
        Ok(SymbolicLayout::new(args.scope, &shape, &stride)?.into())
    } },
    Row { name: "shape", run: |args, _| {
        Ok(SymbolicValue::Tuple(args.layout(0)?.tree().map(|mode| mode.extent.clone())))
    } },
    Row { name: "stride", run: |args, _| {
        Ok(SymbolicValue::Tuple(args.layout(0)?.tree().map(|mode| mode.stride.clone())))
    } },
    Row { name: "size", run: |args, _| {
        let size = args.layout(0)?.size();
        Ok(SymbolicValue::Integer(size.ok_or_else(|| SymbolicErrorKind::Overflow.at(Place::default()))?))
    } },
    Row { name: "coalesce", run: |args, _| {
        args.only(1, "`coalesce` by a profile")?;
        Ok(coalesce(&args.layout(0)?).into())
    } },
    Row { name: "filter_zeros", run: |args, _| Ok(filter_zeros(&args.layout(0)?)?.into()) },
    Row { name: "filter", run: |args, _| {
        args.only(1, "`filter` by a profile")?;
        Ok(coalesce(&filter_zeros(&args.layout(0)?)?).into())
    } },
    Row { name: "composition", run: |args, overhang| {
        let (a, tiler) = (args.layout(0)?, args.tiler(1)?);
        Ok(compose_by(args.scope, &a, &tiler, overhang)?.into())
    } },
    Row { name: "complement", run: |args, overhang| {
        if args.operands.len() == 1 {
            return Err(SymbolicErrorKind::Unsupported("`complement` without a target").at(Place::default()));
        }
        let (a, target) = (args.layout(0)?, args.integer(1)?);
        Ok(complement(args.scope, &a, &target, overhang)?.0.into())
    } },
    Row { name: "logical_divide", run: |args, overhang| args.divide(Form::Logical, overhang) },
    Row { name: "zipped_divide", run: |args, overhang| args.divide(Form::Zipped, overhang) },
    Row { name: "tiled_divide", run: |args, overhang| args.divide(Form::Tiled, overhang) },
    Row { name: "flat_divide", run: |args, overhang| args.divide(Form::Flat, overhang) },
    Row { name: "logical_product", run: |args, _| args.product(Form::Logical) },
    Row { name: "zipped_product", run: |args, _| args.product(Form::Zipped) },
    Row { name: "tiled_product", run: |args, _| args.product(Form::Tiled) },
    Row { name: "flat_product", run: |args, _| args.product(Form::Flat) },
];

/// The result of an operation; by the operation on numbers where no operand holds a run-time integer.
pub(crate) fn apply(
    scope: &mut Scope,
    operation: &'static Operation,
    operands: &[SymbolicValue],
    ragged: bool,
) -> Result<SymbolicValue, SymbolicError> {
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
    if REGROUPINGS.contains(&operation.name) {
        return regroup(operation, operands);
    }
    let Some(row) = ROWS.iter().find(|row| row.name == operation.name) else {
        return Err(SymbolicErrorKind::Unsupported(operation.name).at(Place::default()));
    };
    let overhang = match ragged {
        true => Overhang::Ragged,
        false => Overhang::Strict,
    };
    (row.run)(&mut Args { scope, operands }, overhang)
}

fn regroup(
    operation: &Operation,
    operands: &[SymbolicValue],
) -> Result<SymbolicValue, SymbolicError> {
    let mut tags = Tags::default();
    let tagged = operands.iter().enumerate().map(|(i, operand)| {
        Ok(match operand {
            SymbolicValue::Layout(layout) => tags.tag(layout)?.into(),
            SymbolicValue::Known(Value::Layout(layout)) => {
                tags.tag(&SymbolicLayout::lift(layout)?)?.into()
            }
            SymbolicValue::Known(value) => value.clone(),
            _ => {
                let what = "this operand";
                return Err(SymbolicErrorKind::Unsupported(what).at(Place::operand(i)));
            }
        })
    });
    let tagged = tagged.collect::<Result<Vec<_>, SymbolicError>>()?;
    Ok(match operations::apply(operation, &tagged, false)? {
        Value::Layout(layout) => tags.untag(&layout).into(),
        value => SymbolicValue::Known(value),
    })
}

/// Operands, taken as what an operation wants.
struct Args<'a> {
    scope: &'a mut Scope,
    operands: &'a [SymbolicValue],
}

impl Args<'_> {
    fn get(&self, index: usize) -> Result<&SymbolicValue, SymbolicError> {
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

    /// Refuses further operands.
    fn only(&self, count: usize, otherwise: &'static str) -> Result<(), SymbolicError> {
        match self.operands.len() <= count {
            true => Ok(()),
            false => Err(SymbolicErrorKind::Unsupported(otherwise).at(Place::operand(count))),
        }
    }

    fn layout(&mut self, index: usize) -> Result<SymbolicLayout, SymbolicError> {
        match self.get(index)?.clone() {
            SymbolicValue::Layout(layout) => Ok(layout),
            SymbolicValue::Known(Value::Layout(layout)) => SymbolicLayout::lift(&layout),
            _ => {
                let shape = self.tuple(index, "a layout")?;
                SymbolicLayout::compact(self.scope, &shape, false)
                    .map_err(|error| error.inside(index))
            }
        }
    }

    fn shape(&self, index: usize) -> Result<Tuple<Term>, SymbolicError> {
        match self.get(index)? {
            SymbolicValue::Layout(layout) => Ok(layout.tree().map(|mode| mode.extent.clone())),
            SymbolicValue::Known(Value::Layout(layout)) => {
                Ok(layout.shape().map(|&extent| extent.into()))
            }
            _ => self.tuple(index, "a tuple of integers"),
        }
    }

    fn tuple(&self, index: usize, wanted: &'static str) -> Result<Tuple<Term>, SymbolicError> {
        match self.get(index)? {
            SymbolicValue::Integer(term) => Ok(Tuple::Leaf(term.clone())),
            SymbolicValue::Tuple(tuple) => Ok(tuple.clone()),
            SymbolicValue::Known(Value::Int(value)) => Ok(Tuple::Leaf((*value).into())),
            SymbolicValue::Known(Value::Tuple(tuple)) => Ok(tuple.map(|&value| value.into())),
            _ => Err(self.wrong(index, wanted)),
        }
    }

    fn integer(&self, index: usize) -> Result<Term, SymbolicError> {
        let product = self
            .tuple(index, "an integer")?
            .leaves()
            .try_fold(Term::ONE, |product, leaf| product.checked_mul(leaf));
        product.ok_or_else(|| SymbolicErrorKind::Overflow.at(Place::operand(index)))
    }

    fn tiler(&mut self, index: usize) -> Result<SymbolicTiler, SymbolicError> {
        match self.get(index)?.clone() {
            SymbolicValue::Tiler(tiler) => Ok(tiler),
            SymbolicValue::Layout(layout) => Ok(SymbolicTiler::Layout(layout)),
            SymbolicValue::Known(Value::Layout(layout)) => {
                Ok(SymbolicTiler::Layout(SymbolicLayout::lift(&layout)?))
            }
            SymbolicValue::Known(Value::Tiler(tiler)) => {
                SymbolicTiler::lift(&tiler).map_err(|error| error.inside(index))
            }
            _ => {
                let shape = self.tuple(index, "a tiler")?;
                SymbolicTiler::from_shape(self.scope, &shape).map_err(|error| error.inside(index))
            }
        }
    }

    fn divide(&mut self, form: Form, overhang: Overhang) -> Result<SymbolicValue, SymbolicError> {
        let (a, tiler) = (self.layout(0)?, self.tiler(1)?);
        Ok(divide(self.scope, &a, &tiler, form, overhang)?.into())
    }

    fn product(&mut self, form: Form) -> Result<SymbolicValue, SymbolicError> {
        let (a, tiler) = (self.layout(0)?, self.tiler(1)?);
        Ok(product(self.scope, &a, &tiler, form)?.into())
    }
}

impl SymbolicValue {
    /// What it is, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Known(value) => value.kind(),
            Self::Integer(_) => "a run-time integer",
            Self::Tuple(_) => "a tuple of run-time integers",
            Self::Layout(_) => "a layout",
            Self::Tiler(_) => "a tiler",
        }
    }

    /// The value as text, with the names of the run-time integers.
    pub fn show(&self, scope: &Scope) -> String {
        match self {
            Self::Known(value) => value.to_string(),
            Self::Integer(term) => scope.show(term),
            Self::Tuple(tuple) => super::show::show_tuple(&tuple.map(|term| scope.show(term))),
            Self::Layout(layout) => layout.show(scope),
            Self::Tiler(tiler) => tiler.show(scope),
        }
    }

    /// The value as an operand that is a tiler by itself.
    pub(crate) fn into_tiler(self, scope: &mut Scope) -> Result<SymbolicTiler, SymbolicError> {
        let operands = [self];
        let mut args = Args {
            scope,
            operands: &operands,
        };
        args.tiler(0)
    }

    /// The value as an operand that is a layout; a shape stands for its compact layout, leftmost mode fastest.
    pub(crate) fn into_layout(self, scope: &mut Scope) -> Result<SymbolicLayout, SymbolicError> {
        let operands = [self];
        let mut args = Args {
            scope,
            operands: &operands,
        };
        args.layout(0)
    }
}

impl SymbolicTiler {
    fn show(&self, scope: &Scope) -> String {
        match self {
            Self::Layout(layout) => layout.show(scope),
            Self::Keep => Tiler::Keep.to_string(),
            Self::Modes(tilers) => {
                let tilers: Vec<_> = tilers.iter().map(|tiler| tiler.show(scope)).collect();
                format!("<{}>", tilers.join(","))
            }
        }
    }
}

impl SymbolicError {
    /// Restates the place for a caller that passed the only operand as its operand `index`.
    fn inside(mut self, index: usize) -> Self {
        self.place.operand = index;
        self
    }
}

impl From<SymbolicLayout> for SymbolicValue {
    fn from(layout: SymbolicLayout) -> Self {
        Self::Layout(layout)
    }
}
