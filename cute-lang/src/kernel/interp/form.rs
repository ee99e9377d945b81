//! The forms of expressions and statements of the language: how each is evaluated, and how the names in it are resolved.
//!
//! This is the only list of them. A form outside of it is an error in code that is evaluated and in code that is not.

use super::Interpreter;
use super::names::Resolver;
use crate::kernel::value::Value;
use quote::ToTokens;
use syn::{Error, Expr, Item, Result, Stmt};

/// What goes through expressions and statements.
pub(super) trait Walk {
    /// What it makes of one of them.
    type Of;

    /// One of a form of the language: the evaluation of it, and the resolution of its names.
    fn form(
        self,
        value: impl FnOnce(&mut Interpreter<'_>) -> Result<Value>,
        names: impl FnOnce(&mut Resolver<'_>),
    ) -> Self::Of;

    /// One outside of the language.
    fn outside(self, error: Error) -> Self::Of;
}

impl Walk for &mut Interpreter<'_> {
    type Of = Result<Value>;

    fn form(
        self,
        value: impl FnOnce(&mut Interpreter<'_>) -> Result<Value>,
        _: impl FnOnce(&mut Resolver<'_>),
    ) -> Result<Value> {
        value(self)
    }

    fn outside(self, error: Error) -> Result<Value> {
        Err(error)
    }
}

impl Walk for &mut Resolver<'_> {
    type Of = ();

    fn form(
        self,
        _: impl FnOnce(&mut Interpreter<'_>) -> Result<Value>,
        names: impl FnOnce(&mut Resolver<'_>),
    ) {
        names(self);
    }

    fn outside(self, error: Error) {
        self.error(error);
    }
}

pub(super) fn statement<W: Walk>(stmt: &Stmt, walk: W) -> W::Of {
    match stmt {
        Stmt::Local(local) => walk.form(|it| it.local(local), |it| it.local(local)),
        Stmt::Expr(expr, _) => walk.form(|it| it.eval(expr), |it| it.expr(expr)),
        Stmt::Macro(stmt) => {
            walk.form(|it| it.macro_call(&stmt.mac), |it| it.macro_call(&stmt.mac))
        }
        Stmt::Item(item) => walk.outside(item_in_function(item)),
    }
}

pub(super) fn expression<W: Walk>(expr: &Expr, walk: W) -> W::Of {
    match expr {
        Expr::Lit(e) => walk.form(|it| it.literal(&e.lit), |it| it.literal(&e.lit)),
        Expr::Path(e) => walk.form(|it| it.path(e), |it| it.path(&e.path)),
        Expr::Infer(_) => walk.form(|_| Ok(Value::Wild), |_| {}),
        Expr::Paren(e) => walk.form(|it| it.eval(&e.expr), |it| it.expr(&e.expr)),
        Expr::Group(e) => walk.form(|it| it.eval(&e.expr), |it| it.expr(&e.expr)),
        Expr::Tuple(e) => walk.form(|it| it.tuple(&e.elems), |it| it.exprs(&e.elems)),
        Expr::Array(e) => walk.form(|it| it.array(&e.elems), |it| it.exprs(&e.elems)),
        Expr::Repeat(e) => walk.form(|it| it.repeat(e), |it| it.exprs([&*e.expr, &*e.len])),
        Expr::Struct(e) => walk.form(|it| it.struct_literal(e), |it| it.struct_literal(e)),
        Expr::Unary(e) => walk.form(|it| it.unary(e), |it| it.expr(&e.expr)),
        Expr::Binary(e) => walk.form(
            |it| it.binary(&e.left, &e.op, &e.right),
            |it| it.exprs([&*e.left, &*e.right]),
        ),
        Expr::Assign(e) => walk.form(
            |it| it.assign(&e.left, &e.right),
            |it| it.exprs([&*e.left, &*e.right]),
        ),
        Expr::Cast(e) => walk.form(
            |it| it.cast(e),
            |it| {
                it.expr(&e.expr);
                it.ty(&e.ty);
            },
        ),
        Expr::Range(e) => walk.form(
            |it| it.range(e),
            |it| it.exprs(e.start.iter().chain(&e.end).map(|end| &**end)),
        ),
        Expr::Reference(e) => walk.form(|it| it.reference(e), |it| it.expr(&e.expr)),
        Expr::Field(e) => walk.form(|it| it.field_of(e), |it| it.expr(&e.base)),
        Expr::Index(e) => walk.form(|it| it.index(e), |it| it.exprs([&*e.expr, &*e.index])),
        Expr::Call(e) => walk.form(|it| it.call(e), |it| it.call(e)),
        Expr::MethodCall(e) => walk.form(|it| it.method_call(e), |it| it.method_call(e)),
        Expr::Closure(e) => walk.form(
            |it| it.closure(e),
            |it| {
                it.scoped(|it| {
                    e.inputs.iter().for_each(|input| it.bind(input));
                    it.expr(&e.body);
                });
            },
        ),
        Expr::Macro(e) => walk.form(|it| it.macro_call(&e.mac), |it| it.macro_call(&e.mac)),
        Expr::Block(e) => walk.form(|it| it.block_of(e), |it| it.block(&e.block)),
        // As the whole condition of an `if` or a `while`, it is evaluated there.
        Expr::Let(e) => walk.form(
            |it| it.condition(expr),
            |it| {
                it.expr(&e.expr);
                it.bind(&e.pat);
            },
        ),
        Expr::If(e) => walk.form(
            |it| it.if_else(e),
            |it| {
                it.scoped(|it| {
                    it.expr(&e.cond);
                    it.block(&e.then_branch);
                });
                it.exprs(e.else_branch.as_ref().map(|(_, other)| &**other));
            },
        ),
        Expr::Match(e) => walk.form(
            |it| it.match_expr(e),
            |it| {
                it.expr(&e.expr);
                for arm in &e.arms {
                    it.scoped(|it| {
                        it.bind(&arm.pat);
                        it.expr(&arm.body);
                    });
                }
            },
        ),
        Expr::ForLoop(e) => walk.form(
            |it| it.for_loop(e),
            |it| {
                let attributes = e.attrs.iter();
                attributes.for_each(|attribute| it.mention(attribute.to_token_stream()));
                it.expr(&e.expr);
                it.scoped(|it| {
                    it.bind(&e.pat);
                    it.block(&e.body);
                });
            },
        ),
        Expr::While(e) => walk.form(
            |it| it.repeated(|it| it.while_loop(e)),
            |it| {
                it.scoped(|it| {
                    it.expr(&e.cond);
                    it.block(&e.body);
                });
            },
        ),
        Expr::Loop(e) => walk.form(
            |it| it.repeated(|it| it.loop_loop(e)),
            |it| it.block(&e.body),
        ),
        Expr::Break(e) => walk.form(|it| it.break_from(e), |it| it.exprs(e.expr.as_deref())),
        Expr::Continue(e) => walk.form(|it| it.continue_from(e), |_| {}),
        Expr::Return(e) => walk.form(|it| it.return_from(e), |it| it.exprs(e.expr.as_deref())),
        other => walk.outside(unsupported(other)),
    }
}

/// The error of an expression outside of the language.
fn unsupported(expr: &Expr) -> Error {
    let what = match expr {
        Expr::Try(_) => "`?`: write `let Some(x) = … else { return None; };`",
        Expr::Unsafe(_) => "`unsafe` blocks: a kernel as a whole is an `unsafe fn`",
        Expr::Async(_) | Expr::Await(_) => "`async`: use barriers",
        _ => "such expressions",
    };
    Error::new_spanned(expr, format!("the kernel language has no {what}"))
}

/// The error of an item in a body.
fn item_in_function(item: &Item) -> Error {
    let message = "an item belongs into the kernel module, not into a function";
    Error::new_spanned(item, message)
}
