//! From expressions to values.

use super::elsewhere::{self, unknown_operation};
use super::error::NotationError;
use super::expr::{Expr, ExprKind, Leaf, Names, Order, Sign};
use super::parse::parse_where;
use super::token::lex;
use crate::coalesce::coalesce;
use crate::composed::ComposedLayout;
use crate::composition::composition;
use crate::construct::{compact_left, compact_right};
use crate::domain::{Numbers, Question, Sum};
use crate::error::{ErrorKind, LayoutError, Place, Side};
use crate::explain::{Explanation, explanation, run_time_steps, steps};
use crate::integer::Integer;
use crate::layout::Layout;
use crate::operations::{Operations, apply, find};
use crate::overhang::Overhang;
use crate::rational::rational_mode;
use crate::stride::{ScaledBasis, Stride};
use crate::swizzle::Swizzle;
use crate::symbolic::{Atom, is_integer_name};
use crate::tiler::Tiler;
use crate::tuple::Tuple;
use crate::value::Value;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

/// The value of an expression. `names` gives the values of names.
///
/// ```
/// use cute_algebra::{Value, notation};
/// let tokens = notation::lex("(6,2):(8,2) o B")?;
/// let b = notation::eval_str("(4,3):(3,1)")?;
/// let value = notation::eval(&notation::parse(&tokens, 15..15)?, &|name| (name == "B").then(|| b.clone()))?;
/// assert_eq!(value.to_string(), "((2,2),3):((24,2),8)");
/// # Ok::<(), notation::NotationError>(())
/// ```
pub fn eval(expr: &Expr, names: Names<'_>) -> Result<Value, NotationError> {
    Evaluator::of_numbers(names).value(expr)
}

/// The value of an expression that should be a layout: a shape becomes its compact layout, in which the leftmost mode
/// varies fastest.
pub fn eval_layout(expr: &Expr, names: Names<'_>) -> Result<Value, NotationError> {
    Evaluator::of_numbers(names).layout_value(expr)
}

/// An atom for a variable or a Rust expression, and the position of the variable or expression.
pub type Captured = (Atom, Range<usize>);

/// A domain in which expressions can be evaluated.
pub(super) trait Leaves: Operations {
    /// The value of a leaf at position `at`: a number, a name or a Rust expression.
    fn leaf(
        &mut self,
        leaf: Leaf,
        at: &Range<usize>,
        captured: &mut Vec<Captured>,
    ) -> Result<Self::Int, NotationError>;

    /// The integer made of this quotient earlier, if there is one.
    fn known_quotient(&self, dividend: &Sum<Self>, divisor: &Sum<Self>) -> Option<Self::Int>;
}

impl Leaves for Numbers {
    fn leaf(
        &mut self,
        leaf: Leaf,
        at: &Range<usize>,
        _: &mut Vec<Captured>,
    ) -> Result<i64, NotationError> {
        match leaf {
            Leaf::Known(value) => Ok(value),
            Leaf::Named(text) | Leaf::Computed(text) => Err(run_time(at, &text)),
        }
    }

    fn known_quotient(&self, _: &i64, _: &i64) -> Option<i64> {
        None
    }
}

/// Evaluates expressions with the given names, in the given domain.
pub(super) struct Evaluator<'a, D> {
    pub(super) names: Names<'a>,
    pub(super) d: D,
    /// The run-time integers so far, with the positions of their tokens.
    pub(super) captured: Vec<Captured>,
    /// The operations so far, if they are to be explained.
    pub(super) trace: Option<Vec<Explanation>>,
}

impl<'a> Evaluator<'a, Numbers> {
    pub(super) fn of_numbers(names: Names<'a>) -> Self {
        Self {
            names,
            d: Numbers,
            captured: Vec::new(),
            trace: None,
        }
    }
}

impl<D: Leaves> Evaluator<'_, D> {
    pub(super) fn value(&mut self, expr: &Expr) -> Result<Value<D::Int>, NotationError> {
        match &expr.kind {
            ExprKind::Int(value) => Ok((*value).into()),
            ExprKind::Basis(..) | ExprKind::Fraction(..) => Ok(self.stride(expr)?.into()),
            ExprKind::Underscore => Ok(Value::Tiler(Tiler::Keep)),
            ExprKind::Name(name) => match (self.names)(name) {
                Some(value) => Ok(D::lift(value)),
                None if is_integer_name(name) => Ok(Value::of_sums(self.integers(expr)?)),
                None => Err(
                    NotationError::new(&expr.at, format!("unknown name `{name}`")).help(format!(
                        "if it is a run-time integer, it is written `{{{name}}}` here"
                    )),
                ),
            },
            ExprKind::Braced(_) | ExprKind::Integer(_) => Ok(Value::of_sums(self.integers(expr)?)),
            ExprKind::Arithmetic(Sign::Over, sides) => self.quotient(expr, sides),
            ExprKind::Arithmetic(..) => Ok(Value::Int(self.sum(expr)?)),
            ExprKind::Tuple(items) => match items.iter().any(Expr::is_visibly_layout) {
                true => self.concat(items),
                false => self.tuple(expr),
            },
            ExprKind::Layout(shape, stride) if has_fraction(stride) => {
                let extents = self.shape(shape)?;
                Ok(self.fractional(&extents, stride)?.into())
            }
            ExprKind::Layout(shape, stride) => {
                let (extents, strides) = (self.shape(shape)?, self.stride(stride)?);
                Layout::make(&mut self.d, extents, strides)
                    .map(Value::from)
                    .map_err(|error| at_place(error, &[expr]))
            }
            ExprKind::Ordered(shape, order) => {
                let extents = self.shape(shape)?;
                let layout = match order {
                    Order::Row => compact_right(&mut self.d, &extents),
                    Order::Col => compact_left(&mut self.d, &extents),
                };
                layout
                    .map(Value::from)
                    .map_err(|error| at_place(error, &[shape]))
            }
            ExprKind::Tiler(items) => {
                let tilers = items.iter().map(|item| self.tiler(item));
                Ok(Tiler::Modes(tilers.collect::<Result<_, _>>()?).into())
            }
            ExprKind::Swizzle(fields) => Ok(self.swizzle(expr, fields)?.into()),
            ExprKind::Swizzled(parts) => self.swizzled(parts),
            ExprKind::Call {
                operation,
                name_at,
                args,
                ragged,
            } => self.call(expr, operation, name_at, args, *ragged),
        }
    }

    /// The value of an expression that should be a layout. A shape becomes its compact layout.
    pub(super) fn layout_value(&mut self, expr: &Expr) -> Result<Value<D::Int>, NotationError> {
        let value = self.value(expr)?;
        let shape = match (&value, &expr.kind) {
            // The result of an operation is not converted: `size(A)` is a number, not a shape.
            (_, ExprKind::Call { .. }) => return Ok(value),
            (Value::Int(extent), _) => Tuple::Leaf(extent.clone()),
            (Value::Tuple(shape), _) => shape.clone(),
            _ => return Ok(value),
        };
        shape
            .try_map(|extent| self.d.integer(extent))
            .and_then(|shape| compact_left(&mut self.d, &shape))
            .map(Value::from)
            .map_err(|error| at_place(error, &[expr]))
    }

    /// The concatenation `(A, B)`, where at least one item is written as a layout.
    fn concat(&mut self, items: &[Expr]) -> Result<Value<D::Int>, NotationError> {
        if let [only] = items {
            return self.value(only);
        }
        let values = items.iter().map(|item| self.value(item));
        let values = values.collect::<Result<Vec<_>, _>>()?;
        if !values.iter().any(|value| matches!(value, Value::Layout(_))) {
            return results(items, values);
        }
        let mut modes = Vec::new();
        for (item, value) in items.iter().zip(values) {
            match value {
                Value::Layout(layout) => modes.push(layout),
                Value::Int(extent) => {
                    return Err(NotationError::new(
                        &item.at,
                        format!("{extent} stands beside a layout, but has no stride"),
                    )
                    .help(format!("a contiguous mode is `{extent}:1`")));
                }
                other => return Err(wrong_kind(&item.at, "a layout", &other)),
            }
        }
        let items: Vec<_> = items.iter().collect();
        Layout::concat(modes)
            .map(Value::from)
            .map_err(|error| at_place(error, &items))
    }

    /// A tuple of integers and `_`, or of strides if one of them is `1@0` or the like.
    fn tuple(&mut self, expr: &Expr) -> Result<Value<D::Int>, NotationError> {
        match has_basis(expr) {
            true => Ok(self.stride(expr)?.into()),
            false => Ok(Value::of_coord(self.coord(expr)?)),
        }
    }

    fn shape(&mut self, expr: &Expr) -> Result<Tuple<D::Int>, NotationError> {
        let extents = self.integers(expr)?;
        extents
            .try_map(|extent| self.d.integer(extent))
            .map_err(|error| at_place(error, &[expr]))
    }

    fn integers(&mut self, expr: &Expr) -> Result<Tuple<Sum<D>>, NotationError> {
        self.coord(expr)?.to_int_tuple().ok_or_else(|| {
            let at = find_underscore(expr).unwrap_or(expr).at.clone();
            NotationError::new(&at, "`_` stands for a whole mode, but an integer is wanted")
        })
    }

    /// A single integer; an error for a tuple.
    pub(super) fn integer(&mut self, expr: &Expr) -> Result<D::Int, NotationError> {
        match self.shape(expr)? {
            Tuple::Leaf(value) => Ok(value),
            Tuple::Node(_) => Err(NotationError::new(&expr.at, "expected an integer")),
        }
    }

    fn coord(&mut self, expr: &Expr) -> Result<Tuple<Option<Sum<D>>>, NotationError> {
        match &expr.kind {
            ExprKind::Int(value) => Ok(Tuple::Leaf(Some((*value).into()))),
            ExprKind::Underscore => Ok(Tuple::Leaf(None)),
            ExprKind::Tuple(items) => items.iter().map(|item| self.coord(item)).collect(),
            ExprKind::Name(name) if let Some(value) = (self.names)(name) => match D::lift(value) {
                Value::Int(value) => Ok(Tuple::Leaf(Some(value))),
                Value::Tuple(tuple) => Ok(tuple.to_coord()),
                Value::Coord(coord) => Ok(coord),
                value => Err(not_an_integer(&expr.at, name, &value)),
            },
            ExprKind::Arithmetic(..) => Ok(Tuple::Leaf(Some(self.sum(expr)?))),
            ExprKind::Integer(inner) => Ok(Tuple::Leaf(Some(self.braced(inner)?.into()))),
            ExprKind::Call { .. } => match self.value(expr)? {
                Value::Int(value) => Ok(Tuple::Leaf(Some(value))),
                Value::Tuple(tuple) => Ok(tuple.to_coord()),
                other => Err(wrong_kind(&expr.at, "an integer or a tuple", &other)),
            },
            ExprKind::Basis(..) => Err(NotationError::new(
                &expr.at,
                "expected an integer, found a basis element; in front of `@` stands one integer, such as `{2*m}@0`",
            )),
            _ => match expr.leaf(self.names) {
                Some(named) => {
                    let integer = self.d.leaf(named, &expr.at, &mut self.captured)?;
                    Ok(Tuple::Leaf(Some(integer.into())))
                }
                None => Err(NotationError::new(
                    &expr.at,
                    "expected an integer or a tuple of integers",
                )),
            },
        }
    }

    /// The value of arithmetic in braces. A quotient written before is the same integer again.
    fn braced(&mut self, inner: &Expr) -> Result<D::Int, NotationError> {
        if let ExprKind::Arithmetic(Sign::Over, sides) = &inner.kind {
            let (left, right) = (self.sum(&sides[0])?, self.sum(&sides[1])?);
            if let Some(known) = self.d.known_quotient(&left, &right) {
                return Ok(known);
            }
        }
        let sum = self.sum(inner)?;
        let integer = self.d.integer(&sum);
        integer.map_err(|error| at_place(error, &[inner]))
    }

    /// The value of arithmetic, and of each of its sides.
    pub(super) fn sum(&mut self, expr: &Expr) -> Result<Sum<D>, NotationError> {
        match &expr.kind {
            ExprKind::Arithmetic(sign, sides) => {
                let [left, right] = &**sides;
                let (left, divisor) = (self.sum(left)?, self.sum(right)?);
                self.arithmetic(*sign, &left, &divisor, expr)
            }
            ExprKind::Tuple(items) if let [only] = &items[..] => self.sum(only),
            ExprKind::Name(name) if let Some(value) = (self.names)(name) => match D::lift(value) {
                Value::Int(value) => Ok(value),
                other => {
                    let error = wrong_kind(&expr.at, "an integer", &other);
                    Err(error.help("signs are for integers: `A o B` composes layouts, and `logical_product(A, B)` repeats one"))
                }
            },
            _ => match self.coord(expr)? {
                Tuple::Leaf(Some(value)) => Ok(value),
                _ => Err(NotationError::new(&expr.at, "expected an integer")),
            },
        }
    }

    fn arithmetic(
        &mut self,
        sign: Sign,
        left: &Sum<D>,
        right: &Sum<D>,
        expr: &Expr,
    ) -> Result<Sum<D>, NotationError> {
        let minus = || D::Int::multiply(right, &(-1).into());
        let (result, what) = match sign {
            Sign::Plus => (D::Int::plus(left, right), "sum"),
            Sign::Minus => (
                minus().and_then(|minus| D::Int::plus(left, &minus)),
                "difference",
            ),
            Sign::Times => (D::Int::multiply(left, right), "product"),
            Sign::Ceiling => return self.ceiling(left, right, expr),
            Sign::Over | Sign::Modulo => {
                if *right == 0.into() {
                    return Err(NotationError::new(
                        &expr.at,
                        format!("`{left}` is divided by 0"),
                    ));
                }
                let divisor = self.d.integer(right);
                let divided = divisor
                    .and_then(|divisor| self.d.div_rem(left, &divisor))
                    .ok();
                match sign {
                    Sign::Over => (divided.map(|(quotient, _)| quotient), "quotient"),
                    _ => (divided.map(|(_, remainder)| remainder), "remainder"),
                }
            }
        };
        let overflow = || NotationError::new(&expr.at, format!("the {what} does not fit 64 bits"));
        result.ok_or_else(overflow)
    }

    /// `left.div_ceil(right)`, whose sides must be positive.
    fn ceiling(
        &mut self,
        left: &Sum<D>,
        right: &Sum<D>,
        expr: &Expr,
    ) -> Result<Sum<D>, NotationError> {
        let refused = |error| at_place(error, &[expr]);
        let [left, right] = [left, right].map(|side| self.d.integer(side));
        let (left, right) = (left.map_err(refused)?, right.map_err(refused)?);
        for side in [&left, &right] {
            if side.as_constant().is_some_and(|side| side < 1) {
                let message = format!("`div_ceil` divides positive integers, not {side}");
                return Err(NotationError::new(&expr.at, message));
            }
            let question = Question::AtMost(&D::Int::ONE, side);
            self.d
                .require(question, &Place::default(), &|| None)
                .map_err(refused)?;
        }
        let quotient = self.d.ceiling(&left, &right, &Place::default());
        Ok(quotient.map_err(refused)?.into())
    }

    /// `left / right`: the quotient of two integers, or else a layout divided by a tiler.
    fn quotient(&mut self, expr: &Expr, sides: &[Expr; 2]) -> Result<Value<D::Int>, NotationError> {
        let values = sides
            .each_ref()
            .map(Expr::without_parentheses)
            .map(|side| self.value(side));
        let [left, right] = values;
        match [left?, right?] {
            [Value::Int(left), Value::Int(right)] => Ok(Value::Int(self.arithmetic(
                Sign::Over,
                &left,
                &right,
                expr,
            )?)),
            values => self.apply(expr, "zipped_divide", sides, &values, false),
        }
    }

    fn stride(&mut self, expr: &Expr) -> Result<Stride<D::Int>, NotationError> {
        match &expr.kind {
            ExprKind::Basis(value, path) => {
                let outermost_first: Vec<_> = path.iter().rev().copied().collect();
                let basis = ScaledBasis::new(self.integer(value)?, outermost_first);
                basis
                    .map(Tuple::Leaf)
                    .map_err(|error| at_place(error, &[expr]))
            }
            ExprKind::Fraction(..) => Err(NotationError::new(
                &expr.at,
                "a stride that is a fraction needs an extent",
            )
            .help("a mode is `extent:stride`, such as `4:1/2@0`")),
            ExprKind::Tuple(items) => items.iter().map(|item| self.stride(item)).collect(),
            ExprKind::Name(name)
                if let Some(Value::Stride(stride)) = (self.names)(name).map(D::lift) =>
            {
                Ok(stride)
            }
            _ => Ok(self.shape(expr)?.map(|value| value.clone().into())),
        }
    }

    /// A layout with some strides that are fractions. Each such mode becomes one or two modes with integer strides.
    fn fractional(
        &mut self,
        extents: &Tuple<D::Int>,
        stride: &Expr,
    ) -> Result<Layout<D::Int>, NotationError> {
        let refused = |error| at_place(error, &[stride]);
        match (&stride.kind, extents) {
            (ExprKind::Fraction([above, below], path), Tuple::Leaf(extent)) => {
                let outermost_first: Vec<_> = path.iter().rev().copied().collect();
                let what = "the extent of a stride that is a fraction";
                let unsupported = || ErrorKind::Unsupported { what }.at(Place::default());
                let mode = extent.as_constant().ok_or_else(unsupported);
                let mode =
                    mode.and_then(|extent| rational_mode(extent, *above, *below, &outermost_first));
                match D::lift(mode.map_err(refused)?.into()) {
                    Value::Layout(mode) => Ok(mode),
                    other => Err(wrong_kind(&stride.at, "a layout", &other)),
                }
            }
            (ExprKind::Tuple(strides), Tuple::Node(extents)) if strides.len() == extents.len() => {
                let pairs = extents.iter().zip(strides);
                let modes = pairs.map(|(extents, stride)| self.fractional(extents, stride));
                Layout::concat(modes.collect::<Result<Vec<_>, _>>()?).map_err(refused)
            }
            _ if has_fraction(stride) => Err(NotationError::new(
                &stride.at,
                format!("this stride and the shape {extents} are not congruent"),
            )),
            _ => {
                let strides = self.stride(stride)?;
                Layout::make(&mut self.d, extents.clone(), strides).map_err(refused)
            }
        }
    }

    pub(super) fn tiler(&mut self, expr: &Expr) -> Result<Tiler<D::Int>, NotationError> {
        let shape = match self.value(expr)? {
            Value::Layout(layout) => return Ok(Tiler::Layout(layout)),
            Value::Tiler(tiler) => return Ok(tiler),
            Value::Int(extent) => Tuple::Leaf(Some(extent)),
            Value::Tuple(shape) => shape.to_coord(),
            Value::Coord(coord) => coord,
            other => return Err(wrong_kind(&expr.at, "a tiler", &other)),
        };
        let integer =
            |leaf: &Option<Sum<D>>| leaf.as_ref().map(|sum| self.d.integer(sum)).transpose();
        shape
            .try_map(integer)
            .and_then(|shape| Tiler::of_coord(&mut self.d, &shape))
            .map_err(|error| at_place(error, &[expr]))
    }

    fn swizzle(&mut self, expr: &Expr, fields: &[Expr; 3]) -> Result<Swizzle, NotationError> {
        let mut field = |field: &Expr| match self.integer(field)?.as_constant() {
            Some(value) => Ok(value),
            None => Err(NotationError::new(
                &field.at,
                "the fields of a swizzle must be numbers that are known at expansion",
            )),
        };
        let mut unsigned = |expr: &Expr| {
            let value = field(expr)?;
            u32::try_from(value).map_err(|_| {
                NotationError::new(&expr.at, format!("a number of bits cannot be {value}"))
            })
        };
        let [bits, base, shift] = fields;
        let (bits, base) = (unsigned(bits)?, unsigned(base)?);
        let distance = field(shift)?;
        let distance = i32::try_from(distance)
            .map_err(|_| NotationError::new(&shift.at, format!("a shift cannot be {distance}")))?;
        Swizzle::new(bits, base, distance).map_err(|error| at_place(error, &[expr]))
    }

    fn swizzled(
        &mut self,
        [swizzle, offset, layout]: &[Expr; 3],
    ) -> Result<Value<D::Int>, NotationError> {
        let outer = match self.value(swizzle)? {
            Value::Swizzle(swizzle) => swizzle,
            other => return Err(wrong_kind(&swizzle.at, "a swizzle", &other)),
        };
        let shift = match self.value(offset)? {
            Value::Int(offset) => offset,
            // The name of an integer by its form stands for a layout here.
            between => {
                let whole = self.value(layout)?;
                let parts = [offset.clone(), layout.clone()];
                let inner = self.apply(offset, "composition", &parts, &[between, whole], false)?;
                let parts = [swizzle.clone(), offset.clone()];
                return self.apply(
                    swizzle,
                    "composition",
                    &parts,
                    &[outer.into(), inner],
                    false,
                );
            }
        };
        let result = match self.layout_value(layout)? {
            Value::Layout(inner) => ComposedLayout::new(outer, shift, inner).map(Value::from),
            Value::Composed(inner) if shift == 0.into() => {
                let both = outer.after(inner.swizzle());
                both.and_then(|both| {
                    ComposedLayout::new(both, inner.offset(), inner.layout().clone())
                        .map(Value::from)
                })
            }
            other => return Err(wrong_kind(&layout.at, "a layout", &other)),
        };
        result.map_err(|error| at_place(error, &[layout]))
    }

    fn call(
        &mut self,
        expr: &Expr,
        name: &str,
        name_at: &Range<usize>,
        args: &[Expr],
        ragged: bool,
    ) -> Result<Value<D::Int>, NotationError> {
        let Some(operation) = find(name) else {
            return Err(unknown_operation(name, name_at));
        };
        let value = |(i, arg): (usize, &Expr)| match &arg.kind {
            // The operation takes a word here, such as `K`. A name whose value is a word is replaced by that word.
            ExprKind::Name(name) if operation.takes_word(i) => match (self.names)(name) {
                Some(Value::Word(word)) => Ok(Value::Word(word)),
                _ => Ok(Value::Word(name.clone())),
            },
            _ => self.value(arg),
        };
        let values = args.iter().enumerate().map(value);
        let values = values.collect::<Result<Vec<_>, _>>()?;
        self.apply(expr, name, args, &values, ragged)
    }

    /// The result of an operation on these values of its operands.
    fn apply(
        &mut self,
        expr: &Expr,
        name: &str,
        args: &[Expr],
        values: &[Value<D::Int>],
        ragged: bool,
    ) -> Result<Value<D::Int>, NotationError> {
        let operation = find(name).ok_or_else(|| unknown_operation(name, &expr.at))?;
        let result = self.d.apply(operation, values, ragged);
        if let Some(trace) = &mut self.trace {
            let numbers: Option<Vec<_>> = values.iter().map(D::to_numbers).collect();
            let overhang = if ragged {
                Overhang::Ragged
            } else {
                Overhang::Strict
            };
            let steps = match numbers {
                Some(numbers) => steps(operation.name, &numbers, overhang),
                None => run_time_steps(operation.name),
            };
            let result = result.as_ref().ok();
            trace.push(explanation(operation.name, values, steps, result));
        }
        result.map_err(|error| refused::<D>(error, expr, name, args, values))
    }
}

/// The tuple of these values, which must be integers or tuples; some are results of operations.
fn results<I: Integer>(items: &[Expr], values: Vec<Value<I>>) -> Result<Value<I>, NotationError> {
    let integers = items.iter().zip(values).map(|(item, value)| match value {
        Value::Int(leaf) => Ok(Tuple::Leaf(leaf)),
        Value::Tuple(tuple) => Ok(tuple),
        other => Err(wrong_kind(&item.at, "a layout or an integer", &other)),
    });
    Ok(Value::of_sums(integers.collect::<Result<_, _>>()?))
}

/// Moves the error of an operation to the wrong operand or part of it. Adds note and help.
pub(super) fn refused<D: Operations>(
    error: LayoutError,
    expr: &Expr,
    name: &str,
    args: &[Expr],
    values: &[Value<D::Int>],
) -> NotationError {
    let words = |(i, _): &(usize, &Expr)| !matches!(values.get(*i), Some(Value::Word(_)));
    let written_out = |index: usize| args.get(index).is_none_or(is_written_out);
    let all = args
        .iter()
        .enumerate()
        .filter(words)
        .all(|(i, _)| written_out(i));
    let note = (error.trace().len() > 1 || !all).then(|| match error.part() {
        Some(part) if !written_out(error.place().operand) => format!("{}, {part}", trace(&error)),
        _ => trace(&error),
    });
    let operands: Vec<_> = if args.is_empty() {
        vec![expr]
    } else {
        args.iter().collect()
    };
    let missing = matches!(error.kind(), ErrorKind::ArgumentCount { found, counts, .. } if found < counts.start());
    let is_strict = find(name).is_some_and(|operation| !operation.ragged);
    let without_ragged =
        (is_strict && error.kind().is_overhang()).then(|| format!("{:#}", error.kind()));
    let mut error = at_place(error, &operands);
    if let Some(message) = without_ragged {
        error.message = message;
    }
    if let ExprKind::Call { name_at, .. } = &expr.kind
        && missing
    {
        error.at = name_at.clone();
    }
    error.note = note;
    if error.help.is_none() && name.ends_with("_divide") {
        error.help = by_mode_hint::<D>(name, values);
    }
    if error.help.is_none() && name == "composition" {
        error.help = coalesced_hint::<D>(values);
    }
    // CuTe's `slice` and `dice` take the coordinate first.
    if error.help.is_none() && matches!(name, "slice" | "slice_and_offset" | "dice") {
        let is_first = matches!(values, [Value::Coord(_), ..]);
        error.help =
            is_first.then(|| format!("the layout is the first operand: `{name}(L, (0,_))`"));
    }
    if error.help.is_none() {
        error.help = order_hint::<D>(name, args, values);
    }
    error
}

/// The help for operands in the wrong order, or for a mode written the wrong way.
fn order_hint<D: Operations>(
    name: &str,
    args: &[Expr],
    values: &[Value<D::Int>],
) -> Option<String> {
    let is_layout = |value: &Value<D::Int>| matches!(value, Value::Layout(_) | Value::Composed(_));
    match (name, args, values) {
        ("complement", [first, second], [a, b]) if !is_layout(a) && is_layout(b) => Some(format!(
            "the layout is the first operand: `complement({second}, {first})`"
        )),
        // `5:64/4`, where the quotient was meant as a stride.
        ("zipped_divide", [whole, divisor], _)
            if matches!(whole.kind, ExprKind::Layout(..))
                && matches!(divisor.kind, ExprKind::Int(_)) =>
        {
            let ExprKind::Layout(shape, stride) = &whole.kind else {
                return None;
            };
            if !matches!(stride.kind, ExprKind::Int(_)) {
                return None;
            }
            Some(format!(
                "`/` divides the layout `{whole}`; a quotient as its stride is written `{shape}:{{{stride}/{divisor}}}`"
            ))
        }
        ("crd2idx", [first, second], [a, _]) if is_layout(a) => Some(format!(
            "the coordinate is the first operand: `crd2idx({second}, {first})`"
        )),
        ("size" | "cosize" | "shape" | "stride" | "rank" | "depth", [first, mode], _) => {
            Some(format!("that of a mode is `{name}(get({first}, {mode}))`"))
        }
        _ => None,
    }
}

/// Whether the text of an operand shows its value: it has no names and no operations.
fn is_written_out(expr: &Expr) -> bool {
    !expr.is_visibly_layout() && expr.layout_names().is_empty()
        || matches!(expr.kind, ExprKind::Layout(..))
}

/// The operations in progress, the innermost first, for the note of an error.
fn trace(error: &LayoutError) -> String {
    const LONGEST: usize = 80;
    let operand = |text: &String| match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.clone(),
    };
    let frames = error.trace().iter().map(|frame| {
        let operands: Vec<_> = frame.operands.iter().map(operand).collect();
        format!("{}({})", frame.operation, operands.join(", "))
    });
    format!("in {}", frames.collect::<Vec<_>>().join(" in "))
}

fn find_underscore(expr: &Expr) -> Option<&Expr> {
    match &expr.kind {
        ExprKind::Underscore => Some(expr),
        ExprKind::Tuple(items) => items.iter().find_map(find_underscore),
        _ => None,
    }
}

fn has_fraction(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Fraction(..) => true,
        ExprKind::Tuple(items) => items.iter().any(has_fraction),
        _ => false,
    }
}

fn has_basis(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Basis(..) | ExprKind::Fraction(..) => true,
        ExprKind::Tuple(items) => items.iter().any(has_basis),
        _ => false,
    }
}

/// Moves an error to the token of its place, or to the operand if the operand is not written out.
pub(super) fn at_place(error: LayoutError, operands: &[&Expr]) -> NotationError {
    let place = error.place();
    let at = match operands.get(place.operand).or(operands.last()) {
        Some(operand) => locate(operand, place),
        None => 0..0,
    };
    let notation_error = NotationError::new(&at, error.kind().to_string());
    match error.kind() {
        ErrorKind::NotCongruent { shape, stride } => match one_tuple_hint(shape, stride) {
            Some(help) => notation_error.help(help),
            None => notation_error,
        },
        ErrorKind::Undecided {
            condition,
            opposite,
        } => {
            let message = format!("the modes of the result depend on whether `{condition}`");
            let facts = [condition, opposite].map(|fact| format!("where {fact};"));
            let help = match facts.iter().all(|fact| is_fact(fact)) {
                true => format!(
                    "state it as a fact in front: `{}` or `{}`",
                    facts[0], facts[1]
                ),
                false => {
                    "only names can have facts: give a name to the expression that it depends on"
                        .to_owned()
                }
            };
            NotationError::new(&at, message).help(help)
        }
        _ => notation_error,
    }
}

/// Whether `text`, which begins with `where`, can be parsed as a fact. A condition about quotients cannot.
fn is_fact(text: &str) -> bool {
    let expression = format!("{text} 1");
    lex(&expression).is_ok_and(|tokens| parse_where(&tokens, 0..0).is_ok())
}

pub(super) fn locate(operand: &Expr, place: &Place) -> Range<usize> {
    let mut expr = operand;
    if let ExprKind::Layout(shape, stride) = &expr.kind {
        expr = match place.side {
            Side::Shape => shape,
            Side::Stride => stride,
            // The extent and the stride of a mode are in two places of the text. Point at the extent, or at the whole
            // layout if it has only one mode.
            Side::Both if place.path.0.is_empty() || matches!(shape.kind, ExprKind::Int(_)) => {
                return expr.at.clone();
            }
            Side::Both => shape,
        };
    }
    for &index in &place.path.0 {
        expr = match &expr.kind {
            ExprKind::Tuple(items) | ExprKind::Tiler(items) if index < items.len() => &items[index],
            ExprKind::Layout(shape, stride) => {
                let side = if place.side == Side::Stride {
                    stride
                } else {
                    shape
                };
                match &side.kind {
                    ExprKind::Tuple(items) if index < items.len() => &items[index],
                    _ => return expr.at.clone(),
                }
            }
            _ => return expr.at.clone(),
        };
    }
    expr.at.clone()
}

/// The help for `24` in the place of `(24)`, or the other way round, in shape and stride.
fn one_tuple_hint(shape: &str, stride: &str) -> Option<String> {
    let inner = |text: &str| Some(text.strip_prefix('(')?.strip_suffix(')')?.to_owned());
    let is_integer = |text: &str| text.parse::<i64>().is_ok();
    match (inner(shape), inner(stride)) {
        (Some(only), None) if is_integer(&only) => Some(format!(
            "({only}) is a tuple of one mode: write `{only}` or `({stride})`"
        )),
        (None, Some(only)) if is_integer(&only) => Some(format!(
            "({only}) is a tuple of one mode: write `{only}` or `({shape})`"
        )),
        _ => None,
    }
}

/// The help for a layout of several modes as a tiler, which applies to the whole as one mode. It suggests a tiler by mode
/// if that has a result.
fn by_mode_hint<D: Operations>(name: &str, values: &[Value<D::Int>]) -> Option<String> {
    let [tiled, tiler] = values else {
        return None;
    };
    let (tiled, Value::Layout(tiler)) = (D::to_numbers(tiled)?, D::to_numbers(tiler)?) else {
        return None;
    };
    let by_mode = Tiler::Modes(tiler.modes().into_iter().map(Tiler::Layout).collect());
    let operands = [tiled, by_mode.clone().into()];
    let has_result = tiler.rank() > 1 && apply(find(name)?, &operands, false).is_ok();
    has_result.then(|| {
        format!("`{tiler}` applies to the whole as one mode; `{by_mode}` applies mode by mode")
    })
}

/// The help for a composition A o B that has no result in the shape of B, but that has one for the coalesced B.
fn coalesced_hint<D: Operations>(values: &[Value<D::Int>]) -> Option<String> {
    let [a, b] = values else {
        return None;
    };
    let (Value::Layout(a), Value::Layout(b)) = (D::to_numbers(a)?, D::to_numbers(b)?) else {
        return None;
    };
    let fewer = coalesce(&b);
    let Some(result) = composition(&a, &fewer).ok().filter(|_| fewer != b) else {
        let other = composition(&b, &a).ok()?;
        return Some(format!(
            "the right operand is applied first; in the other order, `{b} o {a}` is `{other}`"
        ));
    };
    Some(format!(
        "no layout with the shape {} has these values, but `A o coalesce(B)` does: `{result}`",
        b.shape()
    ))
}

fn not_an_integer<I: Integer>(at: &Range<usize>, name: &str, value: &Value<I>) -> NotationError {
    let error = NotationError::new(
        at,
        format!(
            "`{name}` is {}, but an integer is wanted inside a tuple",
            value.kind()
        ),
    );
    match value {
        Value::Layout(_) => error.help("layouts are put side by side by `concat(…)`"),
        _ => error,
    }
}

fn run_time(at: &Range<usize>, text: &str) -> NotationError {
    let message = format!("`{text}` is a run-time integer, but a number is needed here");
    let error = NotationError::new(at, message);
    match elsewhere::width(text) {
        Some((_, help)) => error.help(help),
        None => error,
    }
}

pub(super) fn wrong_kind<I: Integer>(
    at: &Range<usize>,
    wanted: &str,
    found: &Value<I>,
) -> NotationError {
    NotationError::new(at, format!("expected {wanted}, found {}", found.kind()))
}
