//! Assignments to elements of arrays that are selected at run time: each element has a predicate that says whether it is selected.

use super::Interpreter;
use crate::kernel::builtins::array::{MOST_CHOSEN, checked_index};
use crate::kernel::builtins::call::Argument;
use crate::kernel::emit::builder::when;
use crate::kernel::emit::operation::Cmp;
use crate::kernel::syntax::bare::bare;
use crate::kernel::value::{Num, Scalar, Value};
use cute_ptx::ast::Type;
use syn::spanned::Spanned;
use syn::{Error, Expr, ExprIndex, Result};

/// A place that an expression may name, and the predicate of this case; `None` if it is the only place.
#[derive(Clone)]
pub(super) struct Choice {
    chosen: Option<Scalar>,
    pub(super) place: Value,
}

impl Interpreter<'_> {
    /// The places that an expression may name: several if it has a run-time index.
    pub(super) fn choices(&mut self, expr: &Expr) -> Result<Vec<Choice>> {
        match bare(expr) {
            Expr::Index(expr) => {
                let bases = self.choices(&expr.expr)?;
                self.choices_of_index(bases, expr)
            }
            Expr::Field(expr) => {
                let mut choices = self.choices(&expr.base)?;
                for choice in &mut choices {
                    choice.place = self.field(choice.place.clone(), &expr.member)?;
                }
                Ok(choices)
            }
            expr => Ok(vec![Choice {
                chosen: None,
                place: self.eval(expr)?,
            }]),
        }
    }

    /// The elements of each of these that an index may name.
    pub(super) fn choices_of_index(
        &mut self,
        bases: Vec<Choice>,
        expr: &ExprIndex,
    ) -> Result<Vec<Choice>> {
        let index = self.eval(&expr.index)?;
        let index = Argument {
            value: self.keep(index),
            span: expr.index.span(),
        };
        let mut at = None;
        let mut choices = Vec::new();
        for base in bases {
            let elements = match (&index.value, dereferenced(&base.place)) {
                (Value::Scalar(_), Value::Array(elements)) => elements,
                _ => {
                    let array = Argument {
                        value: dereferenced(&base.place).clone(),
                        span: expr.expr.span(),
                    };
                    let args = vec![array, index.clone()];
                    let span = expr.bracket_token.span.open();
                    choices.push(Choice {
                        place: self.call_builtin("index", span, Vec::new(), args)?,
                        ..base
                    });
                    continue;
                }
            };
            self.b.set_place(index.span);
            if choices.len() + elements.len() > MOST_CHOSEN {
                let message = format!(
                    "an assignment chooses among at most {MOST_CHOSEN} elements when the kernel runs, since each takes an \
                     instruction: a tensor in shared memory, `smem`, has addresses"
                );
                return Err(self.b.error(message));
            }
            let at = match &at {
                Some(at) => Scalar::clone(at),
                None => at
                    .insert(checked_index(&mut self.b, elements.len(), &index.value)?)
                    .clone(),
            };
            for (i, element) in elements.iter().enumerate() {
                let (at, i) = (at.clone().into(), Num::from(i));
                let is_it = self.b.compare_and(Cmp::Eq, &at, &i, base.chosen.as_ref())?;
                choices.push(Choice {
                    chosen: Some(is_it),
                    place: element.clone(),
                });
            }
        }
        Ok(choices)
    }

    /// The only place named by an expression.
    pub(super) fn only_choice(&mut self, expr: &Expr) -> Result<Value> {
        let choices = self.choices(expr)?;
        match <[Choice; 1]>::try_from(choices) {
            Ok([Choice { place, .. }]) => Ok(place),
            Err(_) => Err(Error::new(
                expr.span(),
                "this element is chosen when the kernel runs, so no `&mut` names it: change a copy, `let mut x = a[i];`, and \
                 assign it, `a[i] = x;`",
            )),
        }
    }

    /// The value of the selected place.
    pub(super) fn read_choice(&mut self, choices: &[Choice]) -> Result<Value> {
        let mut value: Option<Scalar> = None;
        for Choice { chosen, place } in choices {
            let Value::Scalar(place) = place else {
                return Err(self
                    .b
                    .error(format!("no operator changes {}", place.kind())));
            };
            value = Some(match (value, chosen) {
                (Some(before), Some(chosen)) if place.ty != Type::Pred => {
                    let (yes, no) = (place.operand(), before.operand());
                    let value = self.b.choose(place.ty, yes, no, chosen);
                    Scalar {
                        class: place.class,
                        ..value
                    }
                }
                (Some(_), _) => {
                    let message = "no operator changes a truth value that is chosen when the kernel runs: assign it, `a[i] = a[i] & x`";
                    return Err(self.b.error(message));
                }
                (None, _) => self.b.snapshot(place),
            });
        }
        let value = value.ok_or_else(|| self.b.error("an array without elements has none"))?;
        Ok(value.into())
    }

    /// Writes the selected place.
    pub(super) fn write_choice(&mut self, choices: &[Choice], value: &Value) -> Result<()> {
        let Some(first) = choices.first() else {
            return Err(self.b.error("an array without elements has none"));
        };
        if let Some(parts) = first.place.parts()
            && first.place.pairs(value).is_some()
        {
            for part in 0..parts.len() {
                let of = |value: &Value| value.parts().and_then(|parts| parts.get(part).cloned());
                let column = choices.iter().filter_map(|choice| {
                    let place = of(&choice.place)?;
                    Some(Choice {
                        place,
                        ..choice.clone()
                    })
                });
                let column: Vec<Choice> = column.collect();
                if let Some(value) = of(value) {
                    self.write_choice(&column, &value)?;
                }
            }
            return Ok(());
        }
        let Value::Scalar(first) = &first.place else {
            let (to, from) = (first.place.kind(), value.kind());
            return Err(self.b.error(format!("cannot assign {from} to {to}")));
        };
        let copy = self.b.register(first.ty);
        let copy = Scalar {
            class: first.class,
            ..copy
        };
        self.store(&copy, value, usize::MAX)?;
        for Choice { chosen, place } in choices {
            if let Value::Scalar(place) = place {
                let guard = chosen.as_ref().map(when);
                self.b.guarded(guard, |b| b.assign(place, copy.operand()));
            }
        }
        Ok(())
    }
}

/// The value behind a `&mut`; any other value unchanged.
pub(super) fn dereferenced(value: &Value) -> &Value {
    match value {
        Value::Reference(value) => value,
        value => value,
    }
}
