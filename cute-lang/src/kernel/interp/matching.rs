//! `match`, and the `let` of `if let` and `while let`.

use crate::kernel::interp::Interpreter;
use crate::kernel::value::{Truth, Value};
use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Arm, Error, Expr, ExprLit, ExprMatch, Lit, Pat, Result};

/// How deep the arms of a `match` on a run-time value nest, expressions around them included. It leaves an arm some depth of its own.
const MAX_ARMS: usize = 192;

impl Interpreter<'_> {
    pub(super) fn match_expr(&mut self, expr: &ExprMatch) -> Result<Value> {
        let value = self.eval(&expr.expr)?;
        let value = self.keep(value);
        let complete = covers_all(&expr.arms);
        self.arms(&value, &expr.arms, complete, expr.match_token.span)
    }

    /// The value of the first arm that matches. If the arms are complete, a value that reaches the last matches it.
    fn arms(&mut self, value: &Value, arms: &[Arm], complete: bool, span: Span) -> Result<Value> {
        for (index, arm) in arms.iter().enumerate() {
            let (before, rest) = (&arms[..index], &arms[index + 1..]);
            let (pat, guard) = match &arm.pat {
                Pat::Guard(guarded) => (&*guarded.pat, Some(&*guarded.guard)),
                pat => (pat, None),
            };
            let truth = match complete && rest.is_empty() {
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
                    // The arms that follow are in the branch of those values that this one does not match.
                    if self.depth >= MAX_ARMS {
                        let message = format!(
                            "the arms of a `match` on a run-time value are tried in turn, and here {MAX_ARMS} arms and expressions nest: look the value up in a table, such as a tensor in memory"
                        );
                        return Err(self.end(span, message));
                    }
                    self.depth += 1;
                    let rest = |this: &mut Self| this.arms(value, rest, complete, span);
                    let fork = self.b.fork("match", span);
                    let chosen = self.choose(&predicate, span, body, rest);
                    self.b.join(&fork, &predicate);
                    self.depth -= 1;
                    return Ok(self.beside_arms(chosen?, before));
                }
            }
        }
        let message = match value.is_known() {
            true => format!("no arm matches {}", value.kind()),
            false => {
                "the last arm of a `match` on a run-time value matches all values: `_ => …`".into()
            }
        };
        Err(Error::new(span, message))
    }

    /// The value of an arm, beside which others are left out.
    fn beside_arms(&mut self, value: Value, left_out: &[Arm]) -> Value {
        let bodies = left_out.iter().map(|arm| &*arm.body);
        bodies.fold(value, |value, body| self.beside(value, body))
    }

    /// Whether a pattern and its guard match, where the pattern alone does.
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

/// Whether the arms match both truth values, or `None` and every `Some`.
fn covers_all(arms: &[Arm]) -> bool {
    let has = |is: &dyn Fn(&Pat) -> bool| arms.iter().any(|arm| is(&arm.pat));
    let truth = |wanted: bool| {
        move |pat: &Pat| match pat {
            Pat::Lit(ExprLit {
                lit: Lit::Bool(lit),
                ..
            }) => lit.value == wanted,
            _ => false,
        }
    };
    let none = |pat: &Pat| matches!(pat, Pat::Ident(name) if name.ident == "None");
    let some = |pat: &Pat| match pat {
        Pat::TupleStruct(pat) => pat.path.is_ident("Some") && pat.elems.iter().all(matches_all),
        _ => false,
    };
    (has(&truth(true)) && has(&truth(false))) || (has(&none) && has(&some))
}

/// Whether a pattern matches every value of its type: it consists of names, `_` and tuples.
fn matches_all(pat: &Pat) -> bool {
    match pat {
        Pat::Wild(_) => true,
        Pat::Ident(name) => name
            .ident
            .to_string()
            .starts_with(|c: char| !c.is_uppercase()),
        Pat::Paren(pat) => matches_all(&pat.pat),
        Pat::Tuple(pat) => pat.elems.iter().all(matches_all),
        _ => false,
    }
}
