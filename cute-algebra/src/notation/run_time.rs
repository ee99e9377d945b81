//! From expressions with run-time integers to values.

use super::error::NotationError;
use super::eval::{Captured, Evaluator, Leaves, at_place, eval, eval_layout};
use super::expr::{Expr, ExprKind, Fact, Leaf, Names, Relation};
use super::parse::parse_where;
use super::tiling::{division, expected_division};
use super::token::lex;
use crate::composed::ComposedLayout;
use crate::domain::{Domain, overflow};
use crate::operations::Operations;
use crate::overhang::Overhang;
use crate::symbolic::{Check, Scope, Sum, Term};
use crate::tiling::SymbolicTiling;
use crate::value::Value;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

/// A value with run-time integers, and the facts about them.
#[derive(Clone, Debug)]
pub struct Symbolic {
    /// The run-time integers, the facts about them, and the checks that remain for run time.
    pub scope: Scope,
    /// The value, whose extents and strides are terms of these integers.
    pub value: Value<Term>,
}

/// The value of `where fact, …; expression`, or of an expression alone. Names inside tuples are run-time integers.
///
/// ```
/// use cute_algebra::notation::eval_symbolic_str;
/// let symbolic = eval_symbolic_str("coalesce((m,n):(1,m))")?;
/// assert_eq!(symbolic.value.to_string(), "m*n:1");
/// # Ok::<(), cute_algebra::notation::NotationError>(())
/// ```
pub fn eval_symbolic_str(text: &str) -> Result<Symbolic, NotationError> {
    let (facts, expr) = parse_where(&lex(text)?, text.len()..text.len())?;
    Ok(eval_symbolic(&facts, &expr, &|_| None)?.0)
}

/// The value of an expression under facts, and the token of each captured atom. A shape becomes its compact layout,
/// in which the leftmost mode varies fastest.
pub fn eval_symbolic(
    facts: &[Fact],
    expr: &Expr,
    names: Names<'_>,
) -> Result<(Symbolic, Vec<Captured>), NotationError> {
    let mut evaluator = Evaluator::under(facts, expr, names)?;
    let value = match expr.has_run_time_leaf(names) {
        true => evaluator.layout_value(expr),
        false => eval_layout(expr, names).map(Scope::lift),
    };
    finished(evaluator, value, facts, expr)
}

/// The value of an expression under facts, as it is: an integer or a tuple stays one.
///
/// ```
/// use cute_algebra::notation::{Definition, eval_symbolic_value};
/// let half: Definition = "where m % 4 == 0; (m/2,2+3)".parse()?;
/// let value = eval_symbolic_value(&half.facts, &half.expr, &|_| None)?.value;
/// assert_eq!(value.to_string(), "(m/2,5)");
/// # Ok::<(), cute_algebra::notation::NotationError>(())
/// ```
pub fn eval_symbolic_value(
    facts: &[Fact],
    expr: &Expr,
    names: Names<'_>,
) -> Result<Symbolic, NotationError> {
    let mut evaluator = Evaluator::under(facts, expr, names)?;
    let has_integers = expr.has_run_time_leaf(names)
        || matches!(expr.kind, ExprKind::Arithmetic(..) | ExprKind::Integer(_));
    let value = match has_integers {
        true => evaluator.value(expr),
        false => eval(expr, names).map(Scope::lift),
    };
    Ok(finished(evaluator, value, facts, expr)?.0)
}

/// The value with its scope; an error if it does not fit 64 bits or took too many steps.
fn finished(
    evaluator: Evaluator<'_, Scope>,
    value: Result<Value<Term>, NotationError>,
    facts: &[Fact],
    expr: &Expr,
) -> Result<(Symbolic, Vec<Captured>), NotationError> {
    let Evaluator {
        d: scope, captured, ..
    } = evaluator;
    let value = value.map_err(|error| at_fact(error, facts, &scope))?;
    let layout = match &value {
        Value::Layout(layout) => Some(layout),
        Value::Composed(composed) => Some(composed.layout()),
        _ => None,
    };
    if let Some(layout) = layout {
        layout
            .check_overflow(&scope)
            .map_err(|error| NotationError::new(&expr.at, error.to_string()))?;
    }
    within_steps(&scope, expr)?;
    Ok((Symbolic { scope, value }, captured))
}

/// The tiling that a division `layout / tiler` describes, the scope of its run-time integers, and the token of each
/// captured atom.
pub fn eval_symbolic_tiling(
    facts: &[Fact],
    expr: &Expr,
    names: Names<'_>,
) -> Result<(Scope, SymbolicTiling, Vec<Captured>), NotationError> {
    let (args, ragged) = division(expr)?;
    let mut evaluator = Evaluator::under(facts, expr, names)?;
    let [whole, tiler] = args else {
        // Evaluating a `zipped_divide` with a wrong number of operands gives the error that names the right number.
        evaluator.value(expr)?;
        return Err(expected_division(&expr.at));
    };
    let overhang = match ragged {
        true => Overhang::Ragged,
        false => Overhang::Strict,
    };
    let tiling = evaluator.tiling(whole, tiler, overhang);
    let Evaluator {
        d: scope, captured, ..
    } = evaluator;
    let tiling = tiling.map_err(|error| at_fact(error, facts, &scope))?;
    tiling
        .layout
        .layout()
        .check_overflow(&scope)
        .map_err(|error| NotationError::new(&expr.at, error.to_string()))?;
    within_steps(&scope, expr)?;
    Ok((scope, tiling, captured))
}

/// Moves the error to the fact that makes an extent less than 1, if there is one.
fn at_fact(error: NotationError, facts: &[Fact], scope: &Scope) -> NotationError {
    match scope.against_extents() {
        Some(fact) => NotationError {
            at: facts[fact].at.clone(),
            ..error
        },
        None => error,
    }
}

/// An error where the limit on steps to decide conditions is exceeded.
fn within_steps(scope: &Scope, expr: &Expr) -> Result<(), NotationError> {
    let steps = scope.check_steps();
    steps.map_err(|error| NotationError::new(&expr.at, error.to_string()))
}

impl Leaves for Scope {
    fn leaf(
        &mut self,
        leaf: Leaf,
        at: &Range<usize>,
        captured: &mut Vec<Captured>,
    ) -> Result<Term, NotationError> {
        let atom = match leaf {
            Leaf::Known(value) => return Ok(value.into()),
            Leaf::Named(name) => self.capture(&name),
            Leaf::Computed(text) => match captured.iter().find(|(_, known)| known == at) {
                Some((atom, _)) => Ok(atom.clone()),
                None => self.capture_anew(&text),
            },
        };
        let atom = atom.map_err(|error| NotationError::new(at, error.to_string()))?;
        if captured.iter().all(|(known, _)| *known != atom) {
            captured.push((atom.clone(), at.clone()));
        }
        Ok(Term::atom(atom))
    }

    fn known_quotient(&self, dividend: &Sum, divisor: &Sum) -> Option<Term> {
        self.quotient_atom(dividend, &divisor.as_term()?)
            .map(Term::atom)
    }
}

impl<'a> Evaluator<'a, Scope> {
    /// An evaluator that knows the facts. `expr` gives the order of the run-time integers.
    pub(super) fn under(
        facts: &[Fact],
        expr: &Expr,
        names: Names<'a>,
    ) -> Result<Self, NotationError> {
        let mut evaluator = Self {
            names,
            d: Scope::default(),
            captured: Vec::new(),
            trace: None,
        };
        // The run-time integers are captured in the order of the expression, which the facts do not change.
        for (leaf, at) in expr.run_time_leaves(names) {
            evaluator.d.leaf(leaf, &at, &mut evaluator.captured)?;
        }
        facts.iter().try_for_each(|fact| evaluator.assume(fact))?;
        Ok(evaluator)
    }

    fn tiling(
        &mut self,
        whole: &Expr,
        tiler: &Expr,
        overhang: Overhang,
    ) -> Result<SymbolicTiling, NotationError> {
        let a = match self.layout_value(whole)? {
            Value::Layout(layout) => ComposedLayout::plain(layout).ok(),
            Value::Composed(composed) => Some(composed),
            _ => None,
        };
        let a = a.ok_or_else(|| NotationError::new(&whole.at, "expected a layout of integers"))?;
        let b = self.tiler(tiler)?;
        SymbolicTiling::new(&mut self.d, &a, &b, overhang)
            .map_err(|error| at_place(error, &[whole, tiler]))
    }

    fn assume(&mut self, fact: &Fact) -> Result<(), NotationError> {
        let (left, right) = (self.sum(&fact.left)?, self.sum(&fact.right)?);
        let at_most = |left: &Sum, right: &Sum, strict: bool| {
            let (mut left, mut right) = (left.clone(), right.clone());
            if strict && right.as_constant().is_some() {
                right = right.add(&Term::ONE, -1)?;
            } else if strict {
                left = left.add(&Term::ONE, 1)?;
            }
            Some(Check::AtMost { left, right })
        };
        let mut integer = |sum: &Sum| {
            let integer = self.d.integer(sum);
            integer.map_err(|error| NotationError::new(&fact.at, error.to_string()))
        };
        let checks = match fact.relation {
            Relation::Multiple => vec![Some(Check::Divides {
                divisor: integer(&right)?,
                dividend: integer(&left)?,
            })],
            Relation::AtMost => vec![at_most(&left, &right, false)],
            Relation::Less => vec![at_most(&left, &right, true)],
            Relation::AtLeast => vec![at_most(&right, &left, false)],
            Relation::Greater => vec![at_most(&right, &left, true)],
            Relation::Equal => vec![at_most(&left, &right, false), at_most(&right, &left, false)],
        };
        let checks: Option<Vec<_>> = checks.into_iter().collect();
        let assumed = checks.ok_or_else(overflow);
        let assumed = assumed.and_then(|checks| self.d.assume(&checks));
        assumed.map_err(|error| NotationError::new(&fact.at, error.to_string()))
    }
}
