//! Assignment.

use crate::kernel::builtins::call::Argument;
use crate::kernel::emit::operation::Op;
use crate::kernel::interp::Interpreter;
use crate::kernel::syntax::text;
use crate::kernel::value::Value;
use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{BinOp, Error, Expr, ExprIndex, Result, UnOp};

/// The left side of an assignment.
enum Assignee {
    /// `_ = …`.
    Nothing,
    /// The registers of a variable.
    Variable(Value),
    /// An element of a tensor.
    Element {
        base: Argument,
        coordinate: Argument,
        span: Span,
    },
}

impl Interpreter<'_> {
    /// `left = right`.
    pub(super) fn assign(&mut self, left: &Expr, right: &Expr) -> Result<Value> {
        let place = self.assignee(left)?;
        let start = self.length()?;
        let value = self.eval(right)?;
        self.b.set_place(left.span());
        self.write(place, value, right.span(), start)
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
            Assignee::Element {
                base,
                coordinate,
                span,
            } => {
                let args = vec![base.clone(), coordinate.clone()];
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
        let value = self.arithmetic(op, &old, &value)?;
        self.write(place, value, right.span(), start)
    }

    fn write(&mut self, place: Assignee, value: Value, span: Span, start: usize) -> Result<Value> {
        match place {
            Assignee::Nothing => {}
            Assignee::Variable(variable) => self.write_variable(&variable, &value, start)?,
            Assignee::Element {
                base,
                coordinate,
                span: at,
            } => {
                let args = vec![base, coordinate, Argument { value, span }];
                self.call_builtin("index_assign", at, Vec::new(), args)?;
            }
        }
        Ok(Value::Unit)
    }

    fn write_variable(&mut self, variable: &Value, value: &Value, start: usize) -> Result<()> {
        match (variable, value) {
            (Value::Scalar(to), value) => self.store(to, value, start),
            (Value::Tuple(to), Value::Tuple(from)) if to.len() == from.len() => {
                // `(a, b) = (b, a)` reads all before it writes any.
                let from: Vec<Value> = from.iter().map(|value| self.keep(value.clone())).collect();
                to.iter()
                    .zip(&from)
                    .try_for_each(|(to, from)| self.write_variable(to, from, usize::MAX))
            }
            (to, value) => {
                Err(self
                    .b
                    .error(format!("cannot assign {} to {}", value.kind(), to.kind())))
            }
        }
    }

    fn assignee(&mut self, expr: &Expr) -> Result<Assignee> {
        match expr {
            Expr::Infer(_) => Ok(Assignee::Nothing),
            Expr::Index(ExprIndex {
                expr: base,
                index,
                bracket_token,
                ..
            }) => {
                let base = Argument {
                    span: base.span(),
                    value: self.eval(base)?,
                };
                let value = self.eval(index)?;
                let coordinate = Argument {
                    span: index.span(),
                    value: self.keep(value),
                };
                Ok(Assignee::Element {
                    base,
                    coordinate,
                    span: bracket_token.span.open(),
                })
            }
            expr => Ok(Assignee::Variable(self.variable_of(expr)?)),
        }
    }

    /// The variable that an expression names: `x`, `*reference`, `x.0`, `(x, y)`.
    pub(super) fn variable_of(&mut self, expr: &Expr) -> Result<Value> {
        let value = match expr {
            Expr::Paren(expr) => return self.variable_of(&expr.expr),
            Expr::Tuple(tuple) => {
                return Ok(Value::Tuple(
                    tuple
                        .elems
                        .iter()
                        .map(|e| self.variable_of(e))
                        .collect::<Result<_>>()?,
                ));
            }
            Expr::Path(_) | Expr::Field(_) => self.eval(expr)?,
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
        if !is_variable(&value) {
            let name = text::shorten(expr.to_token_stream());
            let message = match &value {
                Value::Reference(_) => format!("`{name}` is a `&mut`: assign to `*{name}`"),
                _ => format!("cannot assign to `{name}`, which is not declared by `let mut`"),
            };
            return Err(Error::new(expr.span(), message));
        }
        Ok(value)
    }
}

fn is_variable(value: &Value) -> bool {
    match value {
        Value::Scalar(scalar) => scalar.variable,
        Value::Tuple(values) => values.iter().all(is_variable),
        _ => false,
    }
}

/// Whether the evaluation of an expression may change a variable. Only an expression with a block or a `&mut` may.
pub(super) fn may_assign(expr: &Expr) -> bool {
    match expr {
        // Most operands are one of these, which need no search.
        Expr::Lit(_) | Expr::Path(_) | Expr::Infer(_) => return false,
        _ => {}
    }
    fn search(tokens: TokenStream) -> bool {
        tokens.into_iter().any(|token| match token {
            TokenTree::Group(group) => {
                group.delimiter() == Delimiter::Brace || search(group.stream())
            }
            TokenTree::Ident(ident) => ident == "mut",
            _ => false,
        })
    }
    search(expr.to_token_stream())
}
