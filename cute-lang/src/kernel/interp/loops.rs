//! Loops and labelled blocks.

use super::jump::{JumpTarget, Kind};
use super::unroll::Unroll;
use crate::kernel::emit::builder::{unless, when};
use crate::kernel::emit::operation::Cmp;
use crate::kernel::interp::Interpreter;
use crate::kernel::ir::Operand;
use crate::kernel::syntax::text;
use crate::kernel::value::types::{instruction_type, is_signed};
use crate::kernel::value::{Num, NumberType, Truth, Value};
use cute_ptx::table::op;
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Block, Error, Expr, ExprForLoop, ExprLoop, ExprWhile, Label, Pat, Result};

/// The most iterations of an unrolled loop.
const MAX_UNROLL: i128 = 4096;

impl Interpreter<'_> {
    pub(super) fn for_loop(&mut self, expr: &ExprForLoop) -> Result<Value> {
        let unroll = Unroll::of(&expr.attrs)?;
        let over = self.eval(&expr.expr)?;
        let over = match over {
            Value::Range(..) | Value::Array(_) => self.keep(over),
            // The elements of `&mut array` are references.
            Value::Reference(over) => match *over {
                Value::Array(elements) => {
                    let elements = elements.into_iter();
                    let references = elements.map(|it| Value::Reference(Box::new(it)));
                    Value::Array(references.collect())
                }
                over => Value::Reference(Box::new(over)),
            },
            over => over,
        };
        match (over, unroll) {
            (Value::Range(start, end, ty), Unroll::By(copies, _)) => {
                self.repeated(|this| this.counted(expr, &start, &end, ty, copies))?;
            }
            (Value::Range(Num::Const(start), Num::Const(end), ty), _) => {
                let steps = end.saturating_sub(start);
                let indices = (start..end).map(|i| (i.to_string(), Value::Int(i, ty)));
                self.unrolled(expr, steps, indices)?;
            }
            (Value::Range(..), Unroll::Whole(span)) => {
                let message = "the bounds are known only at run time: write `#[unroll(N)]` for N copies of the body";
                return Err(Error::new(span, message));
            }
            (Value::Range(start, end, ty), Unroll::Default) => {
                self.repeated(|this| this.counted(expr, &start, &end, ty, 1))?;
            }
            (_, Unroll::By(_, span)) => {
                let message = "`#[unroll(N)]` is for a loop over a range: `for i in a..b`";
                return Err(Error::new(span, message));
            }
            (Value::Array(elements), _) => {
                let steps = elements.len() as i128;
                let elements = elements.into_iter().enumerate();
                let elements = elements.map(|(i, value)| (format!("[{i}]"), value));
                self.unrolled(expr, steps, elements)?;
            }
            (over @ (Value::Struct(_) | Value::Reference(_)), Unroll::Default) => {
                self.repeated(|this| this.iterated(expr, over))?;
            }
            (Value::Struct(_) | Value::Reference(_), Unroll::Whole(span)) => {
                let message = "how often an iterator gives a value is known only at run time";
                return Err(Error::new(span, message));
            }
            _ => {
                return Err(Error::new(
                    expr.expr.span(),
                    "a `for` loop runs over a range, an array or an iterator: `for i in a..b`",
                ));
            }
        }
        Ok(Value::Unit)
    }

    /// Runs `f` for the code of a loop.
    pub(super) fn repeated<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> T {
        self.b.renamed.enter_loop();
        let result = f(self);
        self.b.renamed.leave_loop();
        result
    }

    /// A loop with known steps. Its body is emitted once for each.
    fn unrolled(
        &mut self,
        expr: &ExprForLoop,
        steps: i128,
        values: impl Iterator<Item = (String, Value)>,
    ) -> Result<()> {
        if steps > MAX_UNROLL {
            let message = format!(
                "a loop of known bounds is unrolled: this one has {steps} steps, and the limit is {MAX_UNROLL}; `#[unroll(1)]` before it keeps it a loop"
            );
            return Err(Error::new(expr.expr.span(), message));
        }
        if steps <= 0 {
            self.leave_out(&expr.body);
        }
        let on_break = self.target("for_break");
        self.enter(Kind::Bounded, expr.label.as_ref(), on_break);
        let name = text::shorten(expr.pat.to_token_stream());
        let errors = self.errors.len();
        for (text, value) in values {
            self.work(1, expr.for_token.span)?;
            let on_continue = self.target("for_continue");
            self.current().on_continue = on_continue;
            let before = self.length()?;
            if !matches!(*expr.pat, Pat::Wild(_)) {
                self.b.comment(format!("{name} = {text}"));
            }
            let first = self.length()?;
            let ended = self.iteration(&expr.pat, value, &expr.body);
            ended.map_err(|error| self.unrolled_too_often(expr, steps, error))?;
            self.next_iteration();
            if self.length()? == first {
                self.b.split_off(before);
            }
            if self.dead || self.errors.len() > errors {
                break;
            }
        }
        self.leave(Value::Unit)?;
        Ok(())
    }

    /// An error that ends the interpretation in an unrolled loop, with a remedy if it is a limit.
    fn unrolled_too_often(&self, expr: &ExprForLoop, steps: i128, mut error: Error) -> Error {
        // The innermost loop has been named, if there are two messages.
        if self.is_beyond_limit() && error.clone().into_iter().count() == 1 {
            let message = format!(
                "this loop is unrolled, and has {steps} steps: `#[unroll(1)]` before it keeps it a loop"
            );
            error.combine(Error::new(expr.for_token.span, message));
        }
        error
    }

    /// A loop that counts in a register, with this number of copies of its body. It tests the bound once before the first iteration, and
    /// then at the end of each, except where known bounds make a test unnecessary.
    fn counted(
        &mut self,
        expr: &ExprForLoop,
        start: &Num,
        end: &Num,
        number: NumberType,
        copies: u32,
    ) -> Result<()> {
        self.b.set_place(expr.expr.span());
        let fork = self.b.sites.fork("for", expr.expr.span());
        let mut decide = Vec::new();
        let ty = self.b.inference.register_type(number);
        let steps = match (start.constant(), end.constant()) {
            (Some(start), Some(end)) => Some(end.saturating_sub(start)),
            _ => None,
        };
        let enters = self.b.compare(Cmp::Lt, start, end)?;
        if enters == Value::Bool(false) {
            self.leave_out(&expr.body);
            return Ok(());
        }
        for bound in [start, end] {
            if let Num::Const(bound) = bound {
                self.b.check_fits(*bound, ty)?;
            }
        }
        let name = match &*expr.pat {
            Pat::Ident(pat) => pat.ident.to_string(),
            _ => "i".into(),
        };
        let counter = self.b.named_register(ty, &name);
        let counter = self.b.inference.of_type(counter, number);
        if !is_signed(ty) {
            // Nothing can name it after the last iteration.
            self.b.known.always(&counter, Cmp::Lt, end);
            self.b.known.always(&counter, Cmp::Ge, start);
        }
        let head = self.b.label("for");
        let mut on_break = self.target("for_end");
        if let Value::Scalar(enters) = enters {
            on_break.used = true;
            self.b.branch_if(unless(&enters), &on_break.label);
            decide.push(enters);
        }
        self.b.assign(&counter, start.operand());
        self.b.place_label(&head);
        self.enter(Kind::Bounded, expr.label.as_ref(), on_break);
        let is_whole = steps.is_some_and(|steps| steps % i128::from(copies) == 0);
        for left in (0..copies).rev() {
            let on_continue = self.target("for_next");
            self.current().on_continue = on_continue;
            self.iteration(&expr.pat, Value::Scalar(counter.clone()), &expr.body)?;
            self.next_iteration();
            if self.dead {
                break;
            }
            let step = [counter.operand(), counter.operand(), Operand::Int(1)];
            self.b.emit(op::Add, instruction_type(ty), step);
            if left > 0 && is_whole {
                continue;
            }
            let at = counter.clone().into();
            let again = self.b.set_predicate(Cmp::Lt, ty, &at, end);
            if left == 0 {
                self.b.branch_if(when(&again), &head);
            } else {
                let on_break = &mut self.current().on_break;
                on_break.used = true;
                let label = on_break.label.clone();
                self.b.branch_if(unless(&again), &label);
            }
            decide.push(again);
        }
        self.leave(Value::Unit)?;
        decide.iter().for_each(|it| self.b.sites.join(&fork, it));
        Ok(())
    }

    pub(super) fn while_loop(&mut self, expr: &ExprWhile) -> Result<Value> {
        let head = self.b.label("while");
        let fork = self.b.sites.fork("while", expr.cond.span());
        let mut on_break = self.target("while_end");
        let start = self.length()?;
        self.b.place_label(&head);
        let matched = match &*expr.cond {
            Expr::Let(condition) => {
                let value = self.eval(&condition.expr)?;
                Some((&*condition.pat, self.keep(value)))
            }
            _ => None,
        };
        let truth = match &matched {
            Some((pat, value)) => self.test(pat, value)?,
            None => {
                let value = self.condition(&expr.cond)?;
                self.truth(&value)?
            }
        };
        match &truth {
            Truth::Known(false) => {
                // There is no loop, but the condition may have effects.
                let condition = self.b.split_off(start + 1);
                self.b.split_off(start);
                self.b.append(condition);
                self.leave_out(&expr.body);
                return Ok(Value::Unit);
            }
            Truth::Predicate(predicate) => {
                on_break.used = true;
                self.b.branch_if(unless(predicate), &on_break.label);
            }
            Truth::Known(true) => {}
        }
        let label = expr.label.as_ref();
        let value = match matched {
            Some((pat, value)) => self.scoped(pat, &value, |this| {
                this.endless(Kind::Bounded, label, &expr.body, head, on_break)
            }),
            None => self.endless(Kind::Bounded, label, &expr.body, head, on_break),
        };
        if let Truth::Predicate(predicate) = &truth {
            self.b.sites.join(&fork, predicate);
        }
        value
    }

    pub(super) fn loop_loop(&mut self, expr: &ExprLoop) -> Result<Value> {
        let head = self.b.label("loop");
        let on_break = self.target("loop_end");
        self.b.place_label(&head);
        self.endless(Kind::Loop, expr.label.as_ref(), &expr.body, head, on_break)
    }

    /// The body of a loop after its head, and the jump back to the head.
    pub(super) fn endless(
        &mut self,
        kind: Kind,
        label: Option<&Label>,
        body: &Block,
        head: String,
        on_break: JumpTarget,
    ) -> Result<Value> {
        self.enter(kind, label, on_break);
        self.current().on_continue = JumpTarget::to(head.clone());
        self.block(body)?;
        if !self.dead {
            self.b.branch(&head);
        }
        self.dead = true;
        self.leave(Value::Unit)
    }

    /// A block that a `break` with its label can leave, with the value of the block.
    pub(super) fn labelled_block(&mut self, label: &Label, block: &Block) -> Result<Value> {
        let on_break = self.target("block_end");
        self.enter(Kind::Block, Some(label), on_break);
        let value = self.block(block)?;
        self.leave(value)
    }

    pub(super) fn iteration(&mut self, pat: &Pat, index: Value, body: &Block) -> Result<()> {
        self.scopes.push(Default::default());
        let result = self
            .bind(pat, index, usize::MAX)
            .and_then(|()| self.block(body));
        self.scopes.pop();
        result.map(drop)
    }
}
