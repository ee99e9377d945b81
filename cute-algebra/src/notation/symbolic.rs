//! Expressions with run-time integers to values.

use super::eval::{Names, at_place, eval, eval_layout, locate, unknown_operation, wrong_kind};
use super::expr::{Expr, ExprKind, Fact, Leaf, Order, Relation};
use super::tiling::{division, expected_division};
use super::{NotationError, lex, parse_where};
use crate::composition::Overhang;
use crate::operations::find;
use crate::stride::ScaledBasis;
use crate::symbolic::{
    Atom, Check, Scope, Sum, Symbolic, SymbolicComposed, SymbolicError, SymbolicErrorKind,
    SymbolicLayout, SymbolicTiler, SymbolicTiling, SymbolicValue, Term, apply,
};
use crate::tuple::Tuple;
use crate::value::Value;
use std::ops::Range;

/// The value of `where fact, …; expression`, or of an expression alone. Names inside tuples are run-time integers.
///
/// ```
/// use cute_algebra::symbolic::eval_str;
/// let symbolic = eval_str("coalesce((m,n):(1,m))")?;
/// assert_eq!(symbolic.value.show(&symbolic.scope), "m*n:1");
/// # Ok::<(), cute_algebra::notation::NotationError>(())
/// ```
pub fn eval_symbolic_str(text: &str) -> Result<Symbolic, NotationError> {
    let (facts, expr) = parse_where(&lex(text)?, text.len()..text.len())?;
    Ok(eval_symbolic(&facts, &expr, &|_| None)?.0)
}

/// An atom that stands for a Rust expression, and where that stands.
pub type Captured = (Atom, Range<usize>);

/// The value of an expression under facts, and which of its tokens each captured atom stands for. Where a layout is
/// wanted, a shape stands for its layout with the leftmost mode fastest.
pub fn eval_symbolic(
    facts: &[Fact],
    expr: &Expr,
    names: Names<'_>,
) -> Result<(Symbolic, Vec<Captured>), NotationError> {
    let mut evaluator = Evaluator::new(facts, expr, names)?;
    let value = match &expr.kind {
        _ if !expr.has_run_time_leaf(names) => SymbolicValue::Known(eval_layout(expr, names)?),
        // The result of an operation is what it is.
        ExprKind::Call { .. } => evaluator.value(expr)?,
        _ => match evaluator.value(expr)? {
            shape @ (SymbolicValue::Integer(_) | SymbolicValue::Tuple(_)) => shape
                .into_layout(&mut evaluator.scope)
                .map_err(|error| evaluator.at(error, &[expr]))?
                .into(),
            value => value,
        },
    };
    let layout = match &value {
        SymbolicValue::Layout(layout) => Some(layout),
        SymbolicValue::Composed(composed) => Some(&composed.layout),
        _ => None,
    };
    if let Some(layout) = layout {
        layout
            .check_overflow(&evaluator.scope)
            .map_err(|kind| NotationError::new(&expr.at, kind.to_string()))?;
    }
    let symbolic = Symbolic {
        scope: evaluator.scope,
        value,
    };
    Ok((symbolic, evaluator.captured))
}

/// The tiling that a division is, with what is known about its run-time integers, and which of the tokens each captured atom
/// stands for.
pub fn eval_symbolic_tiling(
    facts: &[Fact],
    expr: &Expr,
    names: Names<'_>,
) -> Result<(Scope, SymbolicTiling, Vec<Captured>), NotationError> {
    let (args, ragged) = division(expr)?;
    let mut evaluator = Evaluator::new(facts, expr, names)?;
    let [whole, tiler] = args else {
        // It says how many operands there are to be.
        evaluator.value(expr)?;
        return Err(expected_division(&expr.at));
    };
    let overhang = match ragged {
        true => Overhang::Ragged,
        false => Overhang::Strict,
    };
    let (a, b) = (evaluator.value(whole)?, evaluator.value(tiler)?);
    let scope = &mut evaluator.scope;
    let a = a
        .into_composed(scope)
        .map_err(|_| NotationError::new(&whole.at, "expected a layout of integers"))?;
    let tiling = match b.into_tiler(scope) {
        Ok(b) => SymbolicTiling::new(scope, &a, &b, overhang),
        Err(error) => return Err(evaluator.at(error, &[tiler])),
    };
    let tiling = tiling.map_err(|error| evaluator.at(error, &[whole, tiler]))?;
    tiling
        .layout
        .layout
        .check_overflow(&evaluator.scope)
        .map_err(|kind| NotationError::new(&expr.at, kind.to_string()))?;
    Ok((evaluator.scope, tiling, evaluator.captured))
}

struct Evaluator<'a> {
    names: Names<'a>,
    scope: Scope,
    captured: Vec<Captured>,
}

impl<'a> Evaluator<'a> {
    fn new(facts: &[Fact], expr: &Expr, names: Names<'a>) -> Result<Self, NotationError> {
        let mut evaluator = Self {
            names,
            scope: Scope::default(),
            captured: Vec::new(),
        };
        // In the order of the expression, whatever the facts begin with.
        for (leaf, at) in expr.run_time_leaves(names) {
            evaluator.capture(leaf, &at)?;
        }
        facts.iter().try_for_each(|fact| evaluator.assume(fact))?;
        Ok(evaluator)
    }

    fn assume(&mut self, fact: &Fact) -> Result<(), NotationError> {
        let (left, right) = (self.term(&fact.left)?, self.term(&fact.right)?);
        let at_most = |left: &Term, right: &Term, strict: bool| {
            let (mut left, mut right) = (Sum::from(left), Sum::from(right));
            if strict && right.as_constant().is_some() {
                right = right.add(&Term::ONE, -1)?;
            } else if strict {
                left = left.add(&Term::ONE, 1)?;
            }
            Some(Check::AtMost { left, right })
        };
        let checks = match fact.relation {
            Relation::Multiple => vec![Some(Check::Divides {
                divisor: right,
                dividend: left,
            })],
            Relation::AtMost => vec![at_most(&left, &right, false)],
            Relation::Less => vec![at_most(&left, &right, true)],
            Relation::AtLeast => vec![at_most(&right, &left, false)],
            Relation::Greater => vec![at_most(&right, &left, true)],
            Relation::Equal => vec![at_most(&left, &right, false), at_most(&right, &left, false)],
        };
        for check in checks {
            let assumed = check
                .ok_or(SymbolicErrorKind::Overflow)
                .and_then(|check| self.scope.assume(check));
            assumed.map_err(|kind| NotationError::new(&fact.at, kind.to_string()))?;
        }
        Ok(())
    }

    fn value(&mut self, expr: &Expr) -> Result<SymbolicValue, NotationError> {
        if !expr.has_run_time_leaf(self.names) {
            return eval(expr, self.names).map(SymbolicValue::Known);
        }
        match &expr.kind {
            ExprKind::Tuple(items) if items.iter().any(Expr::is_visibly_layout) => {
                if let [only] = &items[..] {
                    return self.value(only);
                }
                let values = items.iter().map(|item| self.value(item));
                let values = values.collect::<Result<Vec<_>, _>>()?;
                let concat = find("concat").ok_or_else(|| unknown_operation("concat", &expr.at))?;
                let items: Vec<_> = items.iter().collect();
                apply(&mut self.scope, concat, &values, false)
                    .map_err(|error| self.at(error, &items))
            }
            ExprKind::Tuple(_) => {
                let coord = self.coord(expr)?;
                let integers = coord.leaves().all(Option::is_some);
                Ok(match integers {
                    true => {
                        SymbolicValue::Tuple(coord.map(|leaf| leaf.clone().unwrap_or_default()))
                    }
                    false => SymbolicValue::Coord(coord),
                })
            }
            ExprKind::Layout(shape, stride) => {
                let (extents, strides) = (self.tuple(shape)?, self.stride(stride)?);
                SymbolicLayout::along(&mut self.scope, &extents, &strides)
                    .map(SymbolicValue::from)
                    .map_err(|error| self.at(error, &[expr]))
            }
            ExprKind::Ordered(shape, order) => {
                let extents = self.tuple(shape)?;
                SymbolicLayout::compact(&mut self.scope, &extents, *order == Order::Row)
                    .map(SymbolicValue::from)
                    .map_err(|error| self.at(error, &[shape]))
            }
            ExprKind::Tiler(items) => {
                let mut tilers = Vec::new();
                for item in items {
                    let tiler = self.value(item)?.into_tiler(&mut self.scope);
                    tilers.push(tiler.map_err(|error| self.at(error, &[item]))?);
                }
                Ok(SymbolicValue::Tiler(SymbolicTiler::Modes(tilers)))
            }
            ExprKind::Call {
                operation,
                name_at,
                args,
                ragged,
            } => {
                let Some(row) = find(operation) else {
                    return Err(unknown_operation(operation, name_at));
                };
                let value = |(i, arg): (usize, &Expr)| match &arg.kind {
                    // A name that selects something.
                    ExprKind::Name(name) if row.takes_word(i) => {
                        Ok(SymbolicValue::Known(Value::Word(name.clone())))
                    }
                    _ => self.value(arg),
                };
                let values = args.iter().enumerate().map(value);
                let values = values.collect::<Result<Vec<_>, _>>()?;
                let operands: Vec<_> = args.iter().collect();
                apply(&mut self.scope, row, &values, *ragged)
                    .map_err(|error| self.at(error, &operands))
            }
            ExprKind::Swizzle(_) => Err(NotationError::new(
                &expr.at,
                SymbolicErrorKind::Unsupported("a swizzle").to_string(),
            )),
            ExprKind::Swizzled(parts) => self.swizzled(parts),
            _ => Ok(self.term(expr)?.into()),
        }
    }

    fn swizzled(
        &mut self,
        [swizzle, offset, layout]: &[Expr; 3],
    ) -> Result<SymbolicValue, NotationError> {
        let outer = match eval(swizzle, self.names)? {
            Value::Swizzle(swizzle) => swizzle,
            other => return Err(wrong_kind(&swizzle.at, "a swizzle", &other)),
        };
        let offset = self.term(offset)?;
        let inner = self.value(layout)?.into_layout(&mut self.scope);
        let composed = inner.and_then(|inner| SymbolicComposed::new(outer, offset.into(), inner));
        let composed = composed.map_err(|error| self.at(error, &[layout]))?;
        Ok(composed.simplest())
    }

    /// Integers, with `_` for whole modes.
    fn coord(&mut self, expr: &Expr) -> Result<Tuple<Option<Sum>>, NotationError> {
        match &expr.kind {
            ExprKind::Tuple(items) => items.iter().map(|item| self.coord(item)).collect(),
            ExprKind::Underscore => Ok(Tuple::Leaf(None)),
            ExprKind::Name(name) if let Some(Value::Coord(coord)) = (self.names)(name) => {
                Ok(coord.map(|leaf| leaf.map(Sum::from)))
            }
            _ => Ok(self.tuple(expr)?.map(|term| Some(term.into()))),
        }
    }

    /// Strides, each with the coordinate that it counts along.
    fn stride(&mut self, expr: &Expr) -> Result<Tuple<(Term, Vec<usize>)>, NotationError> {
        match &expr.kind {
            ExprKind::Tuple(items) => items.iter().map(|item| self.stride(item)).collect(),
            ExprKind::Basis(value, path) => {
                let outermost_first: Vec<_> = path.iter().rev().copied().collect();
                let basis = ScaledBasis::new(*value, outermost_first);
                let basis = basis.map_err(|error| at_place(error, &[expr]))?;
                Ok(Tuple::Leaf((basis.value().into(), basis.path().into())))
            }
            ExprKind::Fraction(..) => Err(NotationError::new(
                &expr.at,
                SymbolicErrorKind::Unsupported("a stride that is a fraction").to_string(),
            )),
            ExprKind::Name(name) if let Some(Value::Stride(stride)) = (self.names)(name) => {
                Ok(stride.map(|leaf| (leaf.value().into(), leaf.path().into())))
            }
            _ => Ok(self.tuple(expr)?.map(|term| (term.clone(), Vec::new()))),
        }
    }

    fn tuple(&mut self, expr: &Expr) -> Result<Tuple<Term>, NotationError> {
        match &expr.kind {
            ExprKind::Tuple(items) => items.iter().map(|item| self.tuple(item)).collect(),
            ExprKind::Name(name) if let Some(Value::Tuple(tuple)) = (self.names)(name) => {
                Ok(tuple.map(|&value| value.into()))
            }
            _ => self.term(expr).map(Tuple::Leaf),
        }
    }

    fn term(&mut self, expr: &Expr) -> Result<Term, NotationError> {
        if let ExprKind::Product(factors) = &expr.kind {
            let mut product = Term::ONE;
            for factor in factors {
                let factor = self.term(factor)?;
                product = product.checked_mul(&factor).ok_or_else(|| {
                    NotationError::new(&expr.at, SymbolicErrorKind::Overflow.to_string())
                })?;
            }
            return Ok(product);
        }
        match expr.leaf(self.names) {
            Some(leaf) => self.capture(leaf, &expr.at),
            None => {
                let error = match eval(expr, self.names) {
                    Ok(value) => wrong_kind(&expr.at, "an integer", &value),
                    Err(error) => error,
                };
                Err(error)
            }
        }
    }

    fn capture(&mut self, leaf: Leaf, at: &Range<usize>) -> Result<Term, NotationError> {
        let captured = match leaf {
            Leaf::Known(value) => return Ok(value.into()),
            Leaf::Named(name) => self.scope.capture(&name),
            Leaf::Computed(text) => match self.captured.iter().find(|(_, known)| known == at) {
                Some((atom, _)) => Ok(*atom),
                None => self.scope.capture_anew(&text),
            },
        };
        let atom = captured.map_err(|kind| NotationError::new(at, kind.to_string()))?;
        if self.captured.iter().all(|(known, _)| *known != atom) {
            self.captured.push((atom, at.clone()));
        }
        Ok(Term::atom(atom))
    }

    fn at(&self, error: SymbolicError, operands: &[&Expr]) -> NotationError {
        let SymbolicError { kind, place } = error;
        if let SymbolicErrorKind::Layout(error) = kind {
            return at_place(error.relocate(|_| place), operands);
        }
        let at = match operands.get(place.operand).or(operands.last()) {
            Some(operand) => locate(operand, &place),
            None => 0..0,
        };
        match kind {
            SymbolicErrorKind::Undecided {
                condition,
                opposite,
            } => {
                let error = NotationError::new(
                    &at,
                    format!("the modes of the result depend on whether `{condition}`"),
                );
                let facts = [condition, opposite].map(|fact| format!("where {fact};"));
                match facts.iter().all(|fact| is_fact(fact)) {
                    true => error.help(format!(
                        "state it as a fact in front: `{}` or `{}`",
                        facts[0], facts[1]
                    )),
                    false => error.help("facts are about names: give one to what it depends on"),
                }
            }
            kind => NotationError::new(&at, kind.to_string()),
        }
    }
}

/// Whether a condition can be written as a fact: one about quotients cannot.
fn is_fact(text: &str) -> bool {
    let expression = format!("{text} 1");
    lex(&expression).is_ok_and(|tokens| parse_where(&tokens, 0..0).is_ok())
}
