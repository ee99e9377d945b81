//! Blocks and statements.

use crate::kernel::interp::{Interpreter, form};
use crate::kernel::ir::Line;
use crate::kernel::syntax::bare::bare;
use crate::kernel::syntax::text;
use crate::kernel::value::{Truth, Value};
use proc_macro2::{Ident, Span};
use quote::ToTokens;
use std::collections::HashMap;
use syn::spanned::Spanned;
use syn::{Block, Error, Expr, Local, LocalInit, Pat, Result, Stmt};

impl Interpreter<'_> {
    /// Runs the body of a kernel.
    pub fn kernel(&mut self, name: &Ident, body: &Block) -> Result<()> {
        match self.block(body) {
            Err(error) => self.record(error),
            Ok(value) if !matches!(value, Value::Unit) && !self.dead => {
                let kind = value.kind();
                let message = format!("a kernel returns nothing, but this body gives {kind}");
                self.errors.push(Error::new(name.span(), message));
            }
            Ok(_) => {}
        }
        std::mem::take(&mut self.errors).finish(())?;
        if self.exit.used {
            self.b.place_label(&self.exit.label.clone());
        }
        Ok(())
    }

    /// A block in a scope of its own.
    pub(super) fn block(&mut self, block: &Block) -> Result<Value> {
        self.lifetime(|this| {
            this.scopes.push(HashMap::new());
            let value = this.statements(&block.stmts);
            this.scopes.pop();
            value
        })
    }

    /// Runs `f`. At its end, its tensors in shared memory are free, except those in its value, and conditions on registers from `f` are
    /// forgotten.
    pub(super) fn lifetime(&mut self, f: impl FnOnce(&mut Self) -> Result<Value>) -> Result<Value> {
        let (start, mark) = (self.b.shared.now(), self.b.known.mark());
        let value = f(self);
        self.b.known.forget_block(mark);
        let value = value?;
        if self.b.shared.is_unchanged_since(start) {
            return Ok(value);
        }
        let mut held = Vec::new();
        let values = [&value].into_iter().chain(self.values_under_way());
        values.for_each(|it| it.for_each_tensor(&mut |tensor| held.push(tensor.base)));
        self.b.shared.free_since(start, &held);
        Ok(value)
    }

    /// Runs statements and returns the value of the last. After an error in a statement, the following ones are still checked.
    pub(super) fn statements(&mut self, stmts: &[Stmt]) -> Result<Value> {
        let mut last = Value::Unit;
        let loops = self.loops.len();
        let block = self.b.inference.position.advance();
        for (i, stmt) in stmts.iter().enumerate() {
            if self.dead {
                stmts[i..].iter().for_each(|stmt| self.leave_out(stmt));
                break;
            }
            let around = std::mem::replace(&mut self.b.inference.position, block.statement(i));
            let value = self.commented(stmt);
            self.b.inference.position = around;
            match value {
                Ok(value) => last = value,
                // The block has no value now, so the enclosing code has an error.
                Err(error) if self.hopeless || (i + 1 == stmts.len() && gives_value(stmt)) => {
                    return Err(error);
                }
                Err(error) => {
                    self.record(error);
                    self.dead = false;
                    self.loops.truncate(loops);
                    if let Stmt::Local(local) = stmt {
                        self.define_as_wrong(&local.pat);
                    }
                }
            }
        }
        Ok(last)
    }

    /// Runs a statement. If it emits instructions, a comment with its text precedes them, and they have its place in the source.
    fn commented(&mut self, stmt: &Stmt) -> Result<Value> {
        let Some(span) = text::start(stmt) else {
            return self.statement(stmt);
        };
        let start = self.length()?;
        // The text is made only if it is needed: most statements are computed and emit nothing.
        self.b.comment("");
        let first = self.length()?;
        let around = self.b.sites.set_source(self.source.location(span));
        let value = self.statement(stmt);
        self.b.sites.set_source(around);
        let value = value?;
        match self.length()? == first {
            true => drop(self.b.split_off(start)),
            false => self.b.set_comment(start, text::statement(stmt)),
        }
        Ok(value)
    }

    fn statement(&mut self, stmt: &Stmt) -> Result<Value> {
        let value = form::statement(stmt, &mut *self)?;
        Ok(match gives_value(stmt) {
            true => value,
            false => Value::Unit,
        })
    }

    /// Runs a `let`, which has no value.
    pub(super) fn local(&mut self, local: &Local) -> Result<Value> {
        let init = initialiser(local)?;
        let start = self.length()?;
        let mut value = self.eval(&init.expr)?;
        if self.dead {
            return Ok(Value::Unit);
        }
        self.rename(&local.pat, &init.expr, &mut value);
        let Some((keyword, other)) = &init.diverge else {
            self.bind(&local.pat, value, start)?;
            return Ok(Value::Unit);
        };
        let value = self.keep(value);
        self.unless_matched(&local.pat, &value, other, keyword.span)?;
        if !self.dead {
            self.bind(&local.pat, value, usize::MAX)?;
        }
        Ok(Value::Unit)
    }

    /// A `let` gives another name to fragments that an expression names and does not make.
    fn rename(&mut self, pat: &Pat, expr: &Expr, value: &mut Value) {
        let expr = bare(expr);
        match (expr, value) {
            (Expr::Tuple(expr), Value::Tuple(values)) => {
                for (index, (expr, value)) in expr.elems.iter().zip(values).enumerate() {
                    let part = match pat {
                        Pat::Tuple(pat) => pat.elems.get(index),
                        _ => None,
                    };
                    self.rename(part.unwrap_or(pat), expr, value);
                }
            }
            (Expr::Array(expr), Value::Array(values)) => {
                let pairs = expr.elems.iter().zip(values);
                pairs.for_each(|(expr, value)| self.rename(pat, expr, value));
            }
            (Expr::Path(_) | Expr::Field(_) | Expr::Index(_), value) => {
                value.for_each_fragment_mut(&mut |fragment| {
                    let name = text::shorten(pat.to_token_stream());
                    let of = text::shorten(expr.to_token_stream());
                    self.b
                        .renamed
                        .rename(fragment.registers.iter_mut(), &name, &of);
                });
            }
            _ => {}
        }
    }

    /// Runs the `else` of a `let`, which leaves the enclosing code, where the pattern does not match.
    fn unless_matched(&mut self, pat: &Pat, value: &Value, other: &Expr, at: Span) -> Result<()> {
        let diverge = |this: &mut Self| {
            this.eval(other)?;
            match this.dead {
                true => Ok(Value::Unit),
                false => Err(Error::new(
                    at,
                    "the block of a `let … else` does not end: its last statement is a `return`, a `break` or a `continue`",
                )),
            }
        };
        match self.test(pat, value)? {
            Truth::Known(true) => self.leave_out(other),
            Truth::Known(false) => _ = diverge(self)?,
            Truth::Predicate(predicate) => {
                let predicate = self.b.snapshot(&predicate);
                let fork = self.b.sites.fork("let", pat.span());
                self.choose(&predicate, at, |_| Ok(Value::Unit), diverge)?;
                self.b.sites.join(&fork, &predicate);
            }
        }
        Ok(())
    }

    /// Runs `f`. Returns its value, its lines, which are removed, and whether no thread reaches their end. Assumptions in `f` are
    /// forgotten, since not every thread may run the lines.
    pub(super) fn capture<T>(
        &mut self,
        f: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<(T, Vec<Line>, bool)> {
        let start = self.length()?;
        let mark = self.b.known.mark();
        let value = f(self);
        self.b.known.forget(mark);
        let value = value?;
        let lines = self.b.split_off(start);
        Ok((value, lines, std::mem::take(&mut self.dead)))
    }
}

/// The value of a `let`, with the block of its `else`.
pub(super) fn initialiser(local: &Local) -> Result<&LocalInit> {
    local.init.as_ref().ok_or_else(|| {
        let message =
            "a variable takes its value where it is declared: `let x = if … { … } else { … };`";
        Error::new_spanned(local, message)
    })
}

/// Whether a statement at the end of a block gives the block its value.
fn gives_value(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Expr(_, semi) => semi.is_none(),
        Stmt::Macro(stmt) => stmt.semi_token.is_none(),
        _ => false,
    }
}
