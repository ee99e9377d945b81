//! `match`, and the `let` of `if let` and `while let`.

use crate::kernel::interp::Interpreter;
use crate::kernel::value::{Truth, Value};
use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Arm, Error, Expr, ExprMatch, Pat, Result};

/// The deepest nesting of the arms of a `match` on a run-time value, including enclosing expressions. The rest is for the code of the arms.
const MAX_ARMS: usize = 192;

impl Interpreter<'_> {
    pub(super) fn match_expr(&mut self, expr: &ExprMatch) -> Result<Value> {
        let value = self.eval(&expr.expr)?;
        if self.dead {
            return Ok(Value::Unit);
        }
        let value = match value {
            Value::Reference(value) => self.keep(*value),
            value => self.keep(value),
        };
        let span = expr.match_token.span;
        let missing = self.uncovered(&value, &expr.arms, span)?;
        if let Some(missing) = missing.as_ref().filter(|_| self.has_variants(&value)) {
            return Err(Error::new(span, uncovered(missing)));
        }
        // If the arms are exhaustive, the last one matches all values that reach it.
        let mut arms = expr.arms.iter();
        let last = arms.rposition(|arm| !matches!(arm.pat, Pat::Guard(_)));
        let last = last.filter(|_| missing.is_none());
        self.arms(&value, &expr.arms, last, &missing, span)
    }

    /// Whether a part of a value is of an enum.
    fn has_variants(&self, value: &Value) -> bool {
        let parts = match value {
            Value::Option(option) => option.value.as_deref().map(std::slice::from_ref),
            value => value.parts(),
        };
        self.enumeration_of(value).is_some()
            || parts.is_some_and(|parts| parts.iter().any(|part| self.has_variants(part)))
    }

    /// The value of the first matching arm. A value that reaches the arm `last` matches it. `missing` is a pattern without an arm.
    fn arms(
        &mut self,
        value: &Value,
        arms: &[Arm],
        last: Option<usize>,
        missing: &Option<String>,
        span: Span,
    ) -> Result<Value> {
        for (index, arm) in arms.iter().enumerate() {
            let (before, rest) = (&arms[..index], &arms[index + 1..]);
            let (pat, guard) = match &arm.pat {
                Pat::Guard(guarded) => (&*guarded.pat, Some(&*guarded.guard)),
                pat => (pat, None),
            };
            let truth = match last == Some(index) {
                true => Truth::Known(true),
                false => self.test(pat, value)?,
            };
            let truth = match guard {
                Some(guard) if truth != Truth::Known(false) => {
                    self.guard(pat, value, guard, &truth)?
                }
                _ => truth,
            };
            let body = |this: &mut Self| this.scoped(pat, value, |this| this.eval(&arm.body));
            match truth {
                Truth::Known(true) => {
                    let value = body(self)?;
                    let value = self.beside_arms(value, before);
                    return Ok(self.beside_arms(value, rest));
                }
                Truth::Known(false) => {}
                Truth::Predicate(predicate) => {
                    let predicate = self.b.snapshot(&predicate);
                    // The next arms are in the branch of the values that this one does not match.
                    if self.depth >= MAX_ARMS {
                        let message = format!(
                            "the arms of a `match` on a run-time value are tried in turn, and here {MAX_ARMS} arms and expressions nest: look the value up in a table, such as a tensor in memory"
                        );
                        return Err(self.end(span, message));
                    }
                    self.depth += 1;
                    let last = last.and_then(|last| last.checked_sub(index + 1));
                    let rest = |this: &mut Self| this.arms(value, rest, last, missing, span);
                    let fork = self.b.sites.fork("match", span);
                    let chosen = self.choose(&predicate, span, body, rest);
                    self.b.sites.join(&fork, &predicate);
                    self.depth -= 1;
                    return Ok(self.beside_arms(chosen?, before));
                }
            }
        }
        let message = match value.is_known() {
            true => format!("no arm matches {}", value.kind()),
            false => uncovered(missing.as_deref().unwrap_or("_")),
        };
        Err(Error::new(span, message))
    }

    /// The value of an arm, with the other arms omitted.
    fn beside_arms(&mut self, value: Value, left_out: &[Arm]) -> Value {
        let bodies = left_out.iter().map(|arm| &*arm.body);
        bodies.fold(value, |value, body| self.beside(value, body))
    }

    /// Whether a pattern and its guard match, given whether the pattern alone does.
    fn guard(&mut self, pat: &Pat, value: &Value, guard: &Expr, truth: &Truth) -> Result<Truth> {
        if *truth != Truth::Known(true) {
            let message = "whether this pattern matches is known only at run time: write the condition as an `if` in the arm";
            return Err(Error::new(guard.span(), message));
        }
        let holds = self.scoped(pat, value, |this| this.condition(guard))?;
        self.truth(&holds)
    }

    /// Runs `body` in a scope with the names of a pattern.
    pub(super) fn scoped<T>(
        &mut self,
        pat: &Pat,
        value: &Value,
        body: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        self.scopes.push(Default::default());
        let result = self
            .bind(pat, value.clone(), usize::MAX)
            .and_then(|()| body(self));
        self.scopes.pop();
        result
    }
}

/// The message about values without a matching arm.
fn uncovered(missing: &str) -> String {
    match missing {
        "_" => "the last arm of a `match` on a run-time value matches all values: `_ => …`".into(),
        missing => format!("no arm of the `match` matches `{missing}`: add one, or `_ => …`"),
    }
}
