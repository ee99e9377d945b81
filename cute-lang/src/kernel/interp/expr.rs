//! Expressions that are neither operators nor calls.

use super::advice::advised;
use super::call::dereferenced_array;
use super::{Interpreter, MAX_STEPS, form, suffix};
use crate::kernel::builtins::call::Argument;
use crate::kernel::value::types::{is_float, is_integer, register_type, rounded};
use crate::kernel::value::{Num, NumberType, Value};
use cute_ptx::ast::Type;
use syn::spanned::Spanned;
use syn::{
    Error, Expr, ExprBlock, ExprField, ExprIndex, ExprRange, ExprReference, ExprRepeat, Lit,
    LitFloat, LitInt, RangeLimits, Result,
};

/// The most values in a tuple, nested tuples included.
const MAX_TUPLE: usize = 4096;

/// The most values of an array whose elements are written one by one, each of which takes a step.
const MAX_WRITTEN: usize = 65_536;

/// Deepest nesting of tuples.
const MAX_TUPLE_DEPTH: usize = 64;

/// Deepest nesting of expressions, including those of called functions. It bounds the recursion of the interpreter.
const MAX_DEPTH: usize = 256;

impl Interpreter<'_> {
    /// The value of an expression. Its run-time part is emitted.
    pub fn eval(&mut self, expr: &Expr) -> Result<Value> {
        // The span is made only for an error, because it takes long.
        if self.steps >= MAX_STEPS {
            self.work(1, expr.span())?;
        }
        self.steps += 1;
        if self.depth == MAX_DEPTH {
            let message = format!("expressions and calls nest more than {MAX_DEPTH} deep");
            return Err(self.end(expr.span(), message));
        }
        if self.dead {
            self.leave_out(expr);
            return Ok(Value::Unit);
        }
        self.depth += 1;
        let value = form::expression(expr, &mut *self);
        self.depth -= 1;
        if let Some(error) = self.b.lacks(None) {
            return Err(error);
        }
        match value {
            // A part of the expression has left the enclosing code, so there is no value and no error.
            Err(_) if self.dead && !self.follows && !self.hopeless => Ok(Value::Unit),
            value => value,
        }
    }

    pub(super) fn reference(&mut self, expr: &ExprReference) -> Result<Value> {
        match expr.mutability {
            Some(_) => Ok(Value::Reference(Box::new(self.variable_of(&expr.expr)?))),
            None => self.eval(&expr.expr),
        }
    }

    pub(super) fn field_of(&mut self, expr: &ExprField) -> Result<Value> {
        let base = self.eval(&expr.base)?;
        self.field(base, &expr.member)
    }

    pub(super) fn index(&mut self, expr: &ExprIndex) -> Result<Value> {
        let base = Argument {
            span: expr.expr.span(),
            value: dereferenced_array(self.eval(&expr.expr)?),
        };
        let index = Argument {
            span: expr.index.span(),
            value: self.eval(&expr.index)?,
        };
        let span = expr.bracket_token.span.open();
        self.call_builtin("index", span, Vec::new(), vec![base, index])
    }

    pub(super) fn block_of(&mut self, expr: &ExprBlock) -> Result<Value> {
        match &expr.label {
            Some(label) => self.labelled_block(label, &expr.block),
            None => self.block(&expr.block),
        }
    }

    pub(super) fn literal(&mut self, lit: &Lit) -> Result<Value> {
        match lit {
            Lit::Int(lit) => self.integer(lit.base10_parse()?, lit),
            Lit::Float(lit) => self.float(lit),
            Lit::Bool(lit) => Ok(Value::Bool(lit.value)),
            Lit::Str(lit) => Ok(Value::Str(lit.value())),
            lit => Err(Error::new_spanned(
                lit,
                "expected a number, a truth value or a string",
            )),
        }
    }

    /// The value of an integer literal with its sign.
    pub(super) fn integer(&mut self, value: i128, lit: &LitInt) -> Result<Value> {
        suffix::of_integer(lit)?;
        let ty = match register_type(lit.suffix()) {
            Some(ty) if is_integer(ty) => NumberType::Is(ty),
            // `1f32` is a floating-point number.
            Some(ty) if is_float(ty) => {
                return Ok(Value::Float(rounded(value as f64, ty), NumberType::Is(ty)));
            }
            _ if lit.suffix().is_empty() => {
                self.b
                    .inference
                    .literal(true, lit.span(), lit.base10_digits())
            }
            _ => NumberType::Any,
        };
        if let NumberType::Is(ty) = ty {
            self.b.set_place(lit.span());
            self.b.check_fits(value, ty)?;
        }
        self.b.inference.holds(ty, value);
        Ok(Value::Int(value, ty))
    }

    /// The value of a floating-point literal, rounded once to its type.
    fn float(&mut self, lit: &LitFloat) -> Result<Value> {
        suffix::of_float(lit)?;
        let ty = match register_type(lit.suffix()) {
            Some(ty) => NumberType::Is(ty),
            None => self
                .b
                .inference
                .literal(false, lit.span(), lit.base10_digits()),
        };
        let (single, value): (f32, f64) = (lit.base10_parse()?, lit.base10_parse()?);
        Ok(match ty {
            NumberType::Is(Type::F32) => Value::Float(single.into(), ty),
            NumberType::Is(known) => Value::Float(rounded(value, known), ty),
            _ => {
                self.b
                    .inference
                    .computed(ty, |ty| ty != Type::F32 || value as f32 == single);
                Value::Float(value, ty)
            }
        })
    }

    pub(super) fn tuple<'e>(
        &mut self,
        elements: impl IntoIterator<Item = &'e Expr>,
    ) -> Result<Value> {
        let mut values = Vec::new();
        for element in elements {
            let value = self.eval(element)?;
            // A tuple holds the present value of a variable.
            values.push(self.keep(value));
        }
        if values.is_empty() {
            return Ok(Value::Unit);
        }
        self.limited(Value::Tuple(values), MAX_TUPLE)
    }

    pub(super) fn array<'e>(
        &mut self,
        elements: impl IntoIterator<Item = &'e Expr>,
    ) -> Result<Value> {
        let mut values = Vec::new();
        for element in elements {
            let value = self.eval(element)?;
            let value = self.keep(value);
            if let Some(first) = values.first() {
                self.one_type(first, &value)?;
            }
            values.push(value);
        }
        self.limited(Value::Array(values), MAX_WRITTEN)
    }

    /// `[value; count]`.
    pub(super) fn repeat(&mut self, expr: &ExprRepeat) -> Result<Value> {
        let value = self.eval(&expr.expr)?;
        let value = self.keep(value);
        let count = match self.eval(&expr.len)? {
            Value::Int(count, _) => usize::try_from(count).ok(),
            _ => None,
        };
        match count.filter(|count| *count <= MAX_TUPLE) {
            Some(count) => {
                let all = self.limited(Value::Array(vec![value.clone(); count]), MAX_TUPLE)?;
                self.distinct(all)
            }
            None => Err(Error::new(
                expr.len.span(),
                format!(
                    "the length of an array is an integer known at expansion, at most {MAX_TUPLE}"
                ),
            )),
        }
    }

    /// An array of equal values in which each has fragments of its own, as in Rust: a change of one leaves the others.
    fn distinct(&mut self, mut all: Value) -> Result<Value> {
        let Value::Array(values) = &mut all else {
            return Ok(all);
        };
        for value in values.iter_mut().skip(1) {
            self.copy_fragments(value, |_| true)?;
        }
        Ok(all)
    }

    /// The value, or an error if it is too large.
    fn limited(&mut self, value: Value, most: usize) -> Result<Value> {
        let (size, depth) = value.extent();
        if size > most || depth > MAX_TUPLE_DEPTH {
            let what = match value {
                Value::Array(_) => "an array",
                _ => "a tuple",
            };
            return Err(self.b.error(format!(
                "{what} has at most {most} values, nested {MAX_TUPLE_DEPTH} deep: this one has {size}, nested {depth} deep"
            )));
        }
        Ok(value)
    }

    pub(super) fn range(&mut self, expr: &ExprRange) -> Result<Value> {
        let (Some(start), Some(end)) = (&expr.start, &expr.end) else {
            return Err(Error::new(
                expr.limits.span(),
                "a range needs both its bounds: `a..b`",
            ));
        };
        let ((first, start), (last, end)) = (self.bound(start)?, self.bound(end)?);
        self.b.set_place(expr.limits.span());
        let ty = self.b.common_type(&first, &last)?;
        let end = match (&expr.limits, end) {
            (RangeLimits::HalfOpen(_), end) => end,
            (RangeLimits::Closed(_), Num::Const(end)) => Num::Const(end.saturating_add(1)),
            (RangeLimits::Closed(dots), Num::Reg(_)) => {
                return Err(Error::new(
                    dots.span(),
                    "`..=` needs an end known at expansion: write `a..b + 1`",
                ));
            }
        };
        Ok(Value::Range(start, end, ty))
    }

    /// A bound of a range, as a value and as a number.
    fn bound(&mut self, expr: &Expr) -> Result<(Value, Num)> {
        let value = self.eval(expr)?;
        match value.as_num() {
            Some(num) => Ok((value, num)),
            None => {
                let message = format!("expected an integer, found {}", value.kind());
                let error = Error::new_spanned(expr, message);
                Err(advised(error, (expr, &value)))
            }
        }
    }
}
