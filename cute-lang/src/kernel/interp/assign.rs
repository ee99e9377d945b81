//! Assignment.

use crate::kernel::builtins::call::Argument;
use crate::kernel::emit::operation::Op;
use crate::kernel::interp::Interpreter;
use crate::kernel::interp::advice::advised;
use crate::kernel::interp::chosen::{Choice, dereferenced};
use crate::kernel::syntax::bare::bare;
use crate::kernel::syntax::text;
use crate::kernel::value::{Callable, Value};
use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{BinOp, Error, Expr, ExprIndex, Result, UnOp};

/// The left side of an assignment.
enum Assignee {
    /// `_ = …`.
    Nothing,
    /// The registers of a variable.
    Variable(Value),
    /// One of several elements of an array, selected at run time.
    Choice(Vec<Choice>),
    /// An element: the tensor and the coordinate.
    Element(Box<[Argument; 2]>, Span),
}

impl Interpreter<'_> {
    /// `left = right`.
    pub(super) fn assign(&mut self, left: &Expr, right: &Expr) -> Result<Value> {
        let place = self.assignee(left)?;
        let start = self.length()?;
        let value = self.eval(right)?;
        self.b.set_place(left.span());
        self.write(place, value, right, start)
    }

    /// `left op= right`.
    pub(super) fn assign_op(
        &mut self,
        left: &Expr,
        op: Op,
        token: &BinOp,
        right: &Expr,
    ) -> Result<Value> {
        let place = self.assignee(left)?;
        let value = self.eval(right)?;
        let start = self.length()?;
        let old = match &place {
            Assignee::Variable(value) => value.clone(),
            Assignee::Choice(choices) => self.read_choice(choices)?,
            Assignee::Element(element, span) => {
                let args = element.to_vec();
                self.call_builtin("index", *span, Vec::new(), args)?
            }
            Assignee::Nothing => {
                return Err(Error::new(
                    left.span(),
                    "`_` has no value to which an operator applies",
                ));
            }
        };
        self.b.set_place(token.span());
        let result = self.arithmetic(op, &old, &value);
        let result = result.map_err(|error| self.of_operands(error, (left, &old), (right, &value)));
        self.write(place, result?, right, start)
    }

    /// Writes the value of `right` to a place.
    fn write(
        &mut self,
        place: Assignee,
        value: Value,
        right: &Expr,
        start: usize,
    ) -> Result<Value> {
        match place {
            Assignee::Nothing => {}
            Assignee::Variable(variable) => {
                let written = self.write_variable(&variable, &value, start);
                written.map_err(|error| {
                    let error = self.of_kinds(error, &variable, &value);
                    match variable {
                        Value::Scalar(_) => advised(error, (right, &value)),
                        _ => error,
                    }
                })?;
            }
            Assignee::Choice(choices) => self.write_choice(&choices, &value)?,
            Assignee::Element(element, at) => {
                let [base, coordinate] = *element;
                let written = Argument {
                    span: right.span(),
                    value: value.clone(),
                };
                let args = vec![base, coordinate, written];
                let result = self.call_builtin("index_assign", at, Vec::new(), args);
                result.map_err(|error| advised(error, (right, &value)))?;
            }
        }
        Ok(Value::Unit)
    }

    fn write_variable(&mut self, variable: &Value, value: &Value, start: usize) -> Result<()> {
        match (variable, value) {
            (Value::Scalar(to), value) => self.store(to, value, start),
            (to, from) if to.pairs(from).is_some() => {
                // `(a, b) = (b, a)` reads all before it writes any.
                let from = self.own(from.clone())?;
                let pairs = to.pairs(&from);
                let lost = || self.b.error("a value has lost its parts (a defect)");
                let mut pairs = pairs.ok_or_else(lost)?;
                pairs.try_for_each(|(to, from)| self.write_variable(to, from, usize::MAX))
            }
            (Value::Fragment(to), Value::Fragment(from)) => {
                if !to.shape.leaves().eq(from.shape.leaves()) {
                    let (to, from) = (&to.shape, &from.shape);
                    let message = format!("cannot assign a fragment of {from} to one of {to}");
                    return Err(self.b.error(message));
                }
                to.assign(&mut self.b, from)
            }
            (to, from) if to == from && is_variable(to) => Ok(()),
            (to, value) => {
                Err(self
                    .b
                    .error(format!("cannot assign {} to {}", value.kind(), to.kind())))
            }
        }
    }

    fn assignee(&mut self, expr: &Expr) -> Result<Assignee> {
        let expr = bare(expr);
        match expr {
            Expr::Infer(_) => Ok(Assignee::Nothing),
            Expr::Index(
                element @ ExprIndex {
                    expr: base,
                    index,
                    bracket_token,
                    ..
                },
            ) => {
                let bases = self.choices(base)?;
                let [Choice { place, .. }] = &bases[..] else {
                    let choices = self.choices_of_index(bases, element)?;
                    return self.variable_among(choices, expr);
                };
                if matches!(dereferenced(place), Value::Array(_)) {
                    let choices = self.choices_of_index(bases, element)?;
                    return self.variable_among(choices, expr);
                }
                let base = Argument {
                    span: base.span(),
                    value: place.clone(),
                };
                let value = self.eval(index)?;
                let coordinate = Argument {
                    span: index.span(),
                    value: self.keep(value),
                };
                let span = bracket_token.span.open();
                Ok(Assignee::Element(Box::new([base, coordinate]), span))
            }
            Expr::Field(_) => {
                let choices = self.choices(expr)?;
                self.variable_among(choices, expr)
            }
            expr => Ok(Assignee::Variable(self.variable_of(expr)?)),
        }
    }

    /// The variable named by an expression, or several candidates selected at run time.
    fn variable_among(&mut self, choices: Vec<Choice>, expr: &Expr) -> Result<Assignee> {
        for choice in &choices {
            self.require_variable(&choice.place, expr)?;
        }
        Ok(match <[Choice; 1]>::try_from(choices) {
            Ok([only]) => Assignee::Variable(only.place),
            Err(choices) => Assignee::Choice(choices),
        })
    }

    /// The variable named by an expression: `x`, `*reference`, `x.0`, `(x, y)`.
    pub(super) fn variable_of(&mut self, expr: &Expr) -> Result<Value> {
        let expr = bare(expr);
        let value = match expr {
            Expr::Tuple(tuple) => {
                return Ok(Value::Tuple(
                    tuple
                        .elems
                        .iter()
                        .map(|e| self.variable_of(e))
                        .collect::<Result<_>>()?,
                ));
            }
            Expr::Path(_) => self.eval(expr)?,
            Expr::Field(_) | Expr::Index(_) => self.only_choice(expr)?,
            Expr::Unary(unary) if matches!(unary.op, UnOp::Deref(_)) => {
                match self.eval(&unary.expr)? {
                    Value::Reference(value) => *value,
                    other => {
                        return Err(Error::new(
                            expr.span(),
                            format!("cannot apply `*` to {}", other.kind()),
                        ));
                    }
                }
            }
            _ => return Err(Error::new(expr.span(), "cannot assign to this expression")),
        };
        self.require_variable(&value, expr)?;
        Ok(value)
    }

    /// Refuses a value that is not a `let mut` variable.
    pub(super) fn require_variable(&self, value: &Value, expr: &Expr) -> Result<()> {
        if !is_variable(value) {
            let name = text::shorten(expr.to_token_stream());
            let message = match &value {
                Value::Reference(_) => format!("`{name}` is a `&mut`: assign to `*{name}`"),
                Value::Fragment(_) => format!(
                    "cannot assign to the fragment `{name}`, which is not declared by `let mut`; `copy(from, {name})` writes to its registers, whatever other names they have"
                ),
                _ => format!("cannot assign to `{name}`, which is not declared by `let mut`"),
            };
            return Err(Error::new(expr.span(), message));
        }
        Ok(())
    }

    /// Whether the evaluation of an expression may change a variable. Only an expression with a block, a `&mut`, a
    /// function of a struct or a closure may.
    pub(super) fn may_assign(&self, expr: &Expr) -> bool {
        match expr {
            // Most operands are one of these and need no search.
            Expr::Lit(_) | Expr::Path(_) | Expr::Infer(_) => false,
            expr => self.may_change(expr.to_token_stream()),
        }
    }

    fn may_change(&self, tokens: TokenStream) -> bool {
        let mut is_method = false;
        tokens.into_iter().any(|token| {
            let after_dot = std::mem::replace(
                &mut is_method,
                matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '.'),
            );
            match token {
                TokenTree::Group(group) => {
                    group.delimiter() == Delimiter::Brace || self.may_change(group.stream())
                }
                TokenTree::Ident(ident) if ident == "mut" => true,
                TokenTree::Ident(ident) if after_dot => self.is_method(&ident),
                TokenTree::Ident(ident) if self.has_closures => matches!(
                    self.find(&ident.to_string()),
                    Some(Some(Value::Callable(Callable::Closure(_))))
                ),
                _ => false,
            }
        })
    }

    /// Whether a struct has a function of this name.
    fn is_method(&self, name: &Ident) -> bool {
        self.source.has_method(&name.to_string())
    }
}

fn is_variable(value: &Value) -> bool {
    match value {
        Value::Scalar(scalar) => scalar.variable,
        Value::Fragment(fragment) => fragment.is_variable,
        Value::Int(..) | Value::Float(..) | Value::Bool(_) => false,
        value => value
            .parts()
            .is_some_and(|parts| parts.iter().all(is_fixed_or_variable)),
    }
}

/// Whether a part of a variable can change, or is a value that no assignment changes, such as a tensor.
fn is_fixed_or_variable(part: &Value) -> bool {
    match part {
        Value::Scalar(_) | Value::Int(..) | Value::Float(..) | Value::Bool(_) => is_variable(part),
        part => part.parts().is_none() || is_variable(part),
    }
}
